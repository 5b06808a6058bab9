#include "apiextensions/control/defined.h"

#include <utility>

namespace apiserver::v0::apiextensions {
namespace {

bool Serves(const FactsPtr& facts, const std::string& group, const std::string& name) {
  if (facts == nullptr || facts->group != group) return false;
  const VersionFacts* const version = facts->FindVersion(name);
  return version != nullptr && version->served;
}

}  // namespace

void Defined::Follow(discovery::DefinedVersions::Told told) {
  const auto state = state_.Lock();
  state->told = std::move(told);
  if (!state->told) return;
  for (const auto& [version, count] : state->uses) state->told(version, true);
}

void Defined::Set(const FactsPtr& facts, const runtime::Object& /*content*/) {
  const auto state = state_.Lock();
  FactsPtr& place = state->definitions[facts->name];
  Replace(place, facts, *state);
  place = facts;
}

void Defined::Remove(const std::string& name) {
  const auto state = state_.Lock();
  const auto found = state->definitions.find(name);
  if (found == state->definitions.end()) return;
  Replace(found->second, nullptr, *state);
  state->definitions.erase(found);
}

void Defined::Replace(const FactsPtr& before, const FactsPtr& next, State& state) {
  if (next != nullptr) {
    for (const VersionFacts& each : next->versions) {
      if (!each.served || Serves(before, next->group, each.name)) continue;
      const runtime::GroupVersion version{next->group, each.name};
      if (++state.uses[version] == 1 && state.told) state.told(version, true);
    }
  }
  if (before == nullptr) return;
  for (const VersionFacts& each : before->versions) {
    if (!each.served || Serves(next, before->group, each.name)) continue;
    const auto used = state.uses.find({before->group, each.name});
    if (used == state.uses.end() || --used->second > 0) continue;
    const runtime::GroupVersion version = used->first;
    state.uses.erase(used);
    if (state.told) state.told(version, false);
  }
}

}  // namespace apiserver::v0::apiextensions
