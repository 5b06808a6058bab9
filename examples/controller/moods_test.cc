#include "moods.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <string>

#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/eventually.h"
#include "apiserver/testing/server/test_server.h"
#include "apiserver/testing/storage/fault_engine.h"
#include "contains.h"

using namespace apiserver;  // NOLINT: a test.

Status ServePets(server::GenericAPIServer& server, storage::kv::Engine& engine);  // examples/pets.

namespace {

const client::Target kTom{
    .resource = {"zoo.example.com", "v1", "pets"}, .namespace_ = "default", .name = "tom"};

std::unique_ptr<runtime::Object> Pet(const char* species) {
  auto pet = std::make_unique<runtime::Object>(
      runtime::Kind::Untyped({"zoo.example.com", "v1", "Pet"}), "v1");
  pet->Edit("metadata", "name") = kTom.name;
  pet->Edit("spec", "species") = species;
  return pet;
}

testing::WaitResult TomBecomes(client::Client& client, std::string_view mood) {
  return testing::Eventually([&]() -> Result<bool> {
    APISERVER_ASSIGN_OR_RETURN(const auto tom, client.Get(Context::Background(), kTom));
    return (*tom)["status"]["mood"].AsString() == mood;
  });
}

TEST_CASE("example: a cat becomes content, also after an error and a bad day", "[examples]") {
  const auto memory = storage::memory::NewEngine();
  const auto faults = testing::storage::NewFaultEngine(*memory);
  const auto server =
      testing::StartTestServer(
          {.install = [&](auto& made) { return ServePets(made, *faults); }, .engine = faults.get()})
          .value();
  client::Client& client = server->client();
  const auto metrics = metrics::NewRegistry();
  Moods moods(client, metrics.get());
  moods.Start();
  // The first write is that of the cat, the second one the controller's.
  faults->FailTxnAt(2, Status(Reason::kServiceUnavailable, "the store is away"));
  client::Target pets = kTom;
  pets.name.clear();
  REQUIRE(client.Create(Context::Background(), pets, *Pet("cat")).ok());

  CHECK(TomBecomes(client, "content"));
  const char* const failed =
      R"(controller_runtime_reconcile_total{controller="moods",result="error"} 1)";
  CHECK(testing::Contains(metrics->Serialize(), failed));

  client::Target status = kTom;
  status.subresource = "status";
  REQUIRE(client
              .Patch(Context::Background(), status,
                     {.media_type = "application/merge-patch+json",
                      .text = R"({"status":{"mood":"sad"}})"})
              .ok());
  CHECK(TomBecomes(client, "content"));
}

// Returns how many lines of a file are neither blank nor comments.
int CodeLines(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file);
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != std::string::npos && line.compare(begin, 2, "//") != 0) ++count;
  }
  return count;
}

TEST_CASE("example: a controller has at most 70 lines of code", "[examples]") {
  const int controller = CodeLines("examples/controller/moods.h");
  const int program = CodeLines("examples/controller/main.cc");
  CAPTURE(controller, program);
  CHECK(controller > 0);
  CHECK(controller + program <= 70);
  const int with_its_test = CodeLines("examples/controller/one_file_test.cc");
  CAPTURE(with_its_test);
  CHECK(with_its_test > 0);
  CHECK(with_its_test <= 70);
}

}  // namespace
