#include "apiserver/aggregator/api_service.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "aggregator/kind/validation.h"
#include "apiserver/codec/json.h"
#include "apiserver/runtime/settle.h"
#include "apiserver/testing/server/test_server.h"

namespace aggregator_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using runtime::Object;
using runtime::Value;

std::unique_ptr<Object> APIServiceOf(const std::string& json) {
  runtime::Arena arena;
  auto text = std::make_shared<const std::string>(json);
  arena.Pin(text);
  const Result<Value> root = codec::ParseJson(*text, arena);
  INFO(json);
  REQUIRE(root.ok());
  auto object =
      std::make_unique<Object>(aggregator::APIServiceKind(), "v1", std::move(arena), *root);
  REQUIRE(runtime::Settle(*object).ok());
  return object;
}

std::string JsonOfValue(const Value& value) {
  std::string json;
  codec::AppendJson(value, json);
  return json;
}

std::string Named(const std::string& name, const std::string& spec, const std::string& more = "") {
  return R"({"metadata":{"name":")" + name + R"("},"spec":{)" + spec + "}" + more + "}";
}

constexpr char kPriorities[] = R"(,"groupPriorityMinimum":1000,"versionPriority":15)";

// A valid APIService of v1 of example.com, whose service is `service`.
std::string Remote(const std::string& service = R"("namespace":"ns","name":"api")",
                   const std::string& more = "") {
  return Named("v1.example.com", R"("group":"example.com","version":"v1","service":{)" + service +
                                     "}" + kPriorities + more);
}

std::vector<std::string> Messages(const field::ErrorList& errors) {
  std::vector<std::string> messages;
  for (const field::Error& error : errors) messages.push_back(error.Message());
  return messages;
}

const rest::Strategy& MainStrategy() {
  static const server::Resource resource = aggregator::APIServiceResource();
  return *resource.strategy;
}
const rest::Strategy& StatusStrategyOf() {
  static const server::Resource resource = aggregator::APIServiceResource();
  return *resource.status_strategy;
}

TEST_CASE("aggregator: the kind APIService has the names and the scope of upstream") {
  const runtime::KindPtr kind = aggregator::APIServiceKind();
  CHECK(kind->gvk("v1").group_version().ToString() == "apiregistration.k8s.io/v1");
  CHECK(kind->plural() == "apiservices");
  CHECK(kind->singular() == "apiservice");
  CHECK(kind->list_kind() == "APIServiceList");
  CHECK(kind->short_names().empty());
  CHECK(kind->categories() == std::vector<std::string>{"api-extensions"});
  CHECK_FALSE(kind->namespaced());
  CHECK(kind->storage_version() == "v1");
  CHECK(kind->FindVersion("v1")->status_subresource == true);
}

// SetDefaults_ServiceReference; and what encoding/json writes of Go's types.
TEST_CASE("aggregator: the port of an APIService is 443 by default") {
  CHECK(JsonOfValue(APIServiceOf(Remote())->root()) ==
        R"({"metadata":{"name":"v1.example.com"},"spec":{"service":{"namespace":"ns",)"
        R"("name":"api","port":443},"group":"example.com","version":"v1",)"
        R"("groupPriorityMinimum":1000,"versionPriority":15},"status":{}})");
  const auto given = APIServiceOf(Remote(R"("namespace":"ns","name":"api","port":6443)"));
  CHECK((*given)["spec"]["service"]["port"].AsInt() == 6443);
  CHECK(JsonOfValue(APIServiceOf(R"({"metadata":{"name":"v1."}})")->root()) ==
        R"({"metadata":{"name":"v1."},"spec":{"groupPriorityMinimum":0,"versionPriority":0},)"
        R"("status":{}})");
}

struct ValidationCase {
  std::string name;
  std::string json;
  std::vector<std::string> errors = {};
};

