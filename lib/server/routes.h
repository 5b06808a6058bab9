#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/request/request_info.h"
#include "apiserver/runtime/names.h"
#include "server/served.h"

namespace apiserver::inline v0::server {

// The served resources. A change costs O(log n) and touches no other resource. Any thread.
class Routes {
 public:
  // A group version in the form for documents.
  struct Version {
    std::string version;
    // The generation of the last change to it; grows. A version that was removed and installed
    // again has another one.
    std::uint64_t generation = 0;
    std::vector<ServedPtr> served;  // Sorted by name.
  };
  struct OwnedVersion {
    std::string version;
    const Owner* owner;  // Never null.
  };
  struct Group {
    std::string name;
    std::vector<Version> versions;  // In the order in which they came.
  };
  struct Snapshot {
    std::uint64_t generation = 0;
    std::vector<Group> groups;  // In the order in which they came.
  };

  // Returns the resource that a request is about. Null: it is not served, or it is no resource
  // request.
  ServedPtr Find(const request::RequestInfo& info) const;
  ServedPtr Find(const runtime::GroupVersionResource& resource) const;
  // True if the group, or the version, has resources.
  bool Serves(std::string_view group) const;
  bool Serves(std::string_view group, std::string_view version) const;
  // Returns the handler whose resources the version has. Null: it has none.
  const Owner* OwnerOf(std::string_view group, std::string_view version) const;
  // Returns the versions in the order in which they came.
  std::vector<OwnedVersion> VersionsOf(std::string_view group) const;
  // Returns the versions in which a resource is served, in the order in which they came.
  std::vector<ServedPtr> VersionsOf(std::string_view group, std::string_view resource) const;

  // Changes the routes in one step: removes all resources of `cleared`, and adds `added`, each in
  // place of the resource of its name. Returns the resources that are not served any more.
  std::vector<ServedPtr> Change(const std::vector<runtime::GroupVersion>& cleared,
                                std::vector<ServedPtr> added);
  // Returns the removed resource. Null: it was not served.
  ServedPtr Remove(const runtime::GroupVersionResource& resource);

  // Grows with each change.
  std::uint64_t generation() const { return state_.Lock()->generation; }
  // Counts a change outside of the routes: documents show more than these.
  void Touch() { ++state_.Lock()->generation; }
  Snapshot Take() const;
  // Returns a version. No `served`, and the generation of all: there is no such version.
  Version Take(std::string_view group, std::string_view version) const;
  // Returns "/apis", "/apis/<group>", "/apis/<group>/<version>", for the index.
  std::vector<std::string> Paths() const;

 private:
  using Resources = std::map<std::string, ServedPtr, std::less<>>;
  struct VersionRoutes {
    std::string version;
    std::uint64_t generation = 0;
    Resources resources;  // Never empty.
  };
  struct GroupRoutes {
    std::uint64_t came = 0;               // The generation when it was added.
    std::vector<VersionRoutes> versions;  // Never empty. A group has few.

    const VersionRoutes* Find(std::string_view version) const;
  };
  // Returns the handler of the resources, which all belong to one.
  static const Owner* OwnerOf(const Resources& resources);
  struct State {
    std::uint64_t generation = 0;
    std::map<std::string, GroupRoutes, std::less<>> groups;

    const VersionRoutes* Find(std::string_view group, std::string_view version) const;
    ServedPtr Find(std::string_view group, std::string_view version,
                   std::string_view resource) const;
    // Returns the place of the resource, empty if it is new.
    ServedPtr& At(const runtime::GroupVersionResource& resource);
    ServedPtr Take(const runtime::GroupVersionResource& resource);
  };
  static Version CopyOf(const VersionRoutes& routes);

  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::server
