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

// What a server serves, by resource. A change costs O(log n) and touches no other resource. Any
// thread.
class Routes {
 public:
  // A group version as documents show it.
  struct Version {
    std::string version;
    // Of the last change to it; grows. A version that went and came has another.
    std::uint64_t generation = 0;
    std::vector<ServedPtr> served;  // By name.
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

  // The resource that a request is about; null: it is not served, or it is no resource request.
  ServedPtr Find(const request::RequestInfo& info) const;
  ServedPtr Find(const runtime::GroupVersionResource& resource) const;
  // Whether the group, or the version, has resources.
  bool Serves(std::string_view group) const;
  bool Serves(std::string_view group, std::string_view version) const;
  // The handler whose resources the version has; null: it has none.
  const Owner* OwnerOf(std::string_view group, std::string_view version) const;
  // In the order in which they came.
  std::vector<OwnedVersion> VersionsOf(std::string_view group) const;
  // The versions in which a resource is served, in the order in which they came.
  std::vector<ServedPtr> VersionsOf(std::string_view group, std::string_view resource) const;

  // In one step: takes all resources of `cleared` out, and puts `added` in, each in place of the
  // resource of its name. Returns what is not served any more.
  std::vector<ServedPtr> Change(const std::vector<runtime::GroupVersion>& cleared,
                                std::vector<ServedPtr> added);
  // Null: it was not served.
  ServedPtr Remove(const runtime::GroupVersionResource& resource);

  // Grows with each change.
  std::uint64_t generation() const { return state_.Lock()->generation; }
  // As if something had changed: documents show more than what is served.
  void Touch() { ++state_.Lock()->generation; }
  Snapshot Take() const;
  // No `served`, and the generation of all: there is no such version.
  Version Take(std::string_view group, std::string_view version) const;
  // "/apis", "/apis/<group>", "/apis/<group>/<version>": what the index lists.
  std::vector<std::string> Paths() const;

 private:
  using Resources = std::map<std::string, ServedPtr, std::less<>>;
  struct VersionRoutes {
    std::string version;
    std::uint64_t generation = 0;
    Resources resources;  // Never empty.
  };
  struct GroupRoutes {
    std::uint64_t came = 0;               // A generation.
    std::vector<VersionRoutes> versions;  // Never empty. A group has few.

    const VersionRoutes* Find(std::string_view version) const;
  };
  // The handler of the resources, which are one's.
  static const Owner* OwnerOf(const Resources& resources);
  struct State {
    std::uint64_t generation = 0;
    std::map<std::string, GroupRoutes, std::less<>> groups;

    const VersionRoutes* Find(std::string_view group, std::string_view version) const;
    ServedPtr Find(std::string_view group, std::string_view version,
                   std::string_view resource) const;
    // Where the resource stands, empty if it is new.
    ServedPtr& At(const runtime::GroupVersionResource& resource);
    ServedPtr Take(const runtime::GroupVersionResource& resource);
  };
  static Version CopyOf(const VersionRoutes& routes);

  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::server
