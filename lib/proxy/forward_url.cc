#include "proxy/forward_url.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "text/go_path.h"
#include "text/percent.h"

namespace apiserver::v0::proxy {
namespace {

// Joins two paths with one slash. Follows singleJoiningSlash.
std::string JoinWithSlash(std::string_view first, std::string_view second) {
  const bool ends = first.ends_with('/');
  const bool begins = second.starts_with('/');
  std::string joined(first);
  if (ends && begins) return joined.append(second.substr(1));
  if (!ends && !begins) joined += '/';
  return joined.append(second);
}

// Returns path and query as http.Request.Write sends them.
std::string TargetOf(const std::string& escaped_path, const text::GoUrl& url) {
  std::string target = escaped_path.empty() ? "/" : escaped_path;
  if (url.force_query || !url.raw_query.empty()) target.append("?").append(url.raw_query);
  return target;
}

// Follows Go's url.QueryEscape.
std::string QueryEscape(std::string_view text) {
  std::string escaped;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    escaped += text::PercentEncode(text.substr(at, space - at));
    if (space < text.size()) escaped += '+';
    at = space + 1;
  }
  return escaped;
}

}  // namespace

std::string EncodeQuery(std::string_view raw_query) {
  const http::Query query = http::Query::Parse(raw_query);
  std::vector<const std::pair<std::string, std::string>*> sorted;
  sorted.reserve(query.all().size());
  for (const auto& pair : query.all()) sorted.push_back(&pair);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->first < b->first; });
  std::string encoded;
  for (const auto* pair : sorted) {
    if (!encoded.empty()) encoded += '&';
    encoded.append(QueryEscape(pair->first)).append("=").append(QueryEscape(pair->second));
  }
  return encoded;
}

text::GoUrl RequestUrl(const http::Request& request) {
  text::GoUrl url{.path = request.path, .raw_query = request.query};
  const std::string_view target = request.target;
  if (!target.starts_with('/')) return url;
  const std::string_view written = target.substr(0, target.find('?'));
  if (url.EscapedPath() != written) url.raw_path = written;
  url.force_query = request.query.empty() && target.ends_with('?');
  return url;
}

text::GoUrl LocationUrl(const Location& location) {
  return {.scheme = location.scheme.empty() ? "http" : location.scheme,
          .host = location.host,
          .path = location.path,
          .raw_query = location.raw_query};
}

text::GoUrl PlainUrl(const Location& location, const text::GoUrl& asked) {
  text::GoUrl url = LocationUrl(location);
  url.raw_query = asked.raw_query;
  if (!url.path.ends_with('/') && asked.path.ends_with('/')) url.path += '/';
  return url;
}

std::optional<std::string> RootRedirect(const text::GoUrl& plain, const text::GoUrl& asked,
                                        std::string_view method) {
  if (!plain.path.empty() || (method != "GET" && method != "HEAD")) return std::nullopt;
  // Escaped, so that it cannot end the header. Two slashes in front would name another host.
  const std::size_t begin = std::min(asked.path.find_first_not_of('/'), asked.path.size());
  const text::GoUrl slashed{.path = (begin == 0 ? "" : "/") + asked.path.substr(begin) + "/",
                            .raw_query = asked.raw_query};
  return slashed.String();
}

std::string PlainTarget(const Location& location, const text::GoUrl& asked, const UrlRules& rules) {
  const text::GoUrl url = rules.use_request_location ? asked : PlainUrl(location, asked);
  const std::string base = rules.append_location_path ? LocationUrl(location).EscapedPath() : "";
  return TargetOf(JoinWithSlash(base, url.EscapedPath()), url);
}

std::string UpgradeTarget(const Location& location, const text::GoUrl& asked,
                          const UrlRules& rules) {
  const text::GoUrl at = LocationUrl(location);
  if (!rules.use_request_location) return TargetOf(at.EscapedPath(), at);
  if (!rules.append_location_path) return TargetOf(asked.EscapedPath(), asked);
  return TargetOf(JoinWithSlash(at.EscapedPath(), asked.EscapedPath()), asked);
}

std::string PathPrefix(const Location& location, const text::GoUrl& asked) {
  std::string suffix = location.path;
  if (asked.path.ends_with('/') && !suffix.ends_with('/')) suffix += '/';
  std::string prefix = asked.path;
  if (prefix.ends_with(suffix)) prefix.resize(prefix.size() - suffix.size());
  return prefix;
}

ForwardedUrl ForwardedUrlOf(const text::GoUrl& plain, const text::GoUrl& asked,
                            const std::string& prefix) {
  std::string uri = text::JoinPath(prefix, plain.EscapedPath());
  // Go appends a second slash to "/" as well.
  if (plain.path.ends_with('/')) uri += '/';
  return {.uri = std::move(uri), .host = asked.host, .proto = asked.scheme};
}

}  // namespace apiserver::v0::proxy
