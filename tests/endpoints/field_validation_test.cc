// What POST, PUT and PATCH say of unknown and duplicate fields: the tables of
// k8s.io/kubernetes/test/integration/apiserver/field_validation_test.go.
#include <catch2/catch.hpp>
#include <regex>

#include "apiserver/codec/yaml.h"
#include "widget_server.h"

namespace {

using apiserver::http::ClientResponse;
using apiserver::testing::Contains;
using apiserver::testing::TestServer;
namespace runtime = apiserver::runtime;
using runtime::SchemaPtr;
using Strings = std::vector<std::string>;

// Whatever is asked for is stored.
class AnyStrategy final : public apiserver::rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  apiserver::field::ErrorList Validate(const apiserver::Context&,
                                       const runtime::Object&) const override {
    return {};
  }
};

SchemaPtr Merged(const SchemaPtr& list, const std::string& key) {
  auto tagged = std::make_shared<runtime::Schema>(*list);
  tagged->patch_strategy = "merge";
  tagged->patch_merge_key = key;
  return tagged;
}

// As much of apps/v1 Deployment as the tables need.
runtime::KindPtr DeploymentKind() {
  const auto labels = runtime::MapOf(runtime::StringSchema());
  const auto container = runtime::StructBuilder("io.k8s.api.core.v1.Container")
                             .Field("name", runtime::StringSchema())
                             .Field("image", runtime::StringSchema())
                             .Field("imagePullPolicy", runtime::StringSchema())
                             .Build();
  const auto pod = runtime::StructBuilder("io.k8s.api.core.v1.PodSpec")
                       .Field("containers", Merged(runtime::ListOf(container), "name"))
                       .Build();
  const auto pod_template = runtime::StructBuilder("io.k8s.api.core.v1.PodTemplateSpec")
                                .Field("metadata", runtime::ObjectMetaSchema())
                                .Field("spec", pod)
                                .Build();
  const auto selector = runtime::StructBuilder("io.k8s.apimachinery.v1.LabelSelector")
                            .Field("matchLabels", labels)
                            .Build();
  const auto spec = runtime::StructBuilder("io.k8s.api.apps.v1.DeploymentSpec")
                        .Field("replicas", runtime::IntegerSchema(32))
                        .Field("selector", selector)
                        .Field("template", pod_template)
                        .Field("paused", runtime::BooleanSchema())
                        .Build();
  const auto schema = runtime::StructBuilder("io.k8s.api.apps.v1.Deployment")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("spec", spec)
                          .Build();
  return runtime::Kind::New({.group = "apps.example.com",
                             .kind = "Deployment",
                             .plural = "deployments",
                             .versions = {{.version = "v1", .schema = schema}}})
      .value();
}

// A custom resource whose spec keeps what it does not know, or not.
runtime::KindPtr CustomKind(const std::string& group, bool preserve) {
  const auto port = runtime::StructBuilder("")
                        .Field("containerPort", runtime::IntegerSchema(32))
                        .Field("hostIP", runtime::StringSchema())
                        .Field("hostPort", runtime::IntegerSchema(32))
                        .Field("name", runtime::StringSchema())
                        .Field("protocol", runtime::StringSchema())
                        .Build();
  const auto spec = std::make_shared<runtime::Schema>(
      *runtime::StructBuilder("")
           .Field("cronSpec", runtime::StringSchema())
           .Field("knownField1", runtime::StringSchema())
           .Field("ports", runtime::ListMapOf(port, {"containerPort", "protocol"}))
           .Build());
  spec->preserve_unknown_fields = preserve;
  const auto schema = runtime::StructBuilder("com." + group + ".v1beta1.Noxu")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("spec", spec)
                          .Build();
  return runtime::Kind::New({.group = group,
                             .kind = "Noxu",
                             .plural = "noxus",
                             .semantics = runtime::Semantics::kStructural,
                             .versions = {{.version = "v1beta1", .schema = schema}}})
      .value();
}

std::unique_ptr<TestServer> StartServer() {
  apiserver::testing::TestServerOptions options;
  const auto strategy = std::make_shared<AnyStrategy>();
  options.resources = {{DeploymentKind(), strategy},
                       {CustomKind("schema.example.com", false), strategy},
                       {CustomKind("schemaless.example.com", true), strategy}};
  return std::move(StartTestServer(std::move(options))).value();
}