// ValidateAPIService
TEST_CASE("aggregator: an APIService is judged in upstream's words") {
  const std::string priorities = kPriorities;
  const std::string ca = R"(,"caBundle":"eHl6")";
  const std::string insecure = R"(,"insecureSkipTLSVerify":true)";
  const std::string local = R"("group":"example.com","version":"v1")" + priorities;
  const std::vector<ValidationCase> cases{
      {"a remote one", Remote()},
      {"a local one", Named("v1.example.com", local)},
      {"the legacy group", Named("v1.", R"("version":"v1")" + priorities)},
      {"another name",
       Named("v1.other.com", local),
       {"metadata.name: Invalid value: \"v1.other.com\": must be "
        "`spec.version+\".\"+spec.group`: \"v1.example.com\""}},
      {"a name that is no segment of a path",
       Named("v1/example.com", local),
       {R"(metadata.name: Invalid value: "v1/example.com": may not contain '/')"}},
      {"the legacy group in another version",
       Named("v2.", R"("version":"v2")" + priorities),
       {"spec.group: Required value: only v1 may have an empty group and it better be legacy "
        "kube"}},
      {"a group and a version that are none",
       Named("V1.Example", R"("group":"Example","version":"V1")" + priorities),
       {"spec.group: Invalid value: \"Example\": a lowercase RFC 1123 subdomain must consist of "
        "lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "spec.version: Invalid value: \"V1\": a DNS-1035 label must consist of lower case "
        "alphanumeric characters or '-', start with an alphabetic character, and end with an "
        "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
        "'[a-z]([-a-z0-9]*[a-z0-9])?')"}},
      {"priorities that are too low",
       Named("v1.example.com", R"("group":"example.com","version":"v1")"),
       {"spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
        "spec.versionPriority: Invalid value: 0: must be positive and less than 1000"}},
      {"priorities that are too high",
       Named("v1.example.com",
             R"("group":"example.com","version":"v1","groupPriorityMinimum":20001,)"
             R"("versionPriority":1001)"),
       {"spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000",
        "spec.versionPriority: Invalid value: 1001: must be positive and less than 1000"}},
      {"the highest priorities",
       Named("v1.example.com",
             R"("group":"example.com","version":"v1","groupPriorityMinimum":20000,)"
             R"("versionPriority":1000)")},
      {"a local one with a bundle, trusting all",
       Named("v1.example.com", local + ca + insecure),
       {"spec.caBundle: Invalid value: \"3 bytes\": local APIServices may not have a caBundle",
        "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have "
        "insecureSkipTLSVerify"}},
      {"a service without names",
       Remote(R"("port":0)"),
       {"spec.service.namespace: Required value", "spec.service.name: Required value",
        "spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, "
        "inclusive"}},
      {"a port that is too high",
       Remote(R"("namespace":"ns","name":"api","port":65536)"),
       {"spec.service.port: Invalid value: 65536: port is not valid: must be between 1 and 65535, "
        "inclusive"}},
      {"a bundle", Remote(R"("namespace":"ns","name":"api")", ca)},
      {"trusting all", Remote(R"("namespace":"ns","name":"api")", insecure)},
      {"a bundle and trusting all",
       Remote(R"("namespace":"ns","name":"api")", ca + insecure),
       {"spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is "
        "present"}},
  };
  for (const ValidationCase& each : cases) {
    CAPTURE(each.name);
    CHECK(Messages(aggregator::ValidateAPIService(*APIServiceOf(each.json))) == each.errors);
  }
}

TEST_CASE("aggregator: an update of an APIService keeps its name and is judged as a whole") {
  const auto old = APIServiceOf(Remote());
  const auto now = APIServiceOf(Remote(R"("namespace":"ns")"));
  old->Edit("metadata", "resourceVersion") = "1";
  now->Edit("metadata", "resourceVersion") = "1";
  CHECK(Messages(aggregator::ValidateAPIServiceUpdate(*now, *old)) ==
        std::vector<std::string>{"spec.service.name: Required value"});
}

TEST_CASE("aggregator: conditions are True, False or Unknown") {
  const auto old = APIServiceOf(Remote());
  old->Edit("metadata", "resourceVersion") = "1";
  const auto now = old->Clone();
  aggregator::SetCondition(*now, {.type = "Available", .status = "Maybe"}, {});
  aggregator::SetCondition(*now, {.type = "Other", .status = "Unknown"}, {});
  CHECK(Messages(aggregator::ValidateAPIServiceStatusUpdate(*now, *old)) ==
        std::vector<std::string>{
            "status.conditions[0].status: Unsupported value: \"Maybe\": supported values: "
            "\"True\", \"False\", \"Unknown\""});
}

// TestGetAPIServiceConditionByType, TestIsAPIServiceConditionTrue, TestSetAPIServiceCondition of
// helpers_test.go.
TEST_CASE("aggregator: conditions are found, and replaced by type") {
  const auto service = APIServiceOf(Remote());
  const auto at = [](int seconds) {
    return std::chrono::system_clock::time_point(std::chrono::seconds(seconds));
  };
  const auto condition_a = [&] { return JsonOfValue(aggregator::FindCondition(*service, "A")); };
  CHECK(condition_a() == "null");
  CHECK_FALSE(aggregator::IsConditionTrue(*service, "A"));

  aggregator::SetCondition(*service, {"A", "True", "a reason", "a message"}, at(1));
  aggregator::SetCondition(*service, {"B", "False", "b reason", "b message"}, at(2));
  CHECK(condition_a() ==
        R"({"type":"A","status":"True","lastTransitionTime":"1970-01-01T00:00:01Z",)"
        R"("reason":"a reason","message":"a message"})");
  CHECK(aggregator::IsConditionTrue(*service, "A"));
  CHECK_FALSE(aggregator::IsConditionTrue(*service, "B"));

  // The time is that of the last change of the status.
  aggregator::SetCondition(*service, {"A", "True", "a2 reason"}, at(3));
  CHECK(condition_a() ==
        R"({"type":"A","status":"True","lastTransitionTime":"1970-01-01T00:00:01Z",)"
        R"("reason":"a2 reason"})");
  aggregator::SetCondition(*service, {"A", "Unknown"}, at(4));
  CHECK(condition_a() ==
        R"({"type":"A","status":"Unknown","lastTransitionTime":"1970-01-01T00:00:04Z"})");
  CHECK((*service)["status"]["conditions"].size() == 2);
}

