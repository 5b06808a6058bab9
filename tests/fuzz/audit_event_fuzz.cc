#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/audit/event.h"
#include "apiserver/codec/json.h"
#include "apiserver/runtime/arena.h"
#include "require.h"
#include "server/requests/redact.h"
#include "server/requests/source_ips.h"
#include "text/ip.h"

// Lines of a request: target, X-Forwarded-For, X-Real-Ip, User-Agent. Whatever they are, the event
// is one line of valid JSON, and one of text, without control bytes.
namespace {

using apiserver_fuzz::Require;

std::string TakeLine(std::string_view& rest) {
  const std::string line(rest.substr(0, rest.find('\n')));
  rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
  return line;
}

void RequireOneLine(std::string_view text) {
  for (const char c : text) Require(static_cast<unsigned char>(c) >= 0x20);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  apiserver::audit::Event event;
  event.request_uri = apiserver::server::RedactedTarget(TakeLine(rest));
  Require(apiserver::server::RedactedTarget(event.request_uri) == event.request_uri);

  apiserver::http::Request request;
  request.headers.Add("X-Forwarded-For", TakeLine(rest));
  request.headers.Add("X-Real-Ip", TakeLine(rest));
  event.source_ips = apiserver::server::SourceIPs(request);
  for (const std::string& ip : event.source_ips) {
    Require(apiserver::text::CanonicalIP(ip) == ip);
  }
  event.user_agent = std::string(rest);

  std::string json;
  apiserver::audit::AppendEventJson(event, json);
  RequireOneLine(json);
  apiserver::runtime::Arena arena;
  Require(apiserver::codec::ParseJson(json, arena).ok());
  RequireOneLine(apiserver::audit::EventString(event));
  return 0;
}