const std::string kDeployments = "/apis/apps.example.com/v1/namespaces/default/deployments";
const std::string kSchema = "/apis/schema.example.com/v1beta1/namespaces/default/noxus";
const std::string kSchemaless = "/apis/schemaless.example.com/v1beta1/namespaces/default/noxus";

constexpr char kInvalidDeployment[] = R"({
  "apiVersion": "apps.example.com/v1",
  "kind": "Deployment",
  "metadata": {"name": "a", "labels": {"app": "nginx"}},
  "spec": {
    "unknown1": "val1",
    "unknownDupe": "valDupe",
    "unknownDupe": "valDupe2",
    "paused": true,
    "paused": false,
    "selector": {"matchLabels": {"app": "nginx"}},
    "template": {
      "metadata": {"labels": {"app": "nginx"}},
      "spec": {"containers": [{
        "name": "nginx",
        "image": "nginx:latest",
        "unknownNested": "val1",
        "imagePullPolicy": "Always",
        "imagePullPolicy": "Never"
      }]}
    }
  }
})";
constexpr char kInvalidDeploymentYaml[] = R"(apiVersion: apps.example.com/v1
kind: Deployment
metadata:
  name: a
  labels:
    app: nginx
spec:
  unknown1: val1
  unknownDupe: valDupe
  unknownDupe: valDupe2
  paused: true
  paused: false
  selector:
    matchLabels:
      app: nginx
  template:
    metadata:
      labels:
        app: nginx
    spec:
      containers:
      - name: nginx
        image: nginx:latest
        unknownNested: val1
        imagePullPolicy: Always
        imagePullPolicy: Never)";
constexpr char kValidDeployment[] = R"({
  "apiVersion": "apps.example.com/v1",
  "kind": "Deployment",
  "metadata": {"name": "a", "labels": {"app": "nginx"}},
  "spec": {
    "selector": {"matchLabels": {"app": "nginx"}},
    "template": {
      "metadata": {"labels": {"app": "nginx"}},
      "spec": {"containers": [
        {"name": "nginx", "image": "nginx:latest", "imagePullPolicy": "Always"}]}
    }
  }
})";
constexpr char kInvalidNoxu[] = R"({
  "kind": "Noxu",
  "metadata": {"name": "a"},
  "spec": {
    "unknown1": "val1",
    "unknownDupe": "valDupe",
    "unknownDupe": "valDupe2",
    "knownField1": "val1",
    "knownField1": "val2",
    "ports": [{
      "name": "portName",
      "containerPort": 8080,
      "protocol": "TCP",
      "hostPort": 8081,
      "hostPort": 8082,
      "unknownNested": "val"
    }]
  }
})";
constexpr char kInvalidNoxuYaml[] = R"(
kind: "Noxu"
metadata:
  name: "a"
spec:
  unknown1: val1
  unknownDupe: valDupe
  unknownDupe: valDupe2
  knownField1: val1
  knownField1: val2
  ports:
  - name: portName
    containerPort: 8080
    protocol: TCP
    hostPort: 8081
    hostPort: 8082
    unknownNested: val)";
