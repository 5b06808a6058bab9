#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/groups/coordination.h"
#include "apiserver/groups/core.h"
#include "apiserver/groups/discovery.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/server/install.h"

// Kinds of Kubernetes for servers of the tests, of which everything is valid.
namespace apiserver::inline v0::testing {

// Finds nothing wrong with any object.
class AnythingGoes final : public rest::Strategy {
 public:
  explicit AnythingGoes(bool namespaced) : namespaced_(namespaced) {}
  bool NamespaceScoped() const override { return namespaced_; }
  bool AllowUnconditionalUpdate() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }

 private:
  const bool namespaced_;
};

// Returns the resources of these kinds of the groups core, coordination and discovery.
inline std::vector<server::Resource> ServedKinds(const std::vector<std::string>& names) {
  std::vector<server::Resource> resources;
  for (const auto& kinds :
       {groups::core::Kinds(), groups::coordination::Kinds(), groups::discovery::Kinds()}) {
    INFO(kinds.status().ToString());
    REQUIRE(kinds.ok());
    for (const auto& kind : *kinds) {
      if (std::find(names.begin(), names.end(), kind->kind()) == names.end()) continue;
      resources.push_back(
          {.kind = kind,
           .strategy = std::make_shared<AnythingGoes>(kind->namespaced()),
           .configure = [](registry::StoreOptions& store) { store.validate_schema = false; }});
    }
  }
  return resources;
}

}  // namespace apiserver::inline v0::testing
