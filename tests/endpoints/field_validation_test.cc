// What POST, PUT and PATCH say of unknown and duplicate fields: the tables of
// k8s.io/kubernetes/test/integration/apiserver/field_validation_test.go.
#include "apiserver/codec/yaml.h"
#include "validated_server.h"

namespace {

using namespace apiserver::testing;  // NOLINT(google-build-using-namespace)
namespace runtime = apiserver::runtime;
using runtime::SchemaPtr;

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

}  // namespace

// testFieldValidationPost, testFieldValidationPut
TEST_CASE("endpoints: fieldValidation judges what is posted and put of a Go type", "[endpoints]") {
  CheckAll({
      {"post", "POST", kDeployments, kJsonType, kInvalidDeployment, kTypedErrors},
      {"post-yaml", "POST", kDeployments, kYamlType, kInvalidDeploymentYaml, kTypedYamlErrors},
      {"put", "PUT", kDeployments, kJsonType, kInvalidDeployment, kTypedErrors},
      {"put-yaml", "PUT", kDeployments, kYamlType, kInvalidDeploymentYaml, kTypedYamlErrors},
  });
}

// testFieldValidationPatchTyped, testFieldValidationSMP
TEST_CASE("endpoints: fieldValidation judges patches of a Go type", "[endpoints]") {
  CheckAll({
      {"merge-patch", "PATCH", kDeployments, kMergeType, kInvalidMergePatch, kTypedPatchErrors},
      {"json-patch", "PATCH", kDeployments, kJsonPatchType, kInvalidJsonPatch,
       kTypedJsonPatchErrors},
      {"nonconflicting-merge-patch", "PATCH", kDeployments, kMergeType, kDuplicatesOnlyPatch,
       kPatchDuplicates},
      {"smp", "PATCH", kDeployments, kStrategicType, kInvalidMergePatch, kTypedPatchErrors},
      {"nonconflicting-smp", "PATCH", kDeployments, kStrategicType, kDuplicatesOnlyPatch,
       kPatchDuplicates},
  });
}

// testFieldValidationPostCRD, testFieldValidationPutCRD, testFieldValidationPatchCRD
TEST_CASE("endpoints: fieldValidation judges custom resources", "[endpoints]") {
  const Strings json = Joined(kNoxuDuplicates, kNoxuUnknown);
  const Strings yaml = Joined(kNoxuYamlDuplicates, kNoxuUnknown);
  CheckAll({
      {"crd-post", "POST", kSchema, kJsonType, kInvalidNoxu, json},
      {"crd-post-yaml", "POST", kSchema, kYamlType, kInvalidNoxuYaml, yaml},
      {"crd-put", "PUT", kSchema, kJsonType, kInvalidNoxu, json},
      {"crd-put-yaml", "PUT", kSchema, kYamlType, kInvalidNoxuYaml, yaml},
      {"crd-merge-patch", "PATCH", kSchema, kMergeType, kInvalidNoxu, json},
      {"crd-json-patch", "PATCH", kSchema, kJsonPatchType, kInvalidNoxuJsonPatch,
       Joined(kNoxuJsonPatchErrors, kNoxuJsonPatchUnknown)},
  });
}

// testFieldValidationPostCRDSchemaless, testFieldValidationPutCRDSchemaless,
// testFieldValidationPatchCRDSchemaless
TEST_CASE("endpoints: fieldValidation lets be what a custom resource preserves", "[endpoints]") {
  const Strings json = Joined(kNoxuDuplicates, kPortUnknown);
  const Strings yaml = Joined(kNoxuYamlDuplicates, kPortUnknown);
  CheckAll({
      {"schemaless-crd-post", "POST", kSchemaless, kJsonType, kInvalidNoxu, json},
      {"schemaless-crd-post-yaml", "POST", kSchemaless, kYamlType, kInvalidNoxuYaml, yaml},
      {"schemaless-crd-put", "PUT", kSchemaless, kJsonType, kInvalidNoxu, json},
      {"schemaless-crd-put-yaml", "PUT", kSchemaless, kYamlType, kInvalidNoxuYaml, yaml},
      {"schemaless-crd-merge-patch", "PATCH", kSchemaless, kMergeType, kInvalidNoxu, json},
      {"schemaless-crd-json-patch", "PATCH", kSchemaless, kJsonPatchType, kInvalidNoxuJsonPatch,
       Joined(kNoxuJsonPatchErrors, kPortUnknown)},
  });
}

TEST_CASE("endpoints: Strict says all it found in one message", "[endpoints]") {
  const auto server = StartServer();
  const Row post{"", "POST", kDeployments, kJsonType, kInvalidDeployment, {}};
  CHECK(Contains(Send(*server, post, "Strict").body,
                 InJson("Deployment in version \"v1\" cannot be handled as a Deployment: strict "
                        "decoding error: unknown field \"spec.unknown1\", unknown field "
                        "\"spec.unknownDupe\", duplicate field \"spec.paused\", " +
                        kNested + ", " + kPolicy)));
  const Row yaml{"", "POST", kDeployments, kYamlType, kInvalidDeploymentYaml, {}};
  CHECK(Contains(Send(*server, yaml, "Strict").body,
                 InJson("strict decoding error: yaml: unmarshal errors:\n  line 10: key "
                        "\"unknownDupe\" already set in map\n  line 12: key \"paused\" already set "
                        "in map\n  line 26: key \"imagePullPolicy\" already set in map, " +
                        kNested)));
  const Row strategic{"", "PATCH", kDeployments, kStrategicType, R"({"spec":{"b":1,"a":[null]}})",
                      {}};
  CHECK(
      Contains(Send(*server, strategic, "Strict").body,
               InJson(R"( "" is invalid: patch: Invalid value: "map[spec:map[a:[<nil>] b:1]]": )"
                      R"(strict decoding error: unknown field "spec.a", unknown field "spec.b")")));
  const Row merge{"", "PATCH", kDeployments, kMergeType, R"({"spec":{"b":1}})", {}};
  const std::string merged = Send(*server, merge, "Strict").body;
  CHECK(Contains(merged, InJson(R"( "" is invalid: patch: Invalid value: "{\"apiVersion\":)")));
  CHECK(Contains(merged, InJson(R"(: strict decoding error: unknown field "spec.b")")));
}