constexpr char kValidNoxu[] = R"({
  "kind": "Noxu",
  "metadata": {"name": "a"},
  "spec": {"knownField1": "val1", "ports": [
    {"name": "portName", "containerPort": 8080, "protocol": "TCP", "hostPort": 8081}]}
})";
constexpr char kInvalidMergePatch[] = R"({
  "spec": {
    "unknown1": "val1",
    "unknownDupe": "valDupe",
    "unknownDupe": "valDupe2",
    "paused": true,
    "paused": false,
    "template": {"spec": {"containers": [{
      "name": "nginx",
      "image": "nginx:latest",
      "unknownNested": "val1",
      "imagePullPolicy": "Always",
      "imagePullPolicy": "Never"
    }]}}
  }
})";
constexpr char kDuplicatesOnlyPatch[] = R"({
  "spec": {
    "paused": true,
    "paused": false,
    "template": {"spec": {"containers": [{
      "name": "nginx",
      "image": "nginx:latest",
      "imagePullPolicy": "Always",
      "imagePullPolicy": "Never"
    }]}}
  }
})";
constexpr char kInvalidJsonPatch[] = R"([
  {"op": "add", "path": "/spec/unknown1", "value": "val1", "foo":"bar"},
  {"op": "add", "path": "/spec/unknown2", "path": "/spec/unknown3", "value": "val1"},
  {"op": "add", "path": "/spec/unknownDupe", "value": "valDupe"},
  {"op": "add", "path": "/spec/unknownDupe", "value": "valDupe2"},
  {"op": "add", "path": "/spec/paused", "value": true},
  {"op": "add", "path": "/spec/paused", "value": false},
  {"op": "add", "path": "/spec/template/spec/containers/0/unknownNested", "value": "val1"},
  {"op": "add", "path": "/spec/template/spec/containers/0/imagePullPolicy", "value": "Always"},
  {"op": "add", "path": "/spec/template/spec/containers/0/imagePullPolicy", "value": "Never"}
])";
constexpr char kInvalidNoxuJsonPatch[] = R"([
  {"op": "add", "path": "/spec/unknown1", "value": "val1", "foo": "bar"},
  {"op": "add", "path": "/spec/unknown2", "path": "/spec/unknown3", "value": "val2"},
  {"op": "add", "path": "/spec/unknownDupe", "value": "valDupe"},
  {"op": "add", "path": "/spec/unknownDupe", "value": "valDupe2"},
  {"op": "add", "path": "/spec/knownField1", "value": "val1"},
  {"op": "add", "path": "/spec/knownField1", "value": "val2"},
  {"op": "add", "path": "/spec/ports/0/name", "value": "portName"},
  {"op": "add", "path": "/spec/ports/0/containerPort", "value": 8080},
  {"op": "add", "path": "/spec/ports/0/protocol", "value": "TCP"},
  {"op": "add", "path": "/spec/ports/0/hostPort", "value": 8081},
  {"op": "add", "path": "/spec/ports/0/hostPort", "value": 8082},
  {"op": "add", "path": "/spec/ports/0/unknownNested", "value": "val"}
])";

const std::string kNested = R"(unknown field "spec.template.spec.containers[0].unknownNested")";
const std::string kPolicy = R"(duplicate field "spec.template.spec.containers[0].imagePullPolicy")";
const Strings kTypedErrors = {R"(unknown field "spec.unknown1")",
                              R"(unknown field "spec.unknownDupe")",
                              R"(duplicate field "spec.paused")", kNested, kPolicy};
const Strings kTypedYamlErrors = {R"(line 10: key "unknownDupe" already set in map)",
                                  R"(line 12: key "paused" already set in map)",
                                  R"(line 26: key "imagePullPolicy" already set in map)",
                                  kNested,
                                  R"(unknown field "spec.unknown1")",
                                  R"(unknown field "spec.unknownDupe")"};
const Strings kTypedPatchErrors = {
    R"(duplicate field "spec.unknownDupe")", R"(duplicate field "spec.paused")",   kPolicy, kNested,
    R"(unknown field "spec.unknown1")",      R"(unknown field "spec.unknownDupe")"};
const Strings kTypedJsonPatchErrors = {R"(json patch unknown field "[0].foo")",
                                       R"(json patch duplicate field "[1].path")",
                                       kNested,
                                       R"(unknown field "spec.unknown1")",
                                       R"(unknown field "spec.unknown3")",
                                       R"(unknown field "spec.unknownDupe")"};
const Strings kPatchDuplicates = {R"(duplicate field "spec.paused")", kPolicy};

const Strings kNoxuDuplicates = {R"(duplicate field "spec.unknownDupe")",
                                 R"(duplicate field "spec.knownField1")",
                                 R"(duplicate field "spec.ports[0].hostPort")"};
const Strings kNoxuYamlDuplicates = {R"(line 8: key "unknownDupe" already set in map)",
                                     R"(line 10: key "knownField1" already set in map)",
                                     R"(line 16: key "hostPort" already set in map)"};
const Strings kNoxuJsonPatchErrors = {R"(json patch unknown field "[0].foo")",
                                      R"(json patch duplicate field "[1].path")"};
const Strings kPortUnknown = {R"(unknown field "spec.ports[0].unknownNested")"};
const Strings kNoxuUnknown = {R"(unknown field "spec.ports[0].unknownNested")",
                              R"(unknown field "spec.unknown1")",
                              R"(unknown field "spec.unknownDupe")"};