TEST_CASE("aggregator: a new APIService is Available at once if it is local") {
  const Context ctx = Context::Background();
  const auto remote = APIServiceOf(Remote());
  aggregator::SetCondition(*remote, {"Available", "True"}, {});
  MainStrategy().PrepareForCreate(ctx, *remote);
  CHECK(JsonOfValue((*remote)["status"]) == "{}");

  const auto local = APIServiceOf(R"({"metadata":{"name":"v1."},"spec":{"version":"v1"}})");
  MainStrategy().PrepareForCreate(ctx, *local);
  const Value condition = aggregator::FindCondition(*local, aggregator::kAvailable);
  CHECK(condition["status"].AsString() == "True");
  CHECK(condition["reason"].AsString() == "Local");
  CHECK(condition["message"].AsString() == "Local APIServices are always available");
  CHECK_FALSE(condition["lastTransitionTime"].AsString().empty());
}

TEST_CASE("aggregator: an update keeps the status, one of the status everything else") {
  const Context ctx = Context::Background();
  const auto old = APIServiceOf(Remote());
  aggregator::SetCondition(*old, {"Available", "True"}, {});
  const auto make = [&] {
    auto now = APIServiceOf(Remote(R"("namespace":"other","name":"api")"));
    now->Edit("metadata", "labels", "a") = "b";
    aggregator::SetCondition(*now, {"Available", "False"}, {});
    return now;
  };
  const auto main = make();
  MainStrategy().PrepareForUpdate(ctx, *main, *old);
  CHECK((*main)["status"] == (*old)["status"]);
  CHECK((*main)["spec"]["service"]["namespace"].AsString() == "other");
  CHECK(main->labels()["a"].AsString() == "b");

  const auto status = make();
  StatusStrategyOf().PrepareForUpdate(ctx, *status, *old);
  CHECK(aggregator::FindCondition(*status, "Available")["status"].AsString() == "False");
  CHECK((*status)["spec"] == (*old)["spec"]);
  CHECK(status->labels().is_null());
  CHECK(MainStrategy().GetResetFields().at("apiregistration.k8s.io/v1") ==
        std::vector<std::vector<std::string>>{{"status"}});
}

// ConvertToTable of pkg/registry/apiservice/etcd.
TEST_CASE("aggregator: APIServices are served with their columns, their status and in protobuf") {
  constexpr char kPath[] = "/apis/apiregistration.k8s.io/v1/apiservices";
  auto server = testing::StartTestServer({.kinds = {aggregator::APIServiceResource()}});
  REQUIRE(server.ok());
  const auto post = [&](std::string body) {
    body.insert(1, R"("apiVersion":"apiregistration.k8s.io/v1","kind":"APIService",)");
    return (*server)->Call("POST", kPath, std::move(body)).code;
  };
  CHECK(post(Remote()) == 201);
  CHECK(post(Named("v1.", R"("version":"v1")" + std::string(kPriorities))) == 201);
  CHECK(post(Named("v2.", R"("version":"v2")" + std::string(kPriorities))) == 422);
  const auto written = (*server)->Call(
      "PATCH", std::string(kPath) + "/v1.example.com/status",
      R"({"status":{"conditions":[{"type":"Available","status":"False","reason":"Why"}]}})",
      {{"Content-Type", "application/merge-patch+json"}});
  CHECK(written.code == 200);

  const auto table = (*server)->Call("GET", kPath, "",
                                     {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  runtime::Arena arena;
  const Value root = codec::ParseJson(arena.Copy(table.body), arena).value();
  std::vector<std::string> cells;
  for (const Value& column : root["columnDefinitions"].items()) {
    cells.emplace_back(column["name"].AsString());
  }
  for (const Value& row : root["rows"].items()) {
    for (std::size_t i = 0; i < 3; ++i) cells.emplace_back(row["cells"].at(i).AsString());
  }
  CHECK(cells == std::vector<std::string>{"Name", "Service", "Available", "Age", "v1.", "Local",
                                          "True", "v1.example.com", "ns/api", "False (Why)"});

  const auto message = (*server)->Call("GET", std::string(kPath) + "/v1.example.com", "",
                                       {{"Accept", "application/vnd.kubernetes.protobuf"}});
  CHECK(message.headers.Get("Content-Type") == "application/vnd.kubernetes.protobuf");
  // The spec as Go's Marshal writes it: fields by number, all that have no pointer.
  const std::string spec = std::string("\x0a\x0c\x0a\x02ns\x12\x03") + "api\x18\xbb\x03" +
                           "\x12\x0b" + "example.com\x1a\x02v1\x20" + std::string(1, '\0') +
                           "\x38\xe8\x07\x40\x0f";
  CHECK(message.body.find(spec) != std::string::npos);
}

}  // namespace
}  // namespace aggregator_test
