#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/discovery/discovery.h"
#include "apiserver/endpoints/api_group_version.h"
#include "apiserver/openapi/spec.h"
#include "apiserver/runtime/scheme.h"

namespace apiserver::inline v0::server {

// One state of what a server serves: routes, discovery and OpenAPI that belong together. Immutable;
// requests keep the one they began with.
class ApiState {
 public:
  struct Options {
    openapi::Info info;
    std::string server_address;
    std::vector<openapi::Route> extra_routes;  // "/version" and siblings.
  };
  // `groups` in order of installation; versions of each in priority order. kInternalError: the
  // OpenAPI documents would contradict themselves.
  static Result<std::shared_ptr<const ApiState>> New(
      std::vector<std::shared_ptr<const endpoints::Installed>> installed,
      const runtime::Scheme::Snapshot& scheme, const Options& options);

  // The group version whose prefix `path` lies under, or null.
  const endpoints::Installed* Find(std::string_view path) const;
  const discovery::Documents& discovery() const { return *discovery_; }
  const std::shared_ptr<const openapi::Documents>& openapi() const { return openapi_; }
  const std::vector<std::shared_ptr<const endpoints::Installed>>& installed() const {
    return installed_;
  }
  // "/apis", "/apis/<group>", "/apis/<group>/<version>": what the index lists.
  std::vector<std::string> Paths() const;

 private:
  std::vector<std::shared_ptr<const endpoints::Installed>> installed_;
  std::shared_ptr<const discovery::Documents> discovery_;
  std::shared_ptr<const openapi::Documents> openapi_;
};

}  // namespace apiserver::inline v0::server