const Strings kNoxuJsonPatchUnknown = {
    R"(unknown field "spec.ports[0].unknownNested")", R"(unknown field "spec.unknown1")",
    R"(unknown field "spec.unknown3")", R"(unknown field "spec.unknownDupe")"};

Strings Joined(Strings first, const Strings& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

struct Row {
  std::string name;
  std::string method;
  std::string resource;
  std::string content_type;
  std::string body;
  Strings errors;  // In the order of the warnings.
};

// The texts of the Warning headers.
Strings Warnings(const ClientResponse& response) {
  Strings texts;
  for (const std::string_view header : response.headers.GetAll("Warning")) {
    const std::string text(header.substr(7, header.size() - 8));
    texts.push_back(std::regex_replace(text, std::regex(R"(\\(.))"), "$1"));
  }
  return texts;
}

// A message as it stands in the JSON of a Status.
std::string InJson(const std::string& text) {
  std::string out;
  apiserver::codec::AppendJsonString(text, out);
  return out.substr(1, out.size() - 2);
}

ClientResponse Send(TestServer& server, const Row& row, const std::string& validation) {
  const bool post = row.method == "POST";
  const std::string query = validation.empty() ? "" : "?fieldValidation=" + validation;
  if (!post) {
    const bool typed = row.resource == kDeployments;
    const auto created = server.Call("POST", row.resource, typed ? kValidDeployment : kValidNoxu);
    REQUIRE(created.code == 201);
  }
  const auto response = server.Call(row.method, row.resource + (post ? "" : "/a") + query, row.body,
                                    {{"Content-Type", row.content_type}});
  server.Call("DELETE", row.resource + "/a");
  return response;
}

void CheckStrict(const Row& row, const ClientResponse& response) {
  INFO(response.body);
  CHECK(response.code == (row.method == "PATCH" ? 422 : 400));
  CHECK(Warnings(response).empty());
  CHECK(Contains(response.body, "strict decoding error: "));
  for (const std::string& error : row.errors) CHECK(Contains(response.body, InJson(error)));
}

// Strict, Warn, Ignore and none of them.
void CheckAll(const std::vector<Row>& rows) {
  const auto server = StartServer();
  for (const Row& row : rows) {
    INFO(row.name);
    CheckStrict(row, Send(*server, row, "Strict"));
    for (const std::string validation : {"Warn", "Ignore", ""}) {
      INFO(validation);
      const auto response = Send(*server, row, validation);
      INFO(response.body);
      CHECK(response.code == (row.method == "POST" ? 201 : 200));
      CHECK(Warnings(response) == (validation == "Ignore" ? Strings() : row.errors));
    }
  }
}

const std::string kJson = "application/json";
const std::string kYaml = "application/yaml";
const std::string kMerge = "application/merge-patch+json";
const std::string kJsonPatch = "application/json-patch+json";
const std::string kStrategic = "application/strategic-merge-patch+json";

}  // namespace

// testFieldValidationPost, testFieldValidationPut
TEST_CASE("endpoints: fieldValidation judges what is posted and put of a Go type", "[endpoints]") {
  CheckAll({
      {"post", "POST", kDeployments, kJson, kInvalidDeployment, kTypedErrors},
      {"post-yaml", "POST", kDeployments, kYaml, kInvalidDeploymentYaml, kTypedYamlErrors},
      {"put", "PUT", kDeployments, kJson, kInvalidDeployment, kTypedErrors},
      {"put-yaml", "PUT", kDeployments, kYaml, kInvalidDeploymentYaml, kTypedYamlErrors},
  });
}

// testFieldValidationPatchTyped, testFieldValidationSMP
TEST_CASE("endpoints: fieldValidation judges patches of a Go type", "[endpoints]") {
  CheckAll({
      {"merge-patch", "PATCH", kDeployments, kMerge, kInvalidMergePatch, kTypedPatchErrors},
      {"json-patch", "PATCH", kDeployments, kJsonPatch, kInvalidJsonPatch, kTypedJsonPatchErrors},
      {"nonconflicting-merge-patch", "PATCH", kDeployments, kMerge, kDuplicatesOnlyPatch,
       kPatchDuplicates},
      {"smp", "PATCH", kDeployments, kStrategic, kInvalidMergePatch, kTypedPatchErrors},
      {"nonconflicting-smp", "PATCH", kDeployments, kStrategic, kDuplicatesOnlyPatch,
       kPatchDuplicates},
  });
}

