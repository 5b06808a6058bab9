// Tests what discovery and OpenAPI are told of definitions as they come, change and go.

#include "apiextensions/documents/catalog.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apiextensions/documents/documents.h"
#include "apiserver/codec/json.h"
#include "apiserver/openapi/spec.h"
#include "apiserver/runtime/kind.h"

namespace {

using apiserver::apiextensions::Catalog;
using apiserver::apiextensions::DiscoveryRowsOf;
using apiserver::apiextensions::NewFragment;
using apiserver::discovery::APIResource;
using apiserver::openapi::Format;
using apiserver::runtime::Arena;
using apiserver::runtime::Kind;
using apiserver::runtime::KindPtr;
using apiserver::runtime::Object;
using apiserver::runtime::ObjectPtr;
using apiserver::runtime::Value;
using Strings = std::vector<std::string>;

// A stand-in for the kind of definitions, which keeps whatever they say.
KindPtr AnyDefinitionKind() {
  return Kind::Untyped({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"});
}

// What a test says of a definition.
struct Says {
  std::string plural = "foos";
  std::string group = "example.com";
  std::string kind = "Foo";
  std::string versions = R"([{"name":"v1","served":true,"storage":true}])";
  std::string conditions = R"([{"type":"Established","status":"True"}])";
  std::string more = "";  // Members of metadata.
};

std::string JsonOfDefinition(const Says& says) {
  const std::string names = R"({"plural":")" + says.plural + R"(","singular":"foo","kind":")" +
                            says.kind + R"(","listKind":")" + says.kind +
                            R"(List",)"
                            R"("shortNames":["f"],"categories":["all"]})";
  return R"({"metadata":{"name":")" + says.plural + "." + says.group + "\"" + says.more +
         R"(},"spec":{"group":")" + says.group + R"(","scope":"Namespaced","names":)" + names +
         R"(,"versions":)" + says.versions + R"(},"status":{"acceptedNames":)" + names +
         R"(,"conditions":)" + says.conditions + "}}";
}

ObjectPtr DefinitionThat(const Says& says) {
  auto object = std::make_unique<Object>(AnyDefinitionKind(), "v1");
  const std::string json = JsonOfDefinition(says);
  const Value root =
      apiserver::codec::ParseJson(object->arena().Copy(json), object->arena()).value();
  object->SetRoot(root);
  return object;
}

Strings NamesOf(const std::vector<APIResource>& rows) {
  Strings names;
  for (const APIResource& row : rows) names.push_back(row.name);
  return names;
}

Strings VersionNames(const Catalog& catalog, std::string_view group) {
  Strings names;
  const auto found = catalog.FindGroup(group);
  if (!found) return names;
  for (const auto& version : found->versions) names.push_back(version.version);
  return names;
}

}  // namespace

