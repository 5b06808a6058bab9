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

// The route sources of a serving chain, in the order in which they are asked. Complete before the
// first request.
class RouteSources {
 public:
  using List = std::vector<std::shared_ptr<const RouteSource>>;

  List in_front;  // Asked before the installed resources.
  List behind;

  // Returns the route of a request. Null: no source of `list` has it.
  static std::shared_ptr<Route> Find(const List& list, const request::RequestInfo& info);
  // Return a version as discovery shows it, and OpenAPI v3 at a path. None: no source of `list` has
  // it.
  static std::optional<discovery::APIVersion> FindVersion(const List& list, std::string_view group,
                                                          std::string_view version);
  static std::shared_ptr<const openapi::Document> FindOpenApiV3(const List& list,
                                                                const std::string& path);

  // Returns the resource in all its versions, as the first source that has it says.
  std::vector<admission::EquivalentResource> EquivalentsOf(
      const runtime::GroupVersionResource& resource, std::string_view subresource) const;

  // Tells all sources to give up their routes.
  void Forget();

  // Grows with the generation of each source.
  std::uint64_t generation() const;
  // True if discovery shows the group and, unless that is empty, its version.
  bool Show(std::string_view group, std::string_view version) const;
  // Returns `installed` and the groups of the sources; of two of one version, the one asked first.
  std::vector<discovery::APIGroup> With(std::vector<discovery::APIGroup> installed) const;
  // Does the same for one group. nullopt: there is none.
  std::optional<discovery::APIGroup> WithGroup(const std::string& name,
                                               std::optional<discovery::APIGroup> installed) const;
  // Returns the fragments of a group version, of the source that is asked first.
  std::vector<openapi::FragmentPtr> Fragments(std::string_view group,
                                              std::string_view version) const;
  // Returns those of all group versions.
  std::map<runtime::GroupVersion, std::vector<openapi::FragmentPtr>> AllFragments() const;
  // Returns `installed` and the ETags of the sources' documents of OpenAPI v3, by path.
  std::map<std::string, std::string> With(std::map<std::string, std::string> installed) const;
  // Returns the URLs of documents that routes in front of the installed resources answer, by path.
  std::map<std::string, std::string> OpenApiV3Urls() const;
  // Returns documents of other servers that are merged into OpenAPI v2.
  std::vector<openapi::ForeignV2Ptr> ForeignOpenApiV2() const;

 private:
  // Returns all sources in the order in which they are asked.
  List All() const;
  // Lets the sources in front put groups into their order.
  void Arrange(std::vector<discovery::APIGroup>& groups) const;
};

}  // namespace apiserver::inline v0::server
