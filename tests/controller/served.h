#pragma once

#include <catch2/catch.hpp>

#include <memory>
#include <utility>

#include "apiserver/groups/coordination.h"
#include "apiserver/groups/core.h"
#include "apiserver/testing/server/test_server.h"

namespace controller_test {

// Starts a server with pods, events, config maps and leases, as a kube-apiserver has them.
inline std::unique_ptr<apiserver::testing::TestServer> StartCluster() {
  using namespace apiserver;
  testing::TestServerOptions options;
  for (auto resources : {groups::core::ClusterResources(RealClock()),
                         groups::coordination::Resources(RealClock())}) {
    REQUIRE(resources.ok());
    for (auto& resource : *resources) options.kinds.push_back(std::move(resource));
  }
  auto server = testing::StartTestServer(std::move(options));
  REQUIRE(server.ok());
  return std::move(server).value();
}

}  // namespace controller_test
