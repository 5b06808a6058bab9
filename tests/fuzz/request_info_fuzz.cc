#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/http/message.h"
#include "apiserver/request/request_info.h"
#include "require.h"

// "METHOD path?query", as a request line has it: every one is understood or refused, and what is
// understood hangs together.
namespace {

using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const std::size_t space = line.find(' ');
  const std::string_view method = line.substr(0, space);
  const std::string_view url =
      space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
  const std::size_t mark = url.find('?');
  const auto path = apiserver::http::PercentDecode(url.substr(0, mark));
  if (!path) return 0;
  const auto query = apiserver::http::Query::Parse(
      mark == std::string_view::npos ? std::string_view() : url.substr(mark + 1));

  const auto info = apiserver::request::ResolveRequestInfo(method, *path, query);

  if (!info.ok()) return 0;
  Require(info->path == *path);
  Require(info->is_resource_request == !info->parts.empty());
  if (!info->is_resource_request) return 0;
  Require(info->api_prefix == "api" || info->api_prefix == "apis");
  Require(info->resource == info->parts.front());
  Require(info->verb != "get" || !info->name.empty());
  return 0;
}
