#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/testing/server/eventually.h"
#include "apiserver/testing/server/test_server.h"
#include "served_kinds.h"

// Servers of the tests, and how their answers are read.
namespace controlplane_test {

using apiserver::testing::Eventually;

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

}  // namespace controlplane_test
