#include "apiserver/apiextensions/definition.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiextensions/definitions.h"

namespace {

using namespace apiserver;
using namespace apiserver::apiextensions;
using runtime::Object;

using apiextensions_test::DefinitionOf;
using apiextensions_test::JsonOf;

// A definition with a version for each of `versions`, which are JSON without braces.
std::string Crontabs(const std::string& versions, const std::string& more = "") {
  return R"({"metadata":{"name":"crontabs.example.com"},"spec":{"group":"example.com",
    "names":{"plural":"crontabs","kind":"CronTab"},"scope":"Namespaced","versions":[)" +
         versions + "]" + more + "}}";
}
const std::string kV1 =
    R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}})";

const rest::Strategy& Main() {
  static const server::Resource resource = apiextensions::DefinitionResource();
  return *resource.strategy;
}
const rest::Strategy& StatusOf() {
  static const server::Resource resource = apiextensions::DefinitionResource();
  return *resource.status_strategy;
}

TEST_CASE("apiextensions: the kind has the names and the scope of upstream") {
  const runtime::KindPtr kind = DefinitionKind();
  CHECK(kind->group() == "apiextensions.k8s.io");
  CHECK(kind->plural() == "customresourcedefinitions");
  CHECK(kind->singular() == "customresourcedefinition");
  CHECK(kind->list_kind() == "CustomResourceDefinitionList");
  CHECK(kind->short_names() == std::vector<std::string>{"crd", "crds"});
  CHECK(kind->categories() == std::vector<std::string>{"api-extensions"});
  CHECK_FALSE(kind->namespaced());
  CHECK(kind->FindVersion("v1")->status_subresource == true);
  CHECK(kind == DefinitionKind());
}

// SetDefaults_CustomResourceDefinition
TEST_CASE("apiextensions: a definition gets the defaults of v1") {
  const auto crd = DefinitionOf(Crontabs(kV1));
  CHECK(JsonOf(crd->root()) ==
        R"({"metadata":{"name":"crontabs.example.com"},"spec":{"group":"example.com","names":)"
        R"({"plural":"crontabs","singular":"crontab","kind":"CronTab","listKind":"CronTabList"},)"
        R"("scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,)"
        R"("schema":{"openAPIV3Schema":{"type":"object"}}}],"conversion":{"strategy":"None"}},)"
        R"("status":{"conditions":null,"acceptedNames":{"plural":"","kind":""},)"
        R"("storedVersions":["v1"]}})");
}

TEST_CASE("apiextensions: the port of a conversion's service is 443 by default") {
  const auto crd = DefinitionOf(
      Crontabs(kV1,
               R"(,"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],
          "clientConfig":{"service":{"namespace":"a","name":"b"}}}})"));
  CHECK(JsonOf((*crd)["spec"]["conversion"]) ==
        R"({"strategy":"Webhook","webhook":{"clientConfig":{"service":{"namespace":"a","name":"b",)"
        R"("port":443}},"conversionReviewVersions":["v1"]}})");
}

TEST_CASE("apiextensions: given names and an existing state get no defaults") {
  const auto crd = DefinitionOf(
      R"({"spec":{"names":{"plural":"a","singular":"one","kind":"A","listKind":"Many"},
          "conversion":{"strategy":""},"versions":[{"name":"v2","storage":true}]},
          "status":{"storedVersions":["v1"]}})");
  CHECK((*crd)["spec"]["names"]["singular"].AsString() == "one");
  CHECK((*crd)["spec"]["names"]["listKind"].AsString() == "Many");
  CHECK(JsonOf((*crd)["spec"]["conversion"]) == R"({"strategy":""})");
  CHECK(JsonOf((*crd)["status"]["storedVersions"]) == R"(["v1"])");
}

TEST_CASE("apiextensions: a create begins with a status and a generation of the server's") {
  auto crd = DefinitionOf(
      R"({"metadata":{"name":"a","generation":7},"spec":{"versions":[{"name":"v1"},
          {"name":"v2","storage":true}]},"status":{"storedVersions":["v9"],
          "conditions":[{"type":"Established","status":"True"}]}})");
  Main().PrepareForCreate(Context::Background(), *crd);
  CHECK(crd->generation() == 1);
  CHECK(JsonOf((*crd)["status"]) ==
        R"({"conditions":null,"acceptedNames":{"plural":"","kind":""},"storedVersions":["v2"]})");
}

