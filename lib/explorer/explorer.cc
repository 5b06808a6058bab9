#include "apiserver/explorer/explorer.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "explorer/files.h"

namespace apiserver::v0::explorer {

namespace {

constexpr std::string_view kIndex = "index.html";

// Scripts, styles and requests are the server's own, nothing is inline, and with Trusted Types no
// text becomes an element: a name in an object cannot run in the browser of its reader.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

constexpr std::pair<std::string_view, std::string_view> kMediaTypes[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
};

std::string_view MediaTypeOf(std::string_view name) {
  for (const auto& [ending, type] : kMediaTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

// Cuts the text up to `separator` off `rest`, and returns it without spaces around it.
std::string_view TakeItem(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  std::string_view item = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  const std::size_t begin = std::min(item.find_first_not_of(" \t"), item.size());
  item.remove_prefix(begin);
  return item.substr(0, item.find_last_not_of(" \t") + 1);
}

// Returns whether a list of encodings has gzip with a weight above zero (RFC 9110, 12.5.3).
bool AcceptsGzip(std::string_view encodings) {
  while (!encodings.empty()) {
    std::string_view parameters = TakeItem(encodings, ',');
    if (!http::EqualIgnoreCase(TakeItem(parameters, ';'), "gzip")) continue;
    return parameters.find_first_of("123456789") != std::string_view::npos ||
           parameters.find('=') == std::string_view::npos;
  }
  return false;
}

// Returns whether a list of entity tags has `etag`, weak ones included (RFC 9110, 13.1.2).
bool Matches(std::string_view if_none_match, std::string_view etag) {
  while (!if_none_match.empty()) {
    std::string_view tag = TakeItem(if_none_match, ',');
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == etag || tag == "*") return true;
  }
  return false;
}

http::Headers HeadersOf(const File& file, bool gzip, const std::string& etag) {
  http::Headers headers{
      {"Content-Type", std::string(MediaTypeOf(file.name))},
      {"ETag", etag},
      // A new version of the server brings a new page: the browser asks each time.
      {"Cache-Control", "no-cache"},
      {"Vary", "Accept-Encoding"},
      {"Content-Security-Policy", std::string(kPolicy)},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"}};
  if (gzip) headers.Add("Content-Encoding", "gzip");
  return headers;
}

http::Step Serve(http::Exchange& exchange, std::string_view name) {
  const File* file = FindFile(name.empty() ? kIndex : name);
  if (!file) return meta::NewGenericServerResponse(404, "", {}, "");
  const http::Headers& asked = exchange.request().headers;
  const bool gzip = AcceptsGzip(asked.Get("Accept-Encoding"));
  // The two forms differ in their bytes, and therefore in their tags.
  const std::string etag = "\"" + std::string(file->hash) + (gzip ? "-gz\"" : "\"");
  http::Headers headers = HeadersOf(*file, gzip, etag);
  if (Matches(asked.Get("If-None-Match"), etag)) {
    headers.Remove("Content-Type");
    headers.Remove("Content-Encoding");
    exchange.writer().Send({.code = 304, .headers = std::move(headers)}, {});
    return http::Step::Done();
  }
  // The files are constants of the program, so that nothing needs to own them.
  exchange.writer().Send({.code = 200, .headers = std::move(headers)},
                         http::Bytes(nullptr, gzip ? file->gzip : file->plain));
  return http::Step::Done();
}

}  // namespace

Status Install(server::GenericAPIServer& server, const Options& options) {
  const std::string& path = options.path;
  if (path.size() < 2 || path.front() != '/' || path.back() != '/') {
    return {Reason::kInvalid, "the Explorer's path begins and ends with '/': \"" + path + "\""};
  }
  RETURN_IF_ERROR(server.HandlePublicPath(
      path,
      [prefix = path.size()](http::Exchange& exchange) {
        return Serve(exchange, std::string_view(exchange.request().path).substr(prefix));
      },
      /*listed=*/true));
  return server.HandlePublicPath(
      path.substr(0, path.size() - 1),
      [path](http::Exchange& exchange) {
        exchange.writer().Send({.code = 301, .headers = {{"Location", path}}}, {});
        return http::Step::Done();
      },
      /*listed=*/false);
}

}  // namespace apiserver::v0::explorer
