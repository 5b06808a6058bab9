#include <catch2/catch.hpp>
#include <stdexcept>

#include "apiserver/testing/storage/engine_conformance.h"
#include "apiserver/testing/storage/rest_conformance.h"
#include "apiserver/testing/storage/storage_conformance.h"

// The runner that the kits share, seen through each of them.
using namespace apiserver;  // NOLINT: a test.
namespace kit = apiserver::testing::storage;

namespace {

constexpr char kThrown[] = "the disk is gone";

template <class Case, class Host>
void CheckAllFail(const std::vector<Case>& cases, const Host& host, const Status& expected) {
  REQUIRE(cases.size() > 20);
  for (const Case& one : cases) {
    const Status outcome = one.run(host);
    INFO(one.name);
    CHECK(outcome.reason() == expected.reason());
    CHECK(outcome.message() == expected.message());
  }
}

}  // namespace

TEST_CASE("testing.storage: a host that throws fails the case with what it threw",
          "[testing.storage]") {
  const Status expected(Reason::kInternalError, kThrown);
  kit::EngineHost engine;
  engine.open = [](const Clock&) -> Result<std::unique_ptr<storage::kv::Engine>> {
    throw std::runtime_error(kThrown);
  };
  kit::RestHost rest;
  rest.open = []() -> Result<kit::RestOpened> { throw std::runtime_error(kThrown); };

  CheckAllFail(kit::EngineCases(engine), engine, expected);
  CheckAllFail(kit::StorageCases(), kit::StoreHost(engine.open), expected);
  CheckAllFail(kit::RestCases(rest), rest, expected);
}

TEST_CASE("testing.storage: a host that opens nothing fails the case with its error",
          "[testing.storage]") {
  const Status expected(Reason::kForbidden, kThrown);
  kit::EngineHost engine;
  engine.open = [&](const Clock&) {
    return Result<std::unique_ptr<storage::kv::Engine>>(expected);
  };
  kit::RestHost rest;
  rest.open = [&] { return Result<kit::RestOpened>(expected); };

  CheckAllFail(kit::EngineCases(engine), engine, expected);
  CheckAllFail(kit::StorageCases(), kit::StoreHost(engine.open), expected);
  CheckAllFail(kit::RestCases(rest), rest, expected);
}