// testFieldValidationPostCRD, testFieldValidationPutCRD, testFieldValidationPatchCRD
TEST_CASE("endpoints: fieldValidation judges custom resources", "[endpoints]") {
  const Strings json = Joined(kNoxuDuplicates, kNoxuUnknown);
  const Strings yaml = Joined(kNoxuYamlDuplicates, kNoxuUnknown);
  CheckAll({
      {"crd-post", "POST", kSchema, kJson, kInvalidNoxu, json},
      {"crd-post-yaml", "POST", kSchema, kYaml, kInvalidNoxuYaml, yaml},
      {"crd-put", "PUT", kSchema, kJson, kInvalidNoxu, json},
      {"crd-put-yaml", "PUT", kSchema, kYaml, kInvalidNoxuYaml, yaml},
      {"crd-merge-patch", "PATCH", kSchema, kMerge, kInvalidNoxu, json},
      {"crd-json-patch", "PATCH", kSchema, kJsonPatch, kInvalidNoxuJsonPatch,
       Joined(kNoxuJsonPatchErrors, kNoxuJsonPatchUnknown)},
  });
}

// testFieldValidationPostCRDSchemaless, testFieldValidationPutCRDSchemaless,
// testFieldValidationPatchCRDSchemaless
TEST_CASE("endpoints: fieldValidation lets be what a custom resource preserves", "[endpoints]") {
  const Strings json = Joined(kNoxuDuplicates, kPortUnknown);
  const Strings yaml = Joined(kNoxuYamlDuplicates, kPortUnknown);
  CheckAll({
      {"schemaless-crd-post", "POST", kSchemaless, kJson, kInvalidNoxu, json},
      {"schemaless-crd-post-yaml", "POST", kSchemaless, kYaml, kInvalidNoxuYaml, yaml},
      {"schemaless-crd-put", "PUT", kSchemaless, kJson, kInvalidNoxu, json},
      {"schemaless-crd-put-yaml", "PUT", kSchemaless, kYaml, kInvalidNoxuYaml, yaml},
      {"schemaless-crd-merge-patch", "PATCH", kSchemaless, kMerge, kInvalidNoxu, json},
      {"schemaless-crd-json-patch", "PATCH", kSchemaless, kJsonPatch, kInvalidNoxuJsonPatch,
       Joined(kNoxuJsonPatchErrors, kPortUnknown)},
  });
}