TEST_CASE("apiextensions: an update keeps the status and adds a new storage version") {
  const auto old = DefinitionOf(
      R"({"metadata":{"name":"a","generation":3},"spec":{"versions":[{"name":"v1","storage":true}]},
          "status":{"acceptedNames":{"plural":"a","kind":"A"},"storedVersions":["v1"]}})");
  auto same = old->Clone();
  same->Edit("status", "acceptedNames", "plural") = "b";
  Main().PrepareForUpdate(Context::Background(), *same, *old);
  CHECK(same->generation() == 3);
  CHECK((*same)["status"] == (*old)["status"]);

  auto next = DefinitionOf(R"({"metadata":{"name":"a"},"spec":{"versions":[{"name":"v1"},)"
                           R"({"name":"v2","storage":true}]}})");
  Main().PrepareForUpdate(Context::Background(), *next, *old);
  CHECK(next->generation() == 4);
  CHECK(JsonOf((*next)["status"]) ==
        R"({"conditions":null,"acceptedNames":{"plural":"a","kind":"A"},)"
        R"("storedVersions":["v1","v2"]})");
}

TEST_CASE("apiextensions: the status subresource restores the spec and keeps metadata") {
  const auto old =
      DefinitionOf(R"({"metadata":{"name":"a","finalizers":["x/y"]},"spec":{"group":"a.b"}})");
  auto next = DefinitionOf(
      R"({"metadata":{"name":"a","labels":{"k":"v"}},"spec":{"group":"c.d"},
          "status":{"acceptedNames":{"plural":"p","kind":"K"}}})");
  StatusOf().PrepareForUpdate(Context::Background(), *next, *old);
  CHECK((*next)["spec"]["group"].AsString() == "a.b");
  CHECK(next->finalizers().size() == 0);
  CHECK(next->labels()["k"].AsString() == "v");
  CHECK((*next)["status"]["acceptedNames"]["plural"].AsString() == "p");
}

TEST_CASE("apiextensions: strategies say what they reset and how they may be written") {
  const rest::ResetFields main = {{"apiextensions.k8s.io/v1", {{"status"}}},
                                  {"apiextensions.k8s.io/v1beta1", {{"status"}}}};
  const rest::ResetFields status = {{"apiextensions.k8s.io/v1", {{"metadata"}, {"spec"}}},
                                    {"apiextensions.k8s.io/v1beta1", {{"metadata"}, {"spec"}}}};
  CHECK(Main().GetResetFields() == main);
  CHECK(StatusOf().GetResetFields() == status);
  CHECK_FALSE(Main().NamespaceScoped());
  CHECK_FALSE(Main().AllowCreateOnUpdate());
  CHECK_FALSE(Main().AllowUnconditionalUpdate());
}

std::string WithFormats(const std::string& first, const std::string& second) {
  return R"({"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object",
    "properties":{"a":{"type":"string","format":")" +
         first + R"("},"b":{"type":"integer","format":"other"},"c":{"type":"array","items":
         {"type":"string","format":")" +
         second + R"("}}}}}}]}})";
}

// TestWarningsOnCreate, TestWarningsOnUpdate
TEST_CASE("apiextensions: formats that are not checked are warned about once") {
  const auto known = DefinitionOf(WithFormats("date-time", "k8s-short-name"));
  CHECK(Main().WarningsOnCreate(Context::Background(), *known).empty());
  const auto odd = DefinitionOf(WithFormats("odd", "even"));
  const std::vector<std::string> both = {"unrecognized format \"even\"",
                                         "unrecognized format \"odd\""};
  std::vector<std::string> warnings = Main().WarningsOnCreate(Context::Background(), *odd);
  std::sort(warnings.begin(), warnings.end());
  CHECK(warnings == both);
  const auto next = DefinitionOf(WithFormats("odd", "odder"));
  CHECK(Main().WarningsOnUpdate(Context::Background(), *next, *odd) ==
        std::vector<std::string>{"unrecognized format \"odder\""});
  CHECK(StatusOf().WarningsOnUpdate(Context::Background(), *next, *odd).empty());
}

