#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/discovery/discovery.h"
#include "apiserver/openapi/fragment.h"
#include "apiserver/runtime/names.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/scheme.h"

namespace apiserver::inline v0::apiextensions {

// Holds what discovery and OpenAPI say of custom resources now. A change of one definition costs
// what that definition is long, and touches no other. Any thread; answers do not block.
class Catalog {
 public:
  // Shows a definition in place of what was shown of it: the versions that it serves, once it is
  // established. Its schemas are published unless a condition says that they are not structural.
  // `content` is what the definition holds in v1.
  void Set(const runtime::ObjectPtr& definition, const runtime::Value& content);
  // The same of a definition that nobody has opened.
  void Set(const runtime::ObjectPtr& definition);
  // Shows nothing of a definition any more, "foos.example.com".
  void Remove(std::string_view name);

  // Grows with each change of what follows. A definition that changes otherwise, in a condition or
  // a label, does not count.
  std::uint64_t generation() const { return state_.Lock()->generation; }
  // Return the groups by name, and one of them; their versions are ordered by preference.
  std::vector<discovery::APIGroup> Groups() const;
  std::optional<discovery::APIGroup> FindGroup(std::string_view group) const;
  // Return what OpenAPI shows of a group version, and of all.
  std::vector<openapi::FragmentPtr> Fragments(std::string_view group,
                                              std::string_view version) const;
  std::map<runtime::GroupVersion, std::vector<openapi::FragmentPtr>> AllFragments() const;

 private:
  // One version of a definition.
  struct Entry {
    std::vector<discovery::APIResource> rows;
    openapi::FragmentPtr fragment;
  };
  // Orders versions by preference.
  struct Preferred {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const {
      return runtime::VersionPreferred(a, b);
    }
  };
  using Resources = std::map<std::string, Entry, std::less<>>;  // By plural.
  using Versions = std::map<std::string, Resources, Preferred>;
  // Holds what is shown of a definition.
  struct Place {
    std::string group;
    std::string plural;
    std::vector<std::string> versions;

    friend bool operator==(const Place&, const Place&) = default;
  };
  struct State {
    std::uint64_t generation = 0;
    std::map<std::string, Versions, std::less<>> groups;
    std::map<std::string, Place, std::less<>> places;  // By the definition's name.

    void Take(const Place& place);
  };
  // Holds what is to be shown of a definition.
  struct Shown {
    std::string name;
    Place place;
    std::map<std::string, Entry> entries;  // By version.
  };

  // No entries: nothing is to be shown.
  static Shown ShownOf(const runtime::ObjectPtr& definition, const runtime::Value& root);
  static discovery::APIGroup GroupOf(const std::string& name, const Versions& versions);

  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::apiextensions
