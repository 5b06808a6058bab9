#pragma once

#include <map>
#include <string>

#include "apiextensions/control/controller.h"
#include "apiserver/base/sync.h"
#include "apiserver/discovery/defined_versions.h"
#include "apiserver/runtime/names.h"

namespace apiserver::inline v0::apiextensions {

// Counts the definitions that serve each group version, established or not, and tells of those that
// begin and end: what crdRegistrationController of kubernetes/pkg/controlplane looks at. Any
// thread.
class Defined final : public DefinitionUser {
 public:
  // Tells as discovery::DefinedVersions says.
  void Follow(discovery::DefinedVersions::Told told);

  void Set(const FactsPtr& facts, const runtime::Object& content) override;
  void Announce(const FactsPtr& /*facts*/) override {}
  void Remove(const std::string& name) override;

 private:
  struct State {
    discovery::DefinedVersions::Told told;
    std::map<std::string, FactsPtr> definitions;  // By name.
    std::map<runtime::GroupVersion, int> uses;    // How many definitions serve a group version.
  };

  // Counts the versions of `next` in place of those of `before`. Null: none.
  static void Replace(const FactsPtr& before, const FactsPtr& next, State& state);

  Guarded<State> state_;  // Locked while somebody is told.
};

}  // namespace apiserver::inline v0::apiextensions
