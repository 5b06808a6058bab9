#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/server/route_source.h"

namespace apiserver::inline v0::server {

// The sources of routes in a serving chain, in the order in which they are asked. Complete before
// the first request.
class RouteSources {
 public:
  using List = std::vector<std::shared_ptr<const RouteSource>>;

  List in_front;  // Of all that is installed.
  List behind;

  // Null: none of `list` has it.
  static std::shared_ptr<Route> Find(const List& list, const request::RequestInfo& info);
  // What discovery shows of a version, and OpenAPI v3 at a path; none: none of `list` has it.
  static std::optional<discovery::APIVersion> FindVersion(const List& list, std::string_view group,
                                                          std::string_view version);
  static std::shared_ptr<const openapi::Document> FindOpenApiV3(const List& list,
                                                                const std::string& path);

  // Grows with that of each.
  std::uint64_t generation() const;
  // Whether discovery shows the group and, unless that is empty, its version.
  bool Show(std::string_view group, std::string_view version) const;
  // `installed` and what the sources show: of two of one version that which is asked first.
  std::vector<discovery::APIGroup> With(std::vector<discovery::APIGroup> installed) const;
  // The same of ETags of OpenAPI v3, by path.
  std::map<std::string, std::string> With(std::map<std::string, std::string> installed) const;

 private:
  // All in the order in which they are asked.
  List All() const;
};

}  // namespace apiserver::inline v0::server
