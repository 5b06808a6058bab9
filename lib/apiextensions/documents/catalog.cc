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

Catalog::Shown Catalog::ShownOf(const runtime::ObjectPtr& definition, const Value& root) {
  Shown shown;
  // Read here: the definition's own accessor would parse it, and keep its tree.
  shown.name = root["metadata"]["name"].AsString();
  if (!HasCondition(root, "Established")) return shown;
  const bool structural = !HasCondition(root, "NonStructuralSchema");
  shown.place.group = root["spec"]["group"].AsString();
  shown.place.plural = root["status"]["acceptedNames"]["plural"].AsString();
  for (const Value& each : root["spec"]["versions"].items()) {
    const std::string version(each["name"].AsString());
    auto rows = DiscoveryRowsOf(root, version);
    if (rows.empty()) continue;
    shown.place.versions.push_back(version);
    shown.entries.emplace(
        version, Entry{std::move(rows), NewFragment(definition, root, version, structural)});
  }
  return shown;
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

void Catalog::Set(const runtime::ObjectPtr& definition) {
  const Opened opened(definition);
  Set(definition, opened.root());
}

// Compares the change while the lock is held for a few look-ups only.
void Catalog::Set(const runtime::ObjectPtr& definition, const Value& content) {
  Shown next = ShownOf(definition, content);
  if (next.entries.empty()) return Remove(next.name);
  const auto state = state_.Lock();
  Place& place = state->places[next.name];
  bool changed = place != next.place;
  if (changed) state->Take(place);
  place = std::move(next.place);
  Versions& group = state->groups[place.group];
  for (auto& [version, entry] : next.entries) {
    Entry& present = group[version][place.plural];
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
  discovery::APIGroup group{.name = name, .versions = {}, .custom = true};
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
