#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/groups/core.h"
#include "apiserver/groups/discovery.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/server/install.h"

// Kinds of Kubernetes for servers of the tests, of which everything is valid.
namespace aggregator_test {

class AnythingGoes final : public apiserver::rest::Strategy {
 public:
  explicit AnythingGoes(bool namespaced) : namespaced_(namespaced) {}
  bool NamespaceScoped() const override { return namespaced_; }
  bool AllowUnconditionalUpdate() const override { return true; }
  apiserver::field::ErrorList Validate(const apiserver::Context&,
                                       const apiserver::runtime::Object&) const override {
    return {};
  }

 private:
  const bool namespaced_;
};

inline std::vector<apiserver::server::Resource> CoreKinds(const std::vector<std::string>& names) {
  std::vector<apiserver::server::Resource> resources;
  for (const auto& kinds :
       {apiserver::groups::core::Kinds(), apiserver::groups::discovery::Kinds()}) {
    INFO(kinds.status().ToString());
    REQUIRE(kinds.ok());
    for (const auto& kind : *kinds) {
      if (std::find(names.begin(), names.end(), kind->kind()) == names.end()) continue;
      apiserver::server::Resource resource{
          .kind = kind, .strategy = std::make_shared<AnythingGoes>(kind->namespaced())};
      resource.configure = [](apiserver::registry::StoreOptions& store) {
        store.validate_schema = false;
      };
      resources.push_back(std::move(resource));
    }
  }
  return resources;
}

}  // namespace aggregator_test
