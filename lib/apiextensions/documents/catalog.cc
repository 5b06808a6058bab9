#include "apiextensions/documents/catalog.h"

#include <algorithm>
#include <utility>

#include "apiextensions/documents/documents.h"
#include "apiextensions/documents/opened.h"

namespace apiserver::v0::apiextensions {

namespace {

using runtime::Value;

bool HasCondition(Value definition, std::string_view type) {
  return std::ranges::any_of(definition["status"]["conditions"].items(), [type](const Value& each) {
    return each["type"].AsString() == type && each["status"].AsString() == "True";
  });
}

}  // namespace

Catalog::Entries Catalog::EntriesOf(const runtime::ObjectPtr& definition) {
  Entries entries;
  const Opened opened(definition);
  if (!HasCondition(opened.root(), "Established")) return entries;
  const bool structural = !HasCondition(opened.root(), "NonStructuralSchema");
  for (const Value& each : opened.root()["spec"]["versions"].items()) {
    const std::string version(each["name"].AsString());
    auto rows = DiscoveryRowsOf(opened.root(), version);
    if (rows.empty()) continue;
    entries.emplace(version, Entry{std::move(rows), NewFragment(definition, version, structural)});
  }
  return entries;
}

void Catalog::State::Take(const Place& place) {
  const auto group = groups.find(place.group);
  if (group == groups.end()) return;
  for (const std::string& name : place.versions) {
    const auto version = group->second.find(name);
    if (version == group->second.end()) continue;
    version->second.erase(place.plural);
    if (version->second.empty()) group->second.erase(version);
  }
  if (group->second.empty()) groups.erase(group);
}

// What changes is compared without the lock's being held for longer than for a few look-ups.
void Catalog::Set(const runtime::ObjectPtr& definition) {
  Entries entries = EntriesOf(definition);
  if (entries.empty()) return Remove(definition->name());
  const Opened opened(definition);
  Place place{.group = std::string(opened.root()["spec"]["group"].AsString()),
              .plural = entries.begin()->second.rows.front().name,
              .versions = {}};
  for (const auto& [version, entry] : entries) place.versions.push_back(version);
  const auto state = state_.Lock();
  Place& shown = state->places[std::string(definition->name())];
  bool changed = shown != place;
  if (changed) state->Take(shown);
  shown = std::move(place);
  Versions& group = state->groups[shown.group];
  for (auto& [version, entry] : entries) {
    Entry& present = group[version][shown.plural];
    changed |= !present.fragment || present.rows != entry.rows ||
               present.fragment->hash() != entry.fragment->hash();
    // An equal one is put in place, too: it holds the newer definition, and not one more of them.
    present = std::move(entry);
  }
  if (changed) ++state->generation;
}

void Catalog::Remove(std::string_view name) {
  const auto state = state_.Lock();
  const auto found = state->places.find(name);
  if (found == state->places.end()) return;
  state->Take(found->second);
  state->places.erase(found);
  ++state->generation;
}

discovery::APIGroup Catalog::GroupOf(const std::string& name, const Versions& versions) {
  discovery::APIGroup group{.name = name, .versions = {}};
  for (const auto& [version, resources] : versions) {
    discovery::APIVersion shown{.version = version, .resources = {}};
    for (const auto& [plural, entry] : resources) {
      shown.resources.insert(shown.resources.end(), entry.rows.begin(), entry.rows.end());
    }
    group.versions.push_back(std::move(shown));
  }
  return group;
}

std::vector<discovery::APIGroup> Catalog::Groups() const {
  std::vector<discovery::APIGroup> groups;
  const auto state = state_.Lock();
  for (const auto& [name, versions] : state->groups) groups.push_back(GroupOf(name, versions));
  return groups;
}

std::optional<discovery::APIGroup> Catalog::FindGroup(std::string_view group) const {
  const auto state = state_.Lock();
  const auto found = state->groups.find(group);
  if (found == state->groups.end()) return std::nullopt;
  return GroupOf(found->first, found->second);
}

std::vector<openapi::FragmentPtr> Catalog::Fragments(std::string_view group,
                                                     std::string_view version) const {
  std::vector<openapi::FragmentPtr> fragments;
  const auto state = state_.Lock();
  const auto found = state->groups.find(group);
  if (found == state->groups.end()) return fragments;
  const auto resources = found->second.find(version);
  if (resources == found->second.end()) return fragments;
  for (const auto& [plural, entry] : resources->second) fragments.push_back(entry.fragment);
  return fragments;
}

std::map<runtime::GroupVersion, std::vector<openapi::FragmentPtr>> Catalog::AllFragments() const {
  std::map<runtime::GroupVersion, std::vector<openapi::FragmentPtr>> all;
  const auto state = state_.Lock();
  for (const auto& [group, versions] : state->groups) {
    for (const auto& [version, resources] : versions) {
      std::vector<openapi::FragmentPtr>& fragments = all[{group, version}];
      for (const auto& [plural, entry] : resources) fragments.push_back(entry.fragment);
    }
  }
  return all;
}

}  // namespace apiserver::v0::apiextensions
