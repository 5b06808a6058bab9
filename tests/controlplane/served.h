#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/testing/server/test_server.h"
#include "served_kinds.h"

// Servers of the tests, and how their answers are read.
namespace controlplane_test {

inline std::unique_ptr<apiserver::testing::TestServer> Start(
    const std::vector<std::string>& kinds,
    std::function<apiserver::Status(apiserver::server::GenericAPIServer&)> install) {
  apiserver::testing::TestServerOptions options;
  options.kinds = apiserver::testing::ServedKinds(kinds);
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
