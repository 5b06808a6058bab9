#include "patch/apply/managers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace apiserver::v0::patch::apply {

namespace {

constexpr std::string_view kOldUpdatesManager = "ancient-changes";

// Follows stripSet in stripmeta.go: identity, and what only the server sets, has no owner.
struct StripSet {
  runtime::Arena arena;
  FieldSet set;

  StripSet() {
    const auto top = [](std::string_view name) { return Path{PathElement::FieldName(name)}; };
    const auto meta = [](std::string_view name) {
      return Path{PathElement::FieldName("metadata"), PathElement::FieldName(name)};
    };
    set = NewFieldSet(
        {top("apiVersion"), top("kind"), top("metadata"), meta("name"), meta("namespace"),
         meta("creationTimestamp"), meta("selfLink"), meta("uid"), meta("clusterName"),
         meta("generation"), meta("managedFields"), meta("resourceVersion")},
        arena);
  }
};

std::int64_t SecondsOf(const Managed& managed, const std::string& manager) {
  const auto found = managed.times.find(manager);
  return found != managed.times.end() && found->second ? found->second->seconds : 0;
}

// Returns the managers with updates, oldest first.
std::vector<std::string> Updaters(const Managed& managed) {
  std::vector<std::string> updaters;
  for (const auto& [manager, fields] : managed.fields) {
    if (!fields.applied) updaters.push_back(manager);
  }
  std::stable_sort(updaters.begin(), updaters.end(),
                   [&managed](const std::string& a, const std::string& b) {
                     return SecondsOf(managed, a) < SecondsOf(managed, b);
                   });
  return updaters;
}

}  // namespace

FieldSet NobodysFields() {
  static const StripSet strip;
  return strip.set;
}

void StripFields(Managers& managers, const std::string& manager, runtime::Arena& arena) {
  const auto found = managers.find(manager);
  if (found == managers.end()) return;
  found->second.set = found->second.set.Difference(NobodysFields(), arena);
  if (found->second.set.Empty()) managers.erase(found);
}

// Follows capUpdateManagers in capmanagers.go: old updates share an entry, or each new client would
// make the object grow.
void CapUpdateManagers(Managed& managed, std::size_t max, runtime::Arena& arena) {
  const std::vector<std::string> updaters = Updaters(managed);
  std::size_t left = updaters.size();
  // The oldest manager of each version, which becomes the version's bucket once there is a second
  // one.
  std::map<std::string, std::string> first_of_version;
  for (std::size_t i = 0; i < updaters.size() && left > max; ++i) {
    const std::string& manager = updaters[i];
    const VersionedSet fields = managed.fields.at(manager);
    const auto [first, is_first] = first_of_version.emplace(fields.api_version, manager);
    if (is_first) continue;
    const std::string bucket = BuildManagerIdentifier({.manager = std::string(kOldUpdatesManager),
                                                       .operation = "Update",
                                                       .api_version = fields.api_version,
                                                       .subresource = ""});
    if (!managed.fields.contains(bucket)) {
      auto node = managed.fields.extract(first->second);
      node.key() = bucket;
      managed.fields.insert(std::move(node));
    }
    VersionedSet& merged = managed.fields.at(bucket);
    merged.set = fields.set.Union(merged.set, arena);
    merged.api_version = fields.api_version;
    merged.applied = fields.applied;
    managed.fields.erase(manager);
    --left;
    // Keeps the later time of the two.
    const auto time = managed.times.find(manager);
    managed.times.insert_or_assign(bucket,
                                   time != managed.times.end() ? time->second : std::nullopt);
  }
}

}  // namespace apiserver::v0::patch::apply
