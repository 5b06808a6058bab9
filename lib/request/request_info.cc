#include "apiserver/request/request_info.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "apiserver/meta/options.h"
#include "apiserver/meta/selector.h"
#include "apiserver/meta/validation.h"
#include "request/verbs.h"

namespace apiserver::v0::request {
namespace {

using Parts = std::vector<std::string_view>;

// The parts of /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE.
constexpr std::size_t kUsualParts = 8;

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Go's splitPath: slashes at both ends are trimmed, those in the middle make empty parts.
Parts SplitPath(std::string_view path) {
  Parts parts;
  const std::size_t begin = path.find_first_not_of('/');
  if (begin == std::string_view::npos) return parts;
  path = path.substr(begin, path.find_last_not_of('/') + 1 - begin);
  parts.reserve(kUsualParts);
  while (true) {
    const std::size_t slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    path.remove_prefix(slash + 1);
  }
}

// Takes prefix, group and version from `parts`. False: this is no resource request.
bool TakeGroupVersion(std::span<const std::string_view>& parts, RequestInfo& info) {
  if (parts.size() < 3 || (parts[0] != "api" && parts[0] != "apis")) return false;
  info.api_prefix = parts[0];
  parts = parts.subspan(1);
  if (info.api_prefix == "apis") {
    if (parts.size() < 3) return false;
    info.api_group = parts[0];
    parts = parts.subspan(1);
  }
  info.api_version = parts[0];
  parts = parts.subspan(1);
  return true;
}

// `namespaces/x` alone is the resource namespaces; the part behind it is another resource, unless
// it is a subresource of namespaces.
void TakeNamespace(std::span<const std::string_view>& parts, RequestInfo& info) {
  if (parts[0] != "namespaces" || parts.size() < 2) return;
  info.namespace_ = parts[1];
  if (parts.size() > 2 && parts[2] != "status" && parts[2] != "finalize") parts = parts.subspan(2);
}

// `own`: the number of parts, at the end of `all`, that belong to the resource.
void TakeParts(Parts all, std::size_t own, RequestInfo& info) {
  all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(own));
  info.parts = std::move(all);
  const Parts& parts = info.parts;
  info.resource = parts[0];
  if (parts.size() >= 2) info.name = parts[1];
  // The rest of the path after a name under proxy/ belongs to the other server.
  if (parts.size() >= 3 && info.verb != "proxy") info.subresource = parts[2];
}

// Go's conversion of a query's bool: present without a value is true; only "false" and "0" are not.
bool WantsWatch(const http::Query& query) {
  if (!query.Has("watch")) return false;
  const std::string value = Lower(query.Get("watch"));
  return value != "false" && value != "0";
}

// Returns the one name that the selector of a list or watch demands. As in Go, only if all of the
// query's options can be parsed.
std::optional<std::string> NameInSelector(const http::Query& query) {
  if (!query.Has("fieldSelector")) return std::nullopt;
  if (meta::ParseListOptions(query.all()).status().reason() == Reason::kBadRequest) {
    return std::nullopt;
  }
  const auto selector = meta::FieldSelector::Parse(query.Get("fieldSelector"));
  if (!selector.ok()) return std::nullopt;
  std::optional<std::string> name = selector->RequiresExact("metadata.name");
  if (name && !meta::IsPathSegmentName(*name).empty()) return std::nullopt;
  return name;
}

// A get or delete without a name is one of the collection.
void ResolveCollection(const http::Query& query, RequestInfo& info) {
  if (!info.name.empty()) return;
  if (info.verb == "get") {
    info.verb = WantsWatch(query) ? "watch" : "list";
    if (std::optional<std::string> name = NameInSelector(query)) info.name = *std::move(name);
  } else if (info.verb == "delete") {
    info.verb = "deletecollection";
  }
}

}  // namespace

// Other methods, such as OPTIONS, get the empty verb, as in Go.
std::string_view VerbOfMethod(std::string_view method) {
  if (method == "GET" || method == "HEAD") return "get";
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return "";
}

// Follows RequestInfoFactory.NewRequestInfo of endpoints/request, whose result decides what is
// authorized: a path must never be resolved in two ways.
Result<RequestInfo> ResolveRequestInfo(std::string_view method, std::string_view path,
                                       const http::Query& query) {
  RequestInfo info;
  info.path = path;
  Parts all = SplitPath(path);
  std::span<const std::string_view> parts(all);
  info.is_resource_request = TakeGroupVersion(parts, info);
  if (!info.is_resource_request) {
    info.verb = Lower(method);
    return info;
  }

  const bool verb_in_path = parts[0] == "watch" || parts[0] == "proxy";
  if (verb_in_path) {
    if (parts.size() < 2) {
      return Status(Reason::kInternalError,
                    "unable to determine kind and namespace from url, " + std::string(path));
    }
    info.verb = parts[0];
    parts = parts.subspan(1);
  } else {
    info.verb = VerbOfMethod(method);
  }
  TakeNamespace(parts, info);
  TakeParts(std::move(all), parts.size(), info);
  ResolveCollection(query, info);
  // The deprecated paths do not all honour selectors, so no request may be authorized by them.
  const bool selects =
      info.verb == "list" || info.verb == "watch" || info.verb == "deletecollection";
  if (!verb_in_path && selects) {
    info.field_selector = query.Get("fieldSelector");
    info.label_selector = query.Get("labelSelector");
  }
  return info;
}

}  // namespace apiserver::v0::request
