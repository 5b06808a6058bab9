#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/http/message.h"

namespace apiserver::inline v0::request {

// The operation and the resource of a request, read from its method and URL:
// k8s.io/apiserver/pkg/endpoints/request.RequestInfo. Set on the Exchange by the first filter. The
// views are parts of the path it was resolved from, so it lives no longer than the request does.
struct RequestInfo {
  bool is_resource_request = false;
  std::string_view path;
  // "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy"; for
  // a non-resource request the HTTP method in lower case. Empty: an unknown method on a resource.
  std::string verb;
  std::string_view api_prefix;  // "api" or "apis".
  std::string_view api_group;
  std::string_view api_version;
  std::string_view namespace_;
  std::string_view resource;
  std::string_view subresource;
  // The object's name; for list and watch the one metadata.name that fieldSelector demands, if any.
  std::string name;
  // The path from the resource on: {"pods", "x", "status"}.
  std::vector<std::string_view> parts;
  // Selectors as sent; only for list, watch and deletecollection, and not on the deprecated /watch/
  // paths.
  std::string field_selector;
  std::string label_selector;
};

// Resolves a request. `path` outlives the result. kInternalError: the path ends after `watch` or
// `proxy`; the message is Go's (Go answers 500).
Result<RequestInfo> ResolveRequestInfo(std::string_view method, std::string_view path,
                                       const http::Query& query);

}  // namespace apiserver::inline v0::request
