// Published definitions: tests/testdata/crds/README.md.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "apiextensions/definitions.h"
#include "apiextensions/schema/json_schema.h"
#include "apiserver/apiextensions/definition.h"

namespace {

using namespace apiserver;
using namespace apiextensions_test;

TEST_CASE("apiextensions: published definitions are accepted, also in place of themselves") {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(APISERVER_TESTDATA) + "/crds")) {
    if (entry.path().extension() != ".jsonl") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line); ++count) {
      const auto definition = DefinitionOf(line);
      INFO(entry.path().filename() << " " << definition->name());
      CHECK(ErrorsOf(line) == std::vector<std::string>());
      if (count % 10 == 0) CHECK(UpdateErrorsOf(line, line) == std::vector<std::string>());
    }
  }
  CHECK(count >= 150);
}

// Whatever a schema says in JSON it still says, but for zero values and unknown members.
TEST_CASE("apiextensions: schemas of published definitions are normal once and for all") {
  std::ifstream file(std::string(APISERVER_TESTDATA) + "/crds/gateway-api.jsonl");
  std::size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    auto definition = DefinitionOf(line);
    for (const runtime::Value& version : (*definition)["spec"]["versions"].items()) {
      runtime::Value schema = apiextensions::SchemaOf(version);
      const std::string before = JsonOf(schema);
      std::vector<runtime::UnknownMember> unknown;
      runtime::FindUnknownInJsonSchema(schema, "", unknown);
      REQUIRE(apiextensions::NormalizeJsonSchema(schema, "", definition->arena()).ok());
      CHECK(JsonOf(schema) == before);
      CHECK(unknown.empty());
    }
  }
  CHECK(count > 0);
}

}  // namespace
