#include "apiextensions/control/defined.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiextensions/fixture.h"
#include "apiserver/base/sync.h"

namespace {

using namespace apiserver;  // NOLINT: a test.
using apiextensions::Defined;
using testing::CustomServer;
using testing::Eventually;
using testing::FooDefinition;
using testing::kDefinitions;

// Returns what is told: "+v1.example.com" or "-v1.example.com", each followed by a space.
class ToldVersions {
 public:
  discovery::DefinedVersions::Told Told() {
    return [this](const runtime::GroupVersion& version, bool defined) {
      *said_.Lock() += (defined ? "+" : "-") + version.version + "." + version.group + " ";
    };
  }
  std::string Taken() { return std::exchange(*said_.Lock(), ""); }
  bool Say(const std::string& text) const { return *said_.Lock() == text; }

 private:
  Guarded<std::string> said_;
};

apiextensions::FactsPtr FactsServing(const std::string& name, const std::string& group,
                                     const std::vector<std::pair<std::string, bool>>& versions) {
  auto facts = std::make_shared<apiextensions::Facts>();
  facts->name = name;
  facts->group = group;
  for (const auto& [version, served] : versions) {
    facts->versions.push_back({.name = version, .served = served});
  }
  return facts;
}

}  // namespace

TEST_CASE("apiextensions: a group version is told of once, however many definitions serve it",
          "[apiextensions]") {
  ToldVersions notes;
  Defined defined;
  const runtime::Object content(runtime::Kind::Untyped({"", "v1", "Any"}), "v1");
  const auto set = [&](const std::string& name, const std::string& group,
                       const std::vector<std::pair<std::string, bool>>& versions) {
    defined.Set(FactsServing(name, group, versions), content);
    return notes.Taken();
  };
  CHECK(set("as", "a.com", {{"v1", true}, {"v2", false}}).empty());
  defined.Follow(notes.Told());
  CHECK(notes.Taken() == "+v1.a.com ");
  CHECK(set("as", "a.com", {{"v1", true}, {"v2", true}}) == "+v2.a.com ");
  CHECK(set("as", "a.com", {{"v1", true}, {"v2", true}}).empty());
  CHECK(set("bs", "a.com", {{"v1", true}, {"v3", true}}) == "+v3.a.com ");
  CHECK(set("bs", "a.com", {{"v1", true}, {"v3", false}}) == "-v3.a.com ");
  CHECK(set("as", "a.com", {}) == "-v2.a.com ");
  CHECK(set("bs", "b.com", {{"v1", true}}) == "+v1.b.com -v1.a.com ");
  defined.Remove("as");
  defined.Remove("none");
  CHECK(notes.Taken().empty());
  defined.Remove("bs");
  CHECK(notes.Taken() == "-v1.b.com ");
  defined.Follow(nullptr);
  CHECK(set("as", "a.com", {{"v1", true}}).empty());
}

TEST_CASE("apiextensions: a server tells which group versions are defined", "[apiextensions]") {
  ToldVersions notes;
  CustomServer server;
  REQUIRE(server.custom->WaitForSync(std::chrono::seconds(10)));
  server.custom->Follow(notes.Told());
  server.Define(FooDefinition());
  CHECK(notes.Say("+v1.example.com "));
  const std::string path = std::string(kDefinitions) + "/foos.example.com";
  CHECK(server.Call("DELETE", path).code == 200);
  CHECK(Eventually([&] { return notes.Say("+v1.example.com -v1.example.com "); }));
  server.server = nullptr;
  server.custom->Follow(notes.Told());
  CHECK(notes.Say("+v1.example.com -v1.example.com "));
}