// DiscoveryController.sync
TEST_CASE("documents: rows of discovery are upstream's", "[apiextensions][documents]") {
  Arena arena;
  const std::string json = JsonOfDefinition(
      {.versions = R"([{"name":"v2","served":true,"storage":true,)"
                   R"("subresources":{"status":{},"scale":{"specReplicasPath":".spec.n"}}},)"
                   R"({"name":"v1","served":false,"storage":false}])"});
  const Value definition = apiserver::codec::ParseJson(json, arena).value();

  const auto rows = DiscoveryRowsOf(definition, "v2");

  REQUIRE(NamesOf(rows) == Strings{"foos", "foos/status", "foos/scale"});
  CHECK(rows[0].singular_name == "foo");
  CHECK(rows[0].namespaced);
  CHECK(rows[0].verbs ==
        Strings{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"});
  CHECK(rows[0].short_names == Strings{"f"});
  CHECK(rows[0].categories == Strings{"all"});
  CHECK(rows[0].storage_version_hash ==
        apiserver::discovery::StorageVersionHash({"example.com", "v2", "Foo"}));
  CHECK(rows[1].verbs == Strings{"get", "patch", "update"});
  CHECK(rows[1].kind == "Foo");
  CHECK(rows[1].singular_name.empty());
  CHECK(rows[2].kind == "Scale");
  CHECK(rows[2].group == "autoscaling");
  CHECK(rows[2].version == "v1");
  CHECK(DiscoveryRowsOf(definition, "v1").empty());
  CHECK(DiscoveryRowsOf(definition, "v3").empty());
}

TEST_CASE("documents: a definition that is deleted shows no verb that writes",
          "[apiextensions][documents]") {
  Arena arena;
  const std::string json =
      JsonOfDefinition({.versions = R"([{"name":"v1","served":true,"storage":false},)"
                                    R"({"name":"v0","served":false,"storage":true}])",
                        .conditions = R"([{"type":"Terminating","status":"True"}])"});
  const auto rows = DiscoveryRowsOf(apiserver::codec::ParseJson(json, arena).value(), "v1");

  REQUIRE(rows.size() == 1);
  CHECK(rows[0].verbs == Strings{"delete", "deletecollection", "get", "list", "watch"});
  // The stored version is not served.
  CHECK(rows[0].storage_version_hash.empty());
}

TEST_CASE("documents: groups come with their first version and go with their last",
          "[apiextensions][documents]") {
  Catalog catalog;
  CHECK(catalog.Groups().empty());

  catalog.Set(DefinitionThat({.conditions = "[]"}));
  CHECK(catalog.Groups().empty());
  CHECK(catalog.generation() == 0);

  catalog.Set(DefinitionThat({}));
  CHECK(VersionNames(catalog, "example.com") == Strings{"v1"});
  catalog.Set(DefinitionThat(
      {.plural = "bars",
       .versions = R"([{"name":"alpha","served":true},{"name":"v1beta1","served":true},)"
                   R"({"name":"v1alpha1","served":true},{"name":"v2","served":true}])"}));
  CHECK(VersionNames(catalog, "example.com") ==
        Strings{"v2", "v1", "v1beta1", "v1alpha1", "alpha"});
  catalog.Set(DefinitionThat({.plural = "boos", .group = "a.example.com"}));
  REQUIRE(catalog.Groups().size() == 2);
  CHECK(catalog.Groups()[0].name == "a.example.com");

  catalog.Set(DefinitionThat(
      {.plural = "bars", .versions = R"([{"name":"v2","served":false,"storage":true}])"}));
  CHECK(VersionNames(catalog, "example.com") == Strings{"v1"});
  catalog.Remove("foos.example.com");
  CHECK_FALSE(catalog.FindGroup("example.com").has_value());
  CHECK(catalog.Groups().size() == 1);
  catalog.Remove("nobody.example.com");
}

TEST_CASE("documents: what shows in no document is no change of them",
          "[apiextensions][documents]") {
  Catalog catalog;
  catalog.Set(DefinitionThat({}));
  const auto before = catalog.generation();

  catalog.Set(DefinitionThat({.more = R"(,"labels":{"a":"b"},"resourceVersion":"7")"}));
  CHECK(catalog.generation() == before);

  catalog.Set(DefinitionThat({.versions = R"([{"name":"v1","served":true,"storage":true,)"
                                          R"("schema":{"openAPIV3Schema":{"type":"object"}}}])"}));
  const auto described = catalog.generation();
  CHECK(described > before);
  catalog.Set(DefinitionThat({.conditions = R"([{"type":"Established","status":"True"},)"
                                            R"({"type":"Terminating","status":"True"}])"}));
  CHECK(catalog.generation() > described);
}

TEST_CASE("documents: a schema that is not structural is not published",
          "[apiextensions][documents]") {
  const std::string versions = R"([{"name":"v1","served":true,"schema":{"openAPIV3Schema":)"
                               R"({"type":"object","description":"Of a foo."}}}])";
  const auto published = [&versions](const std::string& more) {
    Catalog catalog;
    catalog.Set(
        DefinitionThat({.versions = versions,
                        .conditions = R"([{"type":"Established","status":"True"})" + more + "]"}));
    std::string definitions;
    catalog.Fragments("example.com", "v1").at(0)->AppendDefinitions(Format::kV3, definitions);
    return definitions;
  };

  CHECK(published("").find("Of a foo.") != std::string::npos);
  const std::string bare = published(R"(,{"type":"NonStructuralSchema","status":"True"})");
  CHECK(bare.find("Of a foo.") == std::string::npos);
  CHECK(bare.starts_with(R"("com.example.v1.Foo":{"type":"object","x-kubernetes-group-)"));
}

TEST_CASE("documents: a fragment is known by its inputs", "[apiextensions][documents]") {
  const auto one = NewFragment(DefinitionThat({}), "v1");
  const auto same = NewFragment(DefinitionThat({.more = R"(,"generation":3)"}), "v1");
  const auto other = NewFragment(
      DefinitionThat({.versions = R"([{"name":"v1","subresources":{"status":{}}}])"}), "v1");

  REQUIRE(one);
  CHECK(one->hash().size() == 128);
  CHECK(one->hash() == same->hash());
  CHECK(one->hash() != other->hash());
  // Texts that are the same one behind the other are told apart, and so are numbers from texts.
  std::set<std::string> hashes;
  for (const std::string schema :
       {R"({"title":"ab","description":"c"})", R"({"title":"a","description":"bc"})",
        R"({"enum":[1,2]})", R"({"enum":["1",2]})", R"({"enum":[[1],2]})", R"({"enum":[[1,2]]})"}) {
    const std::string versions = R"([{"name":"v1","schema":{"openAPIV3Schema":)" + schema + "}}]";
    hashes.emplace(NewFragment(DefinitionThat({.versions = versions}), "v1")->hash());
  }
  CHECK(hashes.size() == 6);
  CHECK_FALSE(NewFragment(DefinitionThat({}), "v9"));
  std::map<std::string, std::string> parameters;
  std::string paths;
  other->AppendPaths(Format::kV3, paths, parameters);
  CHECK(paths.find("/foos/{name}/status") != std::string::npos);
  CHECK(parameters.empty());
  CHECK(one->Kinds().empty());
  const auto scaled = NewFragment(
      DefinitionThat({.versions = R"([{"name":"v1","subresources":{"scale":{}}}])"}), "v1");
  CHECK(scaled->Kinds().size() == 1);
  CHECK(scaled->References().size() == one->References().size() + 1);
}

TEST_CASE("documents: all fragments of a group version are in one document",
          "[apiextensions][documents]") {
  Catalog catalog;
  catalog.Set(DefinitionThat({}));
  catalog.Set(DefinitionThat({.plural = "bars", .kind = "Bar"}));
  catalog.Set(DefinitionThat({.plural = "boos", .group = "a.example.com"}));

  CHECK(catalog.Fragments("example.com", "v1").size() == 2);
  CHECK(catalog.Fragments("example.com", "v2").empty());
  CHECK(catalog.Fragments("b.example.com", "v1").empty());
  const apiserver::openapi::Input input{
      .info = {}, .kinds = {}, .routes = {}, .fragments = catalog.Fragments("example.com", "v1")};
  // Each of the paths and definitions is separated from those of the other.
  CHECK(apiserver::openapi::Lint(apiserver::openapi::BuildV3(input).json).empty());
  CHECK(apiserver::openapi::Lint(apiserver::openapi::BuildV2(input).json).empty());
  const auto all = catalog.AllFragments();
  REQUIRE(all.size() == 2);
  CHECK(all.at({"a.example.com", "v1"}).size() == 1);
}
