#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/http/message.h"

namespace apiserver::inline v0::request {

// What a request is about, read off its method and URL:
// k8s.io/apiserver/pkg/endpoints/request.RequestInfo. Set on the Exchange by the first filter.
struct RequestInfo {
  bool is_resource_request = false;
  std::string path;
  // "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy"; of
  // a non-resource request the HTTP method in lower case. Empty: an unknown method on a resource.
  std::string verb;
  std::string api_prefix;  // "api" or "apis".
  std::string api_group;
  std::string api_version;
  std::string namespace_;
  std::string resource;
  std::string subresource;
  // Of list and watch too, if fieldSelector demands one metadata.name.
  std::string name;
  // The path from the resource on: {"pods", "x", "status"}.
  std::vector<std::string> parts;
  // As sent; only for list, watch and deletecollection, and not on the deprecated /watch/ paths.
  std::string field_selector;
  std::string label_selector;
};

// kInternalError: a path that ends after `watch` or `proxy`, in Go's words (Go answers 500).
Result<RequestInfo> ResolveRequestInfo(std::string_view method, std::string_view path,
                                       const http::Query& query);

}  // namespace apiserver::inline v0::request
