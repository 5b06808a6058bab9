#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/groups/coordination.h"
#include "apiserver/groups/core.h"
#include "apiserver/groups/discovery.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/server/install.h"
#include "apiserver/testing/server/test_server.h"

// Servers of the tests, with kinds of Kubernetes of which everything is valid.
namespace controlplane_test {

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

// The resources of these kinds.
inline std::vector<apiserver::server::Resource> Served(const std::vector<std::string>& names) {
  std::vector<apiserver::server::Resource> resources;
  for (const auto& kinds :
       {apiserver::groups::core::Kinds(), apiserver::groups::coordination::Kinds(),
        apiserver::groups::discovery::Kinds()}) {
    REQUIRE(kinds.ok());
    for (const auto& kind : *kinds) {
      if (std::find(names.begin(), names.end(), kind->kind()) == names.end()) continue;
      resources.push_back({.kind = kind,
                           .strategy = std::make_shared<AnythingGoes>(kind->namespaced()),
                           .configure = [](apiserver::registry::StoreOptions& store) {
                             store.validate_schema = false;
                           }});
    }
  }
  return resources;
}

inline std::unique_ptr<apiserver::testing::TestServer> Start(
    const std::vector<std::string>& kinds,
    std::function<apiserver::Status(apiserver::server::GenericAPIServer&)> install) {
  apiserver::testing::TestServerOptions options;
  options.kinds = Served(kinds);
  options.install = std::move(install);
  auto started = apiserver::testing::StartTestServer(std::move(options));
  INFO(started.status().ToString());
  REQUIRE(started.ok());
  return *std::move(started);
}

// The text at a path of a JSON object.
inline std::string TextAt(const std::string& json, const std::vector<std::string>& path) {
  apiserver::runtime::Arena arena;
  const auto parsed = apiserver::codec::ParseJson(json, arena);
  REQUIRE(parsed.ok());
  apiserver::runtime::Value value = *parsed;
  for (const std::string& each : path) value = value[each];
  return std::string(value.AsString());
}

inline bool Eventually(const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return done();
}

}  // namespace controlplane_test
