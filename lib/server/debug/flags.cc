#include "server/debug/flags.h"

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/field_path.h"
#include "base/status_macros.h"

namespace apiserver::v0::server::debug {

namespace {

// The page that upstream prints for its one flag, byte for byte.
constexpr char kFlagsPage[] =
    "<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\n"
    "flags:<br>\n<table>\n<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n"
    "</html>\n";

http::Step FlagsIndex(http::Exchange& exchange) {
  exchange.writer().Send({.headers = {{"Content-Type", "text/html; charset=utf-8"}}},
                         http::Bytes(std::string(kFlagsPage)));
  return http::Step::Done();
}

http::Step PlainText(http::Exchange& exchange, int code, const std::string& text) {
  exchange.writer().Send(
      {.code = code,
       .headers = {{"Content-Type", "text/plain"}, {"X-Content-Type-Options", "nosniff"}}},
      http::Bytes(text + "\n"));
  return http::Step::Done();
}

Status WrongNumber(const char* function, std::string_view text, const char* why) {
  return {Reason::kBadRequest,
          std::string("strconv.") + function + ": parsing " + field::Quote(text) + ": " + why};
}

// Parses as logs.GlogSetter does: a text that strconv.ParseUint(text, 10, 32) takes, if klog's
// int32 holds it.
Result<std::uint32_t> ParseVerbosity(std::string_view text) {
  std::uint64_t number = 0;
  if (text.empty()) return WrongNumber("ParseUint", text, "invalid syntax");
  for (const char c : text) {
    if (c < '0' || c > '9') return WrongNumber("ParseUint", text, "invalid syntax");
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
    if (number > std::numeric_limits<std::uint32_t>::max()) {
      return WrongNumber("ParseUint", text, "value out of range");
    }
  }
  if (number > std::numeric_limits<std::int32_t>::max()) {
    const Status why = WrongNumber("ParseInt", text, "value out of range");
    return Status(Reason::kBadRequest, "failed set klog.logging.verbosity " + std::string(text) +
                                           ": " + std::string(why.message()));
  }
  return static_cast<std::uint32_t>(number);
}

http::Step PutVerbosity(http::Exchange& exchange,
                        const std::function<Status(std::uint32_t)>& set_verbosity) {
  if (exchange.request().method != "PUT") {
    return PlainText(exchange, 406, "unsupported http method");
  }
  const std::shared_ptr<const std::string> body = exchange.body();
  const std::string text = body ? *body : std::string();
  const auto verbosity = ParseVerbosity(text);
  const Status status = verbosity.ok() ? set_verbosity(*verbosity) : verbosity.status();
  if (!status.ok()) return PlainText(exchange, 400, std::string(status.message()));
  return PlainText(exchange, 200, "successfully set klog.logging.verbosity to " + text);
}

}  // namespace

Status InstallFlags(const Place& place, std::function<Status(std::uint32_t)> set_verbosity) {
  RETURN_IF_ERROR(place("/debug/flags", &FlagsIndex, /*reads_body=*/false));
  RETURN_IF_ERROR(place("/debug/flags/", &FlagsIndex, /*reads_body=*/false));
  const auto put = [set_verbosity = std::move(set_verbosity)](http::Exchange& exchange) {
    return PutVerbosity(exchange, set_verbosity);
  };
  return place("/debug/flags/v", put, /*reads_body=*/true);
}

}  // namespace apiserver::v0::server::debug
