#include "server/requests/access_log.h"

#include <memory>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/request/request_info.h"
#include "apiserver/runtime/time.h"
#include "server/filters/filters.h"
#include "server/requests/redact.h"

namespace apiserver::v0::server {

namespace {

constexpr LogLevel kAccessLevel = LogLevel::kDebug;
// Limits the logged id, which the client chooses.
constexpr std::size_t kAuditIdMax = 64;

struct LoggedField {
  std::string key;
  std::string value;
};
// The line of one request, while it is collected.
struct AccessLine {
  Clock::Monotonic start;
  Guarded<std::vector<LoggedField>> more;
};
using AccessLinePtr = std::shared_ptr<AccessLine>;

// Returns the verb as metrics.CanonicalVerb and CleanVerb do: "LIST" and "WATCH" differ from "GET",
// "APPLY" from "PATCH".
std::string LoggedVerb(const http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  const auto* info = exchange.Find<request::RequestInfo>();
  if (!info || !info->is_resource_request) return request.method;
  if (info->verb == "list") return "LIST";
  if (info->verb == "watch") return "WATCH";
  const std::string_view type = request.headers.Get("Content-Type");
  if (info->verb == "patch" && type.starts_with("application/apply-patch")) return "APPLY";
  return request.method;
}

class AccessLog final : public http::Filter {
 public:
  AccessLog(const Clock& clock, LogSink& log) : clock_(clock), log_(log) {}

  std::string_view name() const override { return "access-log"; }

  http::Step Begin(http::Exchange& exchange) const override {
    if (log_.Enabled(kAccessLevel)) {
      auto line = std::make_shared<AccessLine>();
      line->start = clock_.Now();
      exchange.Set(std::move(line));
    }
    return http::Step::Next();
  }

  void End(http::Exchange& exchange, const http::Outcome& outcome) const override {
    const AccessLinePtr* const line = exchange.Find<AccessLinePtr>();
    if (!line) return;
    const http::Request& request = exchange.request();
    const AuditId* const id = exchange.Find<AuditId>();
    const auto latency = clock_.Now() - (*line)->start;
    std::vector<LogField> fields = {{"verb", LoggedVerb(exchange)},
                                    {"URI", RedactedTarget(request.target)},
                                    {"latency", runtime::FormatDuration(latency)},
                                    {"userAgent", std::string(request.headers.Get("User-Agent"))},
                                    {"audit-ID", id ? id->value.substr(0, kAuditIdMax) : ""},
                                    {"srcIP", request.remote_address}};
    const auto more = (*line)->more.Lock();
    for (const LoggedField& field : *more) fields.push_back({field.key, field.value});
    fields.push_back({"resp", std::to_string(outcome.code)});
    if (!outcome.error.ok()) fields.push_back({"err", std::string(outcome.error.message())});
    log_.Write(kAccessLevel, "HTTP", fields);
  }

 private:
  const Clock& clock_;
  LogSink& log_;
};

}  // namespace

void AddKeyValue(const Context& ctx, std::string_view key, std::string value) {
  const AccessLinePtr* const line = ctx.Get<AccessLinePtr>();
  if (!line) return;
  (*line)->more.Lock()->push_back({std::string(key), std::move(value)});
}

FilterPtr NewAccessLog(const Clock& clock, LogSink& log) {
  return std::make_unique<AccessLog>(clock, log);
}

}  // namespace apiserver::v0::server
