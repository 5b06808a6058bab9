#include "server/health.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace apiserver::inline v0::server {

namespace {

http::Step Text(http::Exchange& exchange, int code, std::string text) {
  exchange.writer().Send({.code = code,
                          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                                      {"X-Content-Type-Options", "nosniff"}}},
                         http::Bytes(std::move(text)));
  return http::Step::Done();
}

std::string QuotedList(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    if (!list.empty()) list += ",";
    list += field::Quote(name);
  }
  return list;
}

}  // namespace

Health::Health(std::string name, LogSink& log, metrics::Registry* slis)
    : name_(std::move(name)), log_(log) {
  *checks_.Lock() = std::make_shared<const Checks>(Checks{{"ping", [] { return Status(); }, ""}});
  if (slis == nullptr) return;
  result_ = &slis->Gauges({.name = "kubernetes_healthcheck",
                           .help = "[STABLE] This metric records the result of a single "
                                   "healthcheck.",
                           .labels = {"name", "type"}});
  results_ = &slis->Counters({.name = "kubernetes_healthchecks_total",
                              .help = "[STABLE] This metric records the results of all "
                                      "healthcheck.",
                              .labels = {"name", "type", "status"}});
}

void Health::Observe(const Check& check, bool passed) const {
  if (result_ == nullptr) return;
  result_->With({check.name, name_}).Set(passed ? 1 : 0);
  results_->With({check.name, name_, passed ? "success" : "error"}).Add();
}

Status Health::Add(std::string check_name, std::function<Status()> check, std::string group) {
  auto checks = checks_.Lock();
  for (const Check& existing : **checks) {
    if (existing.name == check_name) {
      return {Reason::kConflict, "there is a health check " + check_name + " already"};
    }
  }
  auto next = std::make_shared<Checks>(**checks);
  next->push_back({std::move(check_name), std::move(check), std::move(group)});
  *checks = std::move(next);
  return {};
}

Status Health::Run(const Check& check) {
  try {
    return check.run();
  } catch (const std::exception& bug) {
    return {Reason::kInternalError, std::string("exception: ") + bug.what()};
  }
}

bool Health::Passes() const {
  const std::shared_ptr<const Checks> checks = Snapshot();
  return std::all_of(checks->begin(), checks->end(),
                     [](const Check& check) { return Run(check).ok(); });
}

std::vector<std::string> Health::CheckNames() const {
  std::vector<std::string> names;
  const auto checks = Snapshot();
  for (const Check& check : *checks) names.push_back(check.name);
  return names;
}

std::optional<http::Step> Health::Serve(http::Exchange& exchange) const {
  const std::string_view path = exchange.request().path;
  const std::size_t prefix = name_.size() + 1;  // "/healthz"
  if (path.size() <= prefix) return All(exchange);
  return One(exchange, path.substr(prefix + 1));
}

http::Step Health::All(http::Exchange& exchange) const {
  const std::vector<std::string_view> exclude = exchange.query().GetAll("exclude");
  std::vector<std::string> unknown(exclude.begin(), exclude.end());
  std::string lines;
  std::string failed;
  const auto checks = Snapshot();
  for (const Check& check : *checks) {
    const auto excluded = [&](const std::string& name) {
      return std::find(exclude.begin(), exclude.end(), name) != exclude.end();
    };
    if (excluded(check.name)) {
      std::erase(unknown, check.name);
      lines += "[+]" + check.name + " excluded: ok\n";
      continue;
    }
    if (!check.group.empty() && excluded(check.group)) {
      std::erase(unknown, check.group);
      lines += "[+]" + check.name + " excluded with " + check.group + ": ok\n";
      continue;
    }
    const Status status = Run(check);
    Observe(check, status.ok());
    if (status.ok()) {
      lines += "[+]" + check.name + " ok\n";
      continue;
    }
    // Why is for the log: whoever asks may not be meant to know.
    lines += "[-]" + check.name + " failed: reason withheld\n";
    if (!failed.empty()) failed += ",";
    failed += check.name;
    Log(log_, LogLevel::kWarning, name_ + " check failed",
        {{"check", check.name}, {"error", status.ToString()}});
  }
  std::sort(unknown.begin(), unknown.end());
  unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
  if (!unknown.empty()) {
    lines +=
        "warn: some health checks cannot be excluded: no matches for " + QuotedList(unknown) + "\n";
  }
  if (!failed.empty()) return Text(exchange, 500, lines + name_ + " check failed\n");
  if (passed_) passed_();
  if (!exchange.query().Has("verbose")) return Text(exchange, 200, "ok");
  return Text(exchange, 200, lines + name_ + " check passed\n");
}

std::optional<http::Step> Health::One(http::Exchange& exchange, std::string_view check_name) const {
  const auto checks = Snapshot();
  for (const Check& check : *checks) {
    if (check.name != check_name) continue;
    const Status status = Run(check);
    if (status.ok()) return Text(exchange, 200, "ok");
    return Text(exchange, 500, "internal server error: " + std::string(status.message()) + "\n");
  }
  return std::nullopt;
}

}  // namespace apiserver::inline v0::server