TEST_CASE("endpoints: Strict says all it found in one message", "[endpoints]") {
  const auto server = StartServer();
  const Row post{"", "POST", kDeployments, kJson, kInvalidDeployment, {}};
  CHECK(Contains(Send(*server, post, "Strict").body,
                 InJson("Deployment in version \"v1\" cannot be handled as a Deployment: strict "
                        "decoding error: unknown field \"spec.unknown1\", unknown field "
                        "\"spec.unknownDupe\", duplicate field \"spec.paused\", " +
                        kNested + ", " + kPolicy)));
  const Row yaml{"", "POST", kDeployments, kYaml, kInvalidDeploymentYaml, {}};
  CHECK(Contains(Send(*server, yaml, "Strict").body,
                 InJson("strict decoding error: yaml: unmarshal errors:\n  line 10: key "
                        "\"unknownDupe\" already set in map\n  line 12: key \"paused\" already set "
                        "in map\n  line 26: key \"imagePullPolicy\" already set in map, " +
                        kNested)));
  const Row strategic{"", "PATCH", kDeployments, kStrategic, R"({"spec":{"b":1,"a":[null]}})", {}};
  CHECK(
      Contains(Send(*server, strategic, "Strict").body,
               InJson(R"( "" is invalid: patch: Invalid value: "map[spec:map[a:[<nil>] b:1]]": )"
                      R"(strict decoding error: unknown field "spec.a", unknown field "spec.b")")));
  const Row merge{"", "PATCH", kDeployments, kMerge, R"({"spec":{"b":1}})", {}};
  const std::string merged = Send(*server, merge, "Strict").body;
  CHECK(Contains(merged, InJson(R"( "" is invalid: patch: Invalid value: "{\"apiVersion\":)")));
  CHECK(Contains(merged, InJson(R"(: strict decoding error: unknown field "spec.b")")));
}

TEST_CASE("endpoints: a patched object that does not fit its type is unprocessable",
          "[endpoints]") {
  struct Misfit {
    std::string content_type;
    std::string patch;
    std::string why;
  };
  const Misfit rows[] = {
      {kMerge, R"({"spec":{"replicas":"x"}})",
       "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type "
       "int32"},
      {kJsonPatch, R"([{"op":"add","path":"/spec/replicas","value":"x"}])",
       "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type "
       "int32"},
      {kStrategic, R"({"spec":{"replicas":"x"}})",
       R"("map[spec:map[replicas:x]]": unrecognized type: int32)"},
      {kStrategic, R"({"spec":{"replicas":1.5}})",
       R"("map[spec:map[replicas:1.5]]": cannot convert float64 to int32)"},
      {kStrategic, R"({"spec":{"paused":1}})",
       R"("map[spec:map[paused:1]]": unrecognized type: bool)"},
      {kStrategic, R"({"metadata":{"generateName":3}})",
       R"("map[metadata:map[generateName:3]]": cannot convert int64 to string)"},
      {kStrategic, R"({"spec":{"template":"x"}})",
       R"("map[spec:map[template:x]]": cannot restore struct from: string)"},
      {kStrategic, R"({"spec":{"template":{"spec":{"containers":{}}}}})",
       R"("map[spec:map[template:map[spec:map[containers:map[]]]]]": )"
       R"(cannot restore slice from map)"},
      {kStrategic, R"({"metadata":{"labels":[1]}})",
       R"("map[metadata:map[labels:[1]]]": cannot restore map from slice)"},
  };
  const auto server = StartServer();
  for (const Misfit& row : rows) {
    INFO(row.patch);
    for (const std::string validation : {"Strict", "Warn", "Ignore"}) {
      const auto answer =
          Send(*server, {"", "PATCH", kDeployments, row.content_type, row.patch, {}}, validation);
      INFO(answer.body);
      CHECK(answer.code == 422);
      CHECK(Contains(answer.body, InJson(row.why)));
      CHECK(Contains(answer.body, InJson(R"( "" is invalid: patch: Invalid value: ")")));
    }
  }
}

TEST_CASE("endpoints: a patch that is none is a bad request in the words of its type",
          "[endpoints]") {
  struct Bad {
    std::string content_type;
    std::string validation;
    std::string patch;
    int code;
    std::string message;
  };
  const std::string no_map =
      "json: cannot unmarshal array into Go value of type map[string]interface {}";
  const Bad rows[] = {
      {kMerge, "Strict", "[]", 400, "error decoding patch: " + no_map},
      {kMerge, "Ignore", "[]", 400, "Invalid JSON Patch"},
      {kMerge, "Warn", "{", 400, "error decoding patch: unexpected end of JSON input"},
      {kMerge, "Ignore", "{", 400, "Invalid JSON Patch"},
      {kMerge, "Strict", "null", 400, "Invalid JSON Patch"},
      {kStrategic, "Strict", "[]", 400, "\"message\":\"" + no_map},
      {kStrategic, "Ignore", "[]", 400, "\"message\":\"" + no_map},
      {kStrategic, "Warn", "{", 400, "\"message\":\"unexpected end of JSON input"},
      {kStrategic, "Strict", R"({"spec":{"$retainKeys":1}})", 400,
       "invalid patch format of retainKeys"},
      {kStrategic, "Strict", R"({"spec":{"template":{"spec":{"containers":[["a"]]}}}})", 500,
       "list element types are not identical"},
      {kStrategic, "Strict", R"({"spec":{"template":{"spec":{"containers":[{}]}}}})", 500,
       "map: map[] does not contain declared merge key: name"},
      {kStrategic, "Strict", "null", 200, "\"kind\":\"Deployment\""},
      {kStrategic, "Strict", R"({"kind":"Other","apiVersion":"v9"})", 200,
       "\"kind\":\"Deployment\""},
  };
  const auto server = StartServer();
  for (const Bad& row : rows) {
    INFO(row.content_type << " " << row.validation << " " << row.patch);
    const auto answer =
        Send(*server, {"", "PATCH", kDeployments, row.content_type, row.patch, {}}, row.validation);
    INFO(answer.body);
    CHECK(answer.code == row.code);
    CHECK(Contains(answer.body, row.message));
  }
}

TEST_CASE("endpoints: a patch may leave out the type of an object, but not change it",
          "[endpoints]") {
  struct Change {
    std::string resource;
    std::string content_type;
    std::string patch;
    int code;
    std::string message;
  };
  const Change rows[] = {
      {kDeployments, kMerge, R"({"kind":null,"apiVersion":null})", 200, "\"kind\":\"Deployment\""},
      {kDeployments, kMerge, R"({"kind":"Other"})", 422,
       R"(: no kind "Other" is registered for version "apps.example.com/v1")"},
      {kDeployments, kJsonPatch, R"([{"op":"replace","path":"/apiVersion","value":"v2"}])", 422,
       R"(: no kind "Deployment" is registered for version "v2")"},
      {kDeployments, kMerge, R"({"apiVersion":"a/b/c"})", 422,
       "unexpected GroupVersion string: a/b/c"},
      {kDeployments, kStrategic, R"({"kind":"Other"})", 200, "\"kind\":\"Deployment\""},
      {kSchema, kMerge, R"({"kind":"Other"})", 422,
       R"(Noxu.schema.example.com "a" is invalid: kind: Invalid value: "Other": must be Noxu)"},
      {kSchema, kMerge, R"({"apiVersion":null})", 422,
       R"(apiVersion: Invalid value: "": must be schema.example.com/v1beta1)"},
  };
  const auto server = StartServer();
  for (const Change& row : rows) {
    INFO(row.content_type << " " << row.patch);
    const auto answer =
        Send(*server, {"", "PATCH", row.resource, row.content_type, row.patch, {}}, "Strict");
    INFO(answer.body);
    CHECK(answer.code == row.code);
    CHECK(Contains(answer.body, row.code == 200 ? row.message : InJson(row.message)));
  }
}

TEST_CASE("endpoints: each kind says itself which patches it takes", "[endpoints]") {
  const auto server = StartServer();
  const std::string words =
      "the body of the request was in an unknown format - accepted media types include: ";
  const auto typed = Send(*server, {"", "PATCH", kDeployments, "text/plain", "{}", {}}, "");
  const auto custom = Send(*server, {"", "PATCH", kSchema, kStrategic, "{}", {}}, "");

  CHECK(typed.code == 415);
  CHECK(Contains(typed.body, words + kJsonPatch + ", " + kMerge + ", " + kStrategic));
  CHECK(custom.code == 415);
  CHECK(Contains(custom.body, words + kJsonPatch + ", " + kMerge));
  CHECK_FALSE(Contains(custom.body, kStrategic));
  CHECK(Contains(server->Call("GET", "/openapi/v3/apis/apps.example.com/v1").body, kStrategic));
  const auto published = server->Call("GET", "/openapi/v3/apis/schema.example.com/v1beta1").body;
  CHECK(Contains(published, kMerge));
  CHECK_FALSE(Contains(published, kStrategic));
}

TEST_CASE("endpoints: a strategic merge patch merges lists by their keys", "[endpoints]") {
  const auto server = StartServer();
  server->Call("POST", kDeployments, kValidDeployment);
  const std::string a = kDeployments + "/a";
  const auto patch = [&](const std::string& containers) {
    return server
        ->Call("PATCH", a, R"({"spec":{"template":{"spec":{)" + containers + "}}}}",
               {{"Content-Type", kStrategic}})
        .body;
  };

  CHECK(Contains(patch(R"("containers":[{"name":"b","image":"b:1"}])"),
                 R"("containers":[{"name":"b","image":"b:1"},{"name":"nginx",)"));
  CHECK(Contains(
      patch(R"("$setElementOrder/containers":[{"name":"nginx"},{"name":"b"}],)"
            R"("containers":[{"name":"b","image":"b:2"}])"),
      R"("containers":[{"name":"nginx","image":"nginx:latest","imagePullPolicy":"Always"},)"
      R"({"name":"b","image":"b:2"}])"));
  CHECK(Contains(patch(R"("containers":[{"name":"nginx","$patch":"delete"}])"),
                 R"("containers":[{"name":"b","image":"b:2"}])"));
}