TEST_CASE("apiextensions: conditions are appended, then replaced in place") {
  auto crd = DefinitionOf(Crontabs(kV1));
  const auto at = [](int seconds) {
    return std::chrono::system_clock::time_point(std::chrono::seconds(seconds));
  };
  SetCondition(*crd, {.type = "NamesAccepted", .status = true, .reason = "NoConflicts"}, at(1));
  SetCondition(*crd, {.type = "Established", .reason = "Installing", .message = "m"}, at(2));
  CHECK_FALSE(IsConditionTrue(*crd, apiextensions::kEstablished));
  SetCondition(*crd, {.type = "NamesAccepted", .status = true, .reason = "Other"}, at(3));
  SetCondition(*crd, {.type = "Established", .status = true}, at(4));
  CHECK(JsonOf((*crd)["status"]["conditions"]) ==
        R"([{"type":"NamesAccepted","status":"True","lastTransitionTime":"1970-01-01T00:00:01Z",)"
        R"("reason":"Other"},{"type":"Established","status":"True",)"
        R"("lastTransitionTime":"1970-01-01T00:00:04Z"}])");
  CHECK(IsConditionTrue(*crd, apiextensions::kEstablished));
  RemoveCondition(*crd, apiextensions::kNamesAccepted);
  RemoveCondition(*crd, apiextensions::kTerminating);
  CHECK((*crd)["status"]["conditions"].size() == 1);
  CHECK(FindCondition(*crd, apiextensions::kNamesAccepted).is_null());
}

TEST_CASE("apiextensions: versions are found by name and by their mark") {
  const auto crd = DefinitionOf(Crontabs(R"({"name":"v2"},)" + kV1));
  CHECK(apiextensions::StorageVersionOf(*crd) == "v1");
  CHECK(FindVersion(*crd, "v1")["served"].AsBool());
  CHECK(FindVersion(*crd, "v3").is_null());
  CHECK(apiextensions::SchemaOf(FindVersion(*crd, "v1"))["type"].AsString() == "object");
  CHECK(apiextensions::SchemaOf(FindVersion(*crd, "v2")).is_null());
}

// TestGetAPIApprovalState
TEST_CASE("apiextensions: groups of Kubernetes need an approval") {
  CHECK(apiextensions::IsProtectedGroup("k8s.io"));
  CHECK(apiextensions::IsProtectedGroup("a.kubernetes.io"));
  CHECK_FALSE(apiextensions::IsProtectedGroup("ak8s.io"));
  struct Row {
    const char* annotation;
    apiextensions::ApiApproval state;
    const char* reason;
  };
  const Row rows[] = {
      {"", apiextensions::ApiApproval::kMissing,
       "protected groups must have approval annotation \"api-approved.kubernetes.io\", see "
       "https://github.com/kubernetes/enhancements/pull/1111"},
      {"unapproved, squatting", apiextensions::ApiApproval::kBypassed,
       "not approved: \"unapproved, squatting\""},
      {"https://x.y/z", apiextensions::ApiApproval::kApproved, "approved in https://x.y/z"},
      {"/just/a/path", apiextensions::ApiApproval::kInvalid,
       "protected groups must have approval annotation \"api-approved.kubernetes.io\" with either "
       "a URL or a reason starting with \"unapproved\", see "
       "https://github.com/kubernetes/enhancements/pull/1111"}};
  for (const Row& row : rows) {
    const auto crd = DefinitionOf(std::string(R"({"metadata":{"annotations":
        {"api-approved.kubernetes.io":")") +
                                  row.annotation + "\"}}}");
    std::string reason;
    CHECK(ApiApprovalOf(*crd, reason) == row.state);
    CHECK(reason == row.reason);
  }
}

TEST_CASE("apiextensions: a table shows what kubectl get crd prints") {
  std::shared_ptr<Object> crd = DefinitionOf(Crontabs(
      R"({"name":"v2","served":true,"storage":true},{"name":"v1","served":true},{"name":"v0"})"));
  crd->Edit("metadata", "creationTimestamp") = "2026-01-02T03:04:05Z";
  registry::StoreOptions options;
  apiextensions::DefinitionResource().configure(options);
  const Result<meta::Table> table =
      options.table_convertor->ConvertToTable(Context::Background(), {crd}, meta::TableOptions{});
  REQUIRE(table.ok());
  std::string headers;
  for (const auto& column : table->columns) headers += column.name + ";";
  CHECK(headers == "Name;Scope;Versions;Created At;Group;Kind;ShortNames;Established;");
  std::string cells;
  for (const runtime::Value& cell : table->rows.at(0).cells) cells += JsonOf(cell);
  CHECK(cells == R"-("crontabs.example.com""Namespaced""v1,v2(storage)""2026-01-02T03:04:05Z")-"
                 R"("example.com""CronTab"""false)");
}

}  // namespace
