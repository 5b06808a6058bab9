// Which patches a kind takes, and what it answers to patches that cannot be applied or leave what
// is no object of the kind: applyPatch of k8s.io/apiserver/pkg/endpoints/handlers/patch.go.
#include "validated_server.h"

using namespace apiserver::testing;  // NOLINT(google-build-using-namespace)
namespace runtime = apiserver::runtime;

TEST_CASE("endpoints: a patched object that does not fit its type is unprocessable",
          "[endpoints]") {
  struct Misfit {
    std::string content_type;
    std::string patch;
    std::string why;
  };
  const Misfit rows[] = {
      {kMergeType, R"({"spec":{"replicas":"x"}})",
       "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type "
       "int32"},
      {kJsonPatchType, R"([{"op":"add","path":"/spec/replicas","value":"x"}])",
       "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type "
       "int32"},
      {kStrategicType, R"({"spec":{"replicas":"x"}})",
       R"("map[spec:map[replicas:x]]": unrecognized type: int32)"},
      {kStrategicType, R"({"spec":{"replicas":1.5}})",
       R"("map[spec:map[replicas:1.5]]": cannot convert float64 to int32)"},
      {kStrategicType, R"({"spec":{"paused":1}})",
       R"("map[spec:map[paused:1]]": unrecognized type: bool)"},
      {kStrategicType, R"({"metadata":{"generateName":3}})",
       R"("map[metadata:map[generateName:3]]": cannot convert int64 to string)"},
      {kStrategicType, R"({"spec":{"template":"x"}})",
       R"("map[spec:map[template:x]]": cannot restore struct from: string)"},
      {kStrategicType, R"({"spec":{"template":{"spec":{"containers":{}}}}})",
       R"("map[spec:map[template:map[spec:map[containers:map[]]]]]": )"
       R"(cannot restore slice from map)"},
      {kStrategicType, R"({"metadata":{"labels":[1]}})",
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
      {kMergeType, "Strict", "[]", 400, "error decoding patch: " + no_map},
      {kMergeType, "Ignore", "[]", 400, "Invalid JSON Patch"},
      {kMergeType, "Warn", "{", 400, "error decoding patch: unexpected end of JSON input"},
      {kMergeType, "Ignore", "{", 400, "Invalid JSON Patch"},
      {kMergeType, "Strict", "null", 400, "Invalid JSON Patch"},
      {kStrategicType, "Strict", "[]", 400, "\"message\":\"" + no_map},
      {kStrategicType, "Ignore", "[]", 400, "\"message\":\"" + no_map},
      {kStrategicType, "Warn", "{", 400, "\"message\":\"unexpected end of JSON input"},
      {kStrategicType, "Strict", R"({"spec":{"$retainKeys":1}})", 400,
       "invalid patch format of retainKeys"},
      {kStrategicType, "Strict", R"({"spec":{"template":{"spec":{"containers":[["a"]]}}}})", 500,
       "list element types are not identical"},
      {kStrategicType, "Strict", R"({"spec":{"template":{"spec":{"containers":[{}]}}}})", 500,
       "map: map[] does not contain declared merge key: name"},
      {kStrategicType, "Strict", "null", 200, "\"kind\":\"Deployment\""},
      {kStrategicType, "Strict", R"({"kind":"Other","apiVersion":"v9"})", 200,
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
      {kDeployments, kMergeType, R"({"kind":null,"apiVersion":null})", 200,
       "\"kind\":\"Deployment\""},
      {kDeployments, kMergeType, R"({"kind":"Other"})", 422,
       R"(: no kind "Other" is registered for version "apps.example.com/v1")"},
      {kDeployments, kJsonPatchType, R"([{"op":"replace","path":"/apiVersion","value":"v2"}])", 422,
       R"(: no kind "Deployment" is registered for version "v2")"},
      {kDeployments, kMergeType, R"({"apiVersion":"a/b/c"})", 422,
       "unexpected GroupVersion string: a/b/c"},
      {kDeployments, kStrategicType, R"({"kind":"Other"})", 200, "\"kind\":\"Deployment\""},
      {kSchema, kMergeType, R"({"kind":"Other"})", 422,
       R"(Other.schema.example.com "a" is invalid: kind: Invalid value: "Other": must be Noxu)"},
      {kSchema, kMergeType, R"({"apiVersion":null})", 500,
       "Object 'apiVersion' is missing in 'object has no apiVersion field'"},
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
  const auto custom = Send(*server, {"", "PATCH", kSchema, kStrategicType, "{}", {}}, "");

  CHECK(typed.code == 415);
  CHECK(Contains(typed.body, words + kJsonPatchType + ", " + kMergeType + ", " + kStrategicType));
  CHECK(custom.code == 415);
  CHECK(Contains(custom.body, words + kJsonPatchType + ", " + kMergeType));
  CHECK_FALSE(Contains(custom.body, kStrategicType));
  CHECK(Contains(server->Call("GET", "/openapi/v3/apis/apps.example.com/v1").body, kStrategicType));
  const auto published = server->Call("GET", "/openapi/v3/apis/schema.example.com/v1beta1").body;
  CHECK(Contains(published, kMergeType));
  CHECK_FALSE(Contains(published, kStrategicType));
}

TEST_CASE("endpoints: a strategic merge patch merges lists by their keys", "[endpoints]") {
  const auto server = StartServer();
  server->Call("POST", kDeployments, kValidDeployment);
  const std::string a = kDeployments + "/a";
  const auto patch = [&](const std::string& containers) {
    return server
        ->Call("PATCH", a, R"({"spec":{"template":{"spec":{)" + containers + "}}}}",
               {{"Content-Type", kStrategicType}})
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
