#include <catch2/catch.hpp>

#include <memory>
#include <string>

#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/test_server.h"
#include "pets.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): a test.

static const std::string kPets = "/apis/zoo.example.com/v1/namespaces/default/pets";

// Starts a server of pets in this process, without a socket.
static std::unique_ptr<testing::TestServer> StartZoo(storage::kv::Engine& engine) {
  testing::TestServerOptions options;
  options.engine = &engine;
  options.install = [&](auto& server) { return zoo::InstallPets(server, server.Storage(engine)); };
  return testing::StartTestServer(std::move(options)).value();
}

TEST_CASE("tutorial: a pet without a number is one, and older clients call that its size",
          "[tutorial]") {
  const auto engine = storage::memory::NewEngine();
  const auto zoo = StartZoo(*engine);

  const auto created =
      zoo->Call("POST", kPets,
                R"({"apiVersion":"zoo.example.com/v1","kind":"Pet","metadata":{"name":"tom"},)"
                R"("spec":{"species":"cat"}})");

  CHECK(created.code == 201);
  CHECK(created.body.find(R"("replicas":1)") != std::string::npos);
  const auto old = zoo->Call("GET", "/apis/zoo.example.com/v1beta1/namespaces/default/pets/tom");
  CHECK(old.body.find(R"("size":1)") != std::string::npos);
}

TEST_CASE("tutorial: a store that was left is found again", "[tutorial]") {
  const auto engine = storage::memory::NewEngine();
  const std::string rex =
      R"({"apiVersion":"zoo.example.com/v1","kind":"Pet","metadata":{"name":"rex"},)"
      R"("spec":{"species":"dog","replicas":2}})";
  REQUIRE(StartZoo(*engine)->Call("POST", kPets, rex).code == 201);

  CHECK(StartZoo(*engine)->Call("GET", kPets + "/rex").code == 200);
}
