// Containers of pods: rows of TestValidateContainers, TestValidateInitContainers,
// TestValidateEphemeralContainers, TestValidatePorts, TestValidateEnv, TestValidateEnvFrom,
// TestValidateVolumeMounts, TestValidateHandler, Test_validateProbe, TestValidateResizePolicy and
// TestValidateContainerRestartPolicy (apis/core/validation).
#include "groups/core/container_validation.h"

#include "groups/core/volume_validation.h"
#include "groups/value_rows.h"

namespace container_rows_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using testing::CheckValueRows;
using testing::ValueRow;

using CheckList = void (*)(const groups::core::PodScope&, const field::Path&, field::ErrorList&);
using CheckOne = void (*)(const groups::core::PodScope&, runtime::Value, const field::Path&,
                          field::ErrorList&);

// Checks a list of containers of the spec of a row.
testing::CheckValue OfSpec(CheckList check) {
  return [check](runtime::Value spec, const field::Path& path, field::ErrorList& errors) {
    groups::core::PodScope pod(spec);
    check(pod, path, errors);
  };
}

// Checks a part of the container of a row, in a pod with some volumes and a grace of 30 seconds.
testing::CheckValue OfContainer(CheckOne check) {
  return [check](runtime::Value container, const field::Path& path, field::ErrorList& errors) {
    runtime::Arena arena;
    const std::string json =
        R"({"terminationGracePeriodSeconds":30,"volumes":[{"name":"abc","emptyDir":{}},)"
        R"({"name":"123","emptyDir":{}},{"name":"claim","persistentVolumeClaim":{)"
        R"("claimName":"c"}}]})";
    const auto spec = codec::ParseJson(json, arena);
    groups::core::PodScope pod(spec.value());
    field::ErrorList none;
    pod.volumes = groups::core::CheckVolumes(pod.spec["volumes"], "pod", path, none);
    REQUIRE(none.empty());
    check(pod, container, path, errors);
  };
}

void CheckEnvironmentOf(runtime::Value container, const field::Path& path,
                        field::ErrorList& errors) {
  groups::core::CheckEnvironment(container, path, errors);
}

// Members that defaults set, and without which a container is refused.
const std::string kDefaults =
    R"("image":"i","imagePullPolicy":"Always","terminationMessagePolicy":"File")";

struct ListRow {
  const char* what;
  const char* before;      // Members of the spec before the list, with a comma.
  const char* containers;  // "$" stands for kDefaults.
  const char* findings = "";
};

void CheckListRows(std::span<const ListRow> rows, const std::string& list, CheckList check) {
  for (const ListRow& row : rows) {
    std::string json = std::string("{") + row.before + "\"" + list + "\":" + row.containers + "}";
    for (std::size_t at = 0; (at = json.find('$', at)) != std::string::npos;) {
      json.replace(at, 1, kDefaults);
    }
    const ValueRow whole[] = {{row.what, json.c_str(), row.findings}};
    CheckValueRows(whole, OfSpec(check));
  }
}

}  // namespace

TEST_CASE("groups: containers of a pod", "[groups]") {
  const std::string long_name = "[{\"name\":\"" + std::string(64, 'a') + "\",$}]";
  const ListRow rows[] = {
      {"valid", "", R"([{"name":"abc",$},{"name":"123",$},{"name":"abc-123",$}])"},
      {"no containers", "", "[]", "Required f"},
      {"name missing", "", "[{$}]", "Required f[0].name"},
      {"name > 63 characters", "", long_name.c_str(), "Invalid f[0].name"},
      {"name has dots", "", R"([{"name":"a.b.c",$}])", "Invalid f[0].name"},
      {"name not unique", "", R"([{"name":"abc",$},{"name":"abc",$}])", "Duplicate f[1].name"},
      {"nothing that defaults set", "", R"([{"name":"a"}])",
       "Required f[0].image, Required f[0].terminationMessagePolicy, "
       "Required f[0].imagePullPolicy"},
      {"words that are none", "",
       R"([{"name":"a","image":"i","imagePullPolicy":"Sometimes",
            "terminationMessagePolicy":"Unknown"}])",
       "NotSupported f[0].terminationMessagePolicy, NotSupported f[0].imagePullPolicy"},
      {"host port not unique", "",
       R"([{"name":"a",$,"ports":[{"containerPort":80,"hostPort":80,"protocol":"TCP"}]},
           {"name":"b",$,"ports":[{"containerPort":81,"hostPort":80,"protocol":"UDP"},
            {"containerPort":81,"hostPort":80,"protocol":"TCP"}]}])",
       "Duplicate f[1].ports[1].hostPort"},
      {"a policy of restarts", "",
       R"([{"name":"a",$,"restartPolicy":"OnFailure","restartPolicyRules":[{"action":"Restart",
            "exitCodes":{"operator":"In","values":[1,2]}}]}])"},
      {"rules of restarts without a policy", "",
       R"([{"name":"a",$,"restartPolicyRules":[{"action":"Restart","exitCodes":{
            "operator":"In"}}]}])",
       "Required f[0].restartPolicy"},
      {"rules of restarts that are none", "",
       R"([{"name":"a",$,"restartPolicy":"Once","restartPolicyRules":[{"action":"Stop"},
            {"action":"Restart","exitCodes":{"operator":"Is"}}]}])",
       "NotSupported f[0].restartPolicy, NotSupported f[0].restartPolicyRules[0].action, "
       "Required f[0].restartPolicyRules[0].exitCodes, "
       "NotSupported f[0].restartPolicyRules[1].exitCodes.operator"},
      {"resized in place", "",
       R"([{"name":"a",$,"resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"},
            {"resourceName":"memory","restartPolicy":"RestartContainer"}]}])"},
      {"resized twice", "",
       R"([{"name":"a",$,"resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"},
            {"resourceName":"cpu","restartPolicy":"NotRequired"}]}])",
       "Duplicate f[0].resizePolicy[1]"},
      {"resized by words that are none", "",
       R"([{"name":"a",$,"resizePolicy":[{"resourceName":"disk"}]}])",
       "NotSupported f[0].resizePolicy, Required f[0].resizePolicy"},
      {"resized by a restart that never comes", R"("restartPolicy":"Never",)",
       R"([{"name":"a",$,"resizePolicy":[{"resourceName":"cpu",
            "restartPolicy":"RestartContainer"}]}])",
       "Invalid f[0].resizePolicy"}};
  CheckListRows(rows, "containers", &groups::core::CheckContainers);
}

TEST_CASE("groups: init containers of a pod", "[groups]") {
  const char* const regular = R"("containers":[{"name":"app"}],)";
  const ListRow rows[] = {
      {"valid", regular, R"([{"name":"a",$},{"name":"b",$,"restartPolicy":"Always",
           "lifecycle":{"preStop":{"exec":{"command":["x"]}}},
           "readinessProbe":{"tcpSocket":{"port":80}}}])"},
      {"the name of a container", regular, R"([{"name":"app",$}])", "Duplicate f[0].name"},
      {"the name of another", regular, R"([{"name":"a",$},{"name":"a",$}])", "Duplicate f[1].name"},
      {"probes of what ends", regular,
       R"([{"name":"a",$,"lifecycle":{},"livenessProbe":{},"readinessProbe":{},
            "startupProbe":{}}])",
       "Forbidden f[0].lifecycle, Forbidden f[0].livenessProbe, Forbidden f[0].readinessProbe, "
       "Forbidden f[0].startupProbe"},
      {"rules for what always restarts", regular,
       R"([{"name":"a",$,"restartPolicy":"Always","restartPolicyRules":[{}]}])",
       "Forbidden f[0].restartPolicyRules"},
      {"rules without a policy", regular, R"([{"name":"a",$,"restartPolicyRules":[{}]}])",
       "Required f[0].restartPolicy"},
      // Each has the ports of its host for itself.
      {"the same port of the host", regular,
       R"([{"name":"a",$,"ports":[{"containerPort":1,"hostPort":1,"protocol":"TCP"}]},
           {"name":"b",$,"ports":[{"containerPort":1,"hostPort":1,"protocol":"TCP"}]}])"},
      {"one port of the host twice", regular,
       R"([{"name":"a",$},{"name":"b",$,"ports":[
            {"containerPort":1,"hostPort":1,"protocol":"TCP"},
            {"containerPort":2,"hostPort":1,"protocol":"TCP"}]}])",
       "Duplicate f[0].ports[1].hostPort"}};
  CheckListRows(rows, "initContainers", &groups::core::CheckInitContainers);
}

TEST_CASE("groups: ephemeral containers of a pod", "[groups]") {
  const char* const others = R"("containers":[{"name":"app"}],"initContainers":[{"name":"init"}],)";
  const ListRow rows[] = {
      {"valid", others,
       R"([{"name":"a",$},{"name":"b",$,"targetContainerName":"app"},
           {"name":"c",$,"targetContainerName":"init","env":[{"name":"A","value":"b"}]}])"},
      {"the name of a container", others, R"([{"name":"app",$},{"name":"init",$}])",
       "Duplicate f[0].name, Duplicate f[1].name"},
      {"a target that is not there", others, R"([{"name":"a",$,"targetContainerName":"b"}])",
       "NotFound f[0].targetContainerName"},
      {"an image with blanks", others,
       R"([{"name":"a","image":" i ","imagePullPolicy":"Always",
            "terminationMessagePolicy":"File"}])",
       "Invalid f[0].image"},
      {"members that it cannot have", others,
       R"([{"name":"a",$,"ports":[],"resources":{"limits":{"cpu":"1"}},"livenessProbe":{},
            "startupProbe":{},"lifecycle":{}}])",
       "Forbidden f[0].ports, Forbidden f[0].resources, Forbidden f[0].livenessProbe, "
       "Forbidden f[0].startupProbe, Forbidden f[0].lifecycle"},
      {"resources that are empty", others, R"([{"name":"a",$,"resources":{}}])"}};
  CheckListRows(rows, "ephemeralContainers", &groups::core::CheckEphemeralContainers);
}

// TestValidatePorts.
TEST_CASE("groups: ports of containers", "[groups]") {
  const ListRow rows[] = {
      {"valid", "",
       R"([{"name":"a",$,"ports":[{"name":"abc","containerPort":80,"hostPort":80,
            "protocol":"TCP"},{"name":"easy","containerPort":82,"protocol":"UDP"},
            {"name":"as","containerPort":83,"protocol":"SCTP"},
            {"containerPort":65535,"protocol":"TCP"}]}])"},
      {"name > 15 characters", "",
       R"([{"name":"a",$,"ports":[{"name":"aaaaaaaaaaaaaaaa","containerPort":80,
            "protocol":"TCP"}]}])",
       "Invalid f[0].ports[0].name"},
      {"name has characters that are none", "",
       R"([{"name":"a",$,"ports":[{"name":"a.b.c","containerPort":80,"protocol":"TCP"}]}])",
       "Invalid f[0].ports[0].name"},
      {"name not unique", "",
       R"([{"name":"a",$,"ports":[{"name":"abc","containerPort":80,"protocol":"TCP"},
            {"name":"abc","containerPort":81,"protocol":"TCP"}]}])",
       "Duplicate f[0].ports[1].name"},
      {"zero container port", "", R"([{"name":"a",$,"ports":[{"protocol":"TCP"}]}])",
       "Required f[0].ports[0].containerPort"},
      {"invalid container port", "",
       R"([{"name":"a",$,"ports":[{"containerPort":65536,"protocol":"TCP"}]}])",
       "Invalid f[0].ports[0].containerPort"},
      {"invalid host port", "",
       R"([{"name":"a",$,"ports":[{"containerPort":80,"hostPort":-1,"protocol":"TCP"}]}])",
       "Invalid f[0].ports[0].hostPort"},
      {"invalid protocol case", "",
       R"([{"name":"a",$,"ports":[{"containerPort":80,"protocol":"tcp"}]}])",
       "NotSupported f[0].ports[0].protocol"},
      {"protocol required", "", R"([{"name":"a",$,"ports":[{"name":"abc","containerPort":80}]}])",
       "Required f[0].ports[0].protocol"}};
  CheckListRows(rows, "containers", &groups::core::CheckContainers);
}

TEST_CASE("groups: the environment of containers", "[groups]") {
  const ValueRow rows[] = {
      {"values",
       R"({"env":[{"name":"abc","value":"value"},{"name":"ABC"},{"name":"AbC_123"},
           {"name":"!\"#$%&'*"},{"name":".a"}]})"},
      {"zero-length name", R"({"env":[{"name":""}]})", "Required f.env[0].name"},
      {"a name with an equals sign", R"({"env":[{"name":"a=b"}]})", "Invalid f.env[0].name"},
      {"fields of the pod",
       R"({"env":[{"name":"a","valueFrom":{"fieldRef":{"apiVersion":"v1",
            "fieldPath":"metadata.annotations['key']"}}},
           {"name":"b","valueFrom":{"fieldRef":{"apiVersion":"v1",
            "fieldPath":"spec.nodeName"}}},
           {"name":"c","valueFrom":{"fieldRef":{"apiVersion":"v1",
            "fieldPath":"status.podIPs"}}}]})"},
      {"missing fieldPath",
       R"({"env":[{"name":"a","valueFrom":{"fieldRef":{"apiVersion":"v1"}}}]})",
       "Required f.env[0].valueFrom.fieldRef.fieldPath"},
      {"missing apiVersion",
       R"({"env":[{"name":"a","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]})",
       "Required f.env[0].valueFrom.fieldRef.apiVersion"},
      {"another version",
       R"({"env":[{"name":"a","valueFrom":{"fieldRef":{"apiVersion":"v2",
            "fieldPath":"metadata.name"}}}]})",
       "Invalid f.env[0].valueFrom.fieldRef.fieldPath"},
      {"invalid fieldPath",
       R"({"env":[{"name":"a","valueFrom":{"fieldRef":{"apiVersion":"v1",
            "fieldPath":"metadata.whoops"}}}]})",
       "Invalid f.env[0].valueFrom.fieldRef.fieldPath"},
      {"metadata.name with subscript",
       R"({"env":[{"name":"a","valueFrom":{"fieldRef":{"apiVersion":"v1",
            "fieldPath":"metadata.name['key']"}}}]})",
       "Invalid f.env[0].valueFrom.fieldRef.fieldPath"},
      {"metadata.labels without subscript",
       R"({"env":[{"name":"a","valueFrom":{"fieldRef":{"apiVersion":"v1",
            "fieldPath":"metadata.labels"}}}]})",
       "NotSupported f.env[0].valueFrom.fieldRef.fieldPath"},
      {"metadata.annotations with invalid key",
       R"({"env":[{"name":"a","valueFrom":{"fieldRef":{"apiVersion":"v1",
            "fieldPath":"metadata.annotations['invalid~key']"}}}]})",
       "Invalid f.env[0].valueFrom.fieldRef"}};
  CheckValueRows(rows, &CheckEnvironmentOf);
}

TEST_CASE("groups: resources and keys in the environment of containers", "[groups]") {
  const ValueRow rows[] = {
      {"resources",
       R"({"env":[{"name":"a","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu",
            "divisor":"1m"}}},
           {"name":"b","valueFrom":{"resourceFieldRef":{"resource":"requests.memory",
            "divisor":"1Mi"}}},
           {"name":"c","valueFrom":{"resourceFieldRef":{
            "resource":"requests.hugepages-2Mi"}}}]})"},
      {"resources that are none, and divisors that do not fit",
       R"({"env":[{"name":"a","valueFrom":{"resourceFieldRef":{"resource":"cpu"}}},
           {"name":"b","valueFrom":{"resourceFieldRef":{}}},
           {"name":"c","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu",
            "divisor":"2"}}},
           {"name":"d","valueFrom":{"resourceFieldRef":{"resource":"limits.memory",
            "divisor":"1m"}}},
           {"name":"e","valueFrom":{"resourceFieldRef":{
            "resource":"requests.ephemeral-storage","divisor":"2Gi"}}},
           {"name":"g","valueFrom":{"resourceFieldRef":{
            "resource":"limits.hugepages-1Gi","divisor":"3"}}}]})",
       "NotSupported f.env[0].valueFrom.resourceFieldRef.resource, "
       "Required f.env[1].valueFrom.resourceFieldRef.resource, "
       "Invalid f.env[2].valueFrom.resourceFieldRef.divisor, "
       "Invalid f.env[3].valueFrom.resourceFieldRef.divisor, "
       "Invalid f.env[4].valueFrom.resourceFieldRef.divisor, "
       "Invalid f.env[5].valueFrom.resourceFieldRef.divisor"},
      {"keys",
       R"({"env":[{"name":"a","valueFrom":{"secretKeyRef":{"name":"some-secret","key":"k"}}},
           {"name":"b","valueFrom":{"configMapKeyRef":{"name":"some","key":"a.key"}}}]})"},
      {"keys that are none",
       R"({"env":[{"name":"a","valueFrom":{"secretKeyRef":{"name":"s"}}},
           {"name":"b","valueFrom":{"configMapKeyRef":{"name":"a b","key":"a b"}}}]})",
       "Required f.env[0].valueFrom.secretKeyRef.key, "
       "Invalid f.env[1].valueFrom.configMapKeyRef.name, "
       "Invalid f.env[1].valueFrom.configMapKeyRef.key"},
      {"keys of files",
       R"({"env":[{"name":"a","valueFrom":{"fileKeyRef":{"key":"K","volumeName":"v",
            "path":"a/b"}}},{"name":"b","valueFrom":{"fileKeyRef":{}}},
           {"name":"c","valueFrom":{"fileKeyRef":{"key":"a=b","volumeName":"V",
            "path":"../a"}}}]})",
       "Required f.env[1].valueFrom.fileKeyRef.key, "
       "Required f.env[1].valueFrom.fileKeyRef.volumeName, "
       "Required f.env[1].valueFrom.fileKeyRef.path, "
       "Invalid f.env[2].valueFrom.fileKeyRef.key, "
       "Invalid f.env[2].valueFrom.fileKeyRef.volumeName, "
       "Invalid f.env[2].valueFrom.fileKeyRef.path"}};
  CheckValueRows(rows, &CheckEnvironmentOf);
}

TEST_CASE("groups: sources of the environment of containers", "[groups]") {
  const ValueRow rows[] = {
      {"valueFrom without a source", R"({"env":[{"name":"a","valueFrom":{}}]})",
       "Invalid f.env[0].valueFrom"},
      {"value nonempty and valueFrom set",
       R"({"env":[{"name":"a","value":"foo","valueFrom":{"fieldRef":{"apiVersion":"v1",
            "fieldPath":"metadata.name"}}}]})",
       "Invalid f.env[0].valueFrom"},
      {"two sources",
       R"({"env":[{"name":"a","valueFrom":{"secretKeyRef":{"name":"s","key":"k"},
            "configMapKeyRef":{"name":"s","key":"k"}}}]})",
       "Invalid f.env[0].valueFrom"},
      {"all of a map",
       R"({"envFrom":[{"configMapRef":{"name":"abc"}},{"prefix":"pre_","secretRef":{
            "name":"abc"}},{"prefix":"a.b","configMapRef":{"name":"abc"}}]})"},
      {"all of nothing, of no name, and of two",
       R"({"envFrom":[{},{"secretRef":{"name":""}},{"configMapRef":{"name":"$"}},
           {"prefix":"a=b","configMapRef":{"name":"a"}},
           {"configMapRef":{"name":"a"},"secretRef":{"name":"a"}}]})",
       "Invalid f.envFrom, Required f.envFrom[1].secretRef.name, "
       "Invalid f.envFrom[2].configMapRef.name, Invalid f.envFrom[3].prefix, Invalid f.envFrom"}};
  CheckValueRows(rows, &CheckEnvironmentOf);
}

TEST_CASE("groups: mounts and devices of containers", "[groups]") {
  const ValueRow rows[] = {
      {"valid",
       R"({"volumeMounts":[{"name":"abc","mountPath":"/foo"},{"name":"123","mountPath":"/bar",
            "subPath":"baz"},{"name":"abc","mountPath":"/baz","subPath":".baz",
            "mountPropagation":"HostToContainer"},{"name":"abc","mountPath":"/r",
            "readOnly":true,"recursiveReadOnly":"Enabled"},{"name":"abc","mountPath":"c:\\x",
            "subPathExpr":"$(POD)/x"}],
           "volumeDevices":[{"name":"claim","devicePath":"/dev/xvda"}]})"},
      {"empty name", R"({"volumeMounts":[{"name":"","mountPath":"/foo"}]})",
       "Required f.volumeMounts[0].name, NotFound f.volumeMounts[0].name"},
      {"name not found", R"({"volumeMounts":[{"name":"x","mountPath":"/foo"}]})",
       "NotFound f.volumeMounts[0].name"},
      {"empty mountpath", R"({"volumeMounts":[{"name":"abc"}]})",
       "Required f.volumeMounts[0].mountPath"},
      {"mountpath collision",
       R"({"volumeMounts":[{"name":"abc","mountPath":"/a"},{"name":"123","mountPath":"/a"}]})",
       "Invalid f.volumeMounts[1].mountPath"},
      {"absolute subpath",
       R"({"volumeMounts":[{"name":"abc","mountPath":"/bar","subPath":"/baz"}]})",
       "Invalid f.volumeMounts.subPath"},
      {"subpath contains ..",
       R"({"volumeMounts":[{"name":"abc","mountPath":"/bar","subPath":"baz/../../x"}]})",
       "Invalid f.volumeMounts.subPath"},
      {"subpath and subpathexpr",
       R"({"volumeMounts":[{"name":"abc","mountPath":"/bar","subPath":"a","subPathExpr":"../b"}]})",
       "Invalid f.volumeMounts[0].subPathExpr, Invalid f.volumeMounts.subPathExpr"},
      {"bidirectional + not privileged",
       R"({"volumeMounts":[{"name":"abc","mountPath":"/a","mountPropagation":"Bidirectional"}]})",
       "Forbidden f.volumeMounts.mountPropagation"},
      {"bidirectional + privileged",
       R"({"securityContext":{"privileged":true},"volumeMounts":[{"name":"abc",
            "mountPath":"/a","mountPropagation":"Bidirectional"}]})"},
      {"a propagation that is none",
       R"({"volumeMounts":[{"name":"abc","mountPath":"/a","mountPropagation":"x"}]})",
       "NotSupported f.volumeMounts.mountPropagation"},
      {"recursive, but not read-only",
       R"({"volumeMounts":[{"name":"abc","mountPath":"/a","recursiveReadOnly":"Enabled",
            "mountPropagation":"HostToContainer"}]})",
       "Forbidden f.volumeMounts.recursiveReadOnly, Forbidden f.volumeMounts.recursiveReadOnly"},
      {"recursive by a word that is none",
       R"({"volumeMounts":[{"name":"abc","mountPath":"/a","recursiveReadOnly":"Foo"}]})",
       "NotSupported f.volumeMounts.recursiveReadOnly"},
      {"a device and a mount of one volume",
       R"({"volumeMounts":[{"name":"claim","mountPath":"/a"}],
           "volumeDevices":[{"name":"claim","devicePath":"/a"}]})",
       "Invalid f.volumeMounts[0].name, Invalid f.volumeMounts[0].mountPath, "
       "Invalid f.volumeDevices[0].name, Invalid f.volumeDevices[0].devicePath"},
      {"a device of no claim", R"({"volumeDevices":[{"name":"abc","devicePath":"/a"}]})",
       "Invalid f.volumeDevices[0].name"},
      {"devices that are none",
       R"({"volumeDevices":[{"name":"","devicePath":""},{"name":"x","devicePath":"/a/../b"}]})",
       "Required f.volumeDevices[0].name, NotFound f.volumeDevices[0].name, "
       "Required f.volumeDevices[0].devicePath, NotFound f.volumeDevices[1].name, "
       "Invalid f.volumeDevices[1].devicePath"},
      {"a device twice",
       R"({"volumeDevices":[{"name":"claim","devicePath":"/a"},
           {"name":"claim","devicePath":"/a"}]})",
       "Invalid f.volumeDevices[1].name, Invalid f.volumeDevices[1].devicePath"}};
  CheckValueRows(rows, OfContainer(&groups::core::CheckMounts));
}

// TestValidateHandler, TestValidateSleepAction.
TEST_CASE("groups: what containers do when they begin and end", "[groups]") {
  const ValueRow rows[] = {
      {"each action",
       R"({"lifecycle":{"postStart":{"exec":{"command":["echo"]}},
           "preStop":{"httpGet":{"path":"/","port":1,"host":"","scheme":"HTTP",
            "httpHeaders":[{"name":"Host","value":"foo.example.com"}]}}}})"},
      {"by name of the port", R"({"lifecycle":{"preStop":{"httpGet":{"path":"/foo","port":"port",
           "scheme":"HTTPS"}}}})"},
      {"none", R"({"lifecycle":{"preStop":{}}})", "Required f.lifecycle.preStop"},
      {"two", R"({"lifecycle":{"preStop":{"exec":{"command":["x"]},"sleep":{"seconds":1}}}})",
       "Forbidden f.lifecycle.preStop.sleep"},
      {"no command", R"({"lifecycle":{"postStart":{"exec":{"command":[]}}}})",
       "Required f.lifecycle.postStart.exec.command"},
      {"a GET of nothing", R"({"lifecycle":{"preStop":{"httpGet":{"port":0}}}})",
       "Required f.lifecycle.preStop.httpGet.path, Invalid f.lifecycle.preStop.httpGet.port, "
       "NotSupported f.lifecycle.preStop.httpGet.scheme"},
      {"a header that is none",
       R"({"lifecycle":{"preStop":{"httpGet":{"path":"/","port":1,"scheme":"HTTP",
           "httpHeaders":[{"name":"Host:"},{"name":"X_Y"}]}}}})",
       "Invalid f.lifecycle.preStop.httpGet.httpHeaders, "
       "Invalid f.lifecycle.preStop.httpGet.httpHeaders"},
      {"valid setting: 30 seconds", R"({"lifecycle":{"preStop":{"sleep":{"seconds":30}}}})"},
      {"longer than the grace", R"({"lifecycle":{"preStop":{"sleep":{"seconds":31}}}})",
       "Invalid f.lifecycle.preStop.sleep"},
      {"shorter than nothing", R"({"lifecycle":{"preStop":{"sleep":{"seconds":-1}}}})",
       "Invalid f.lifecycle.preStop.sleep"}};
  CheckValueRows(rows, OfContainer(&groups::core::CheckLifecycle));
}

// TestValidateProbe, Test_validateProbe.
TEST_CASE("groups: probes of containers", "[groups]") {
  const ValueRow rows[] = {
      {"each of them",
       R"({"livenessProbe":{"exec":{"command":["echo"]},"successThreshold":1,
           "terminationGracePeriodSeconds":1},
           "readinessProbe":{"tcpSocket":{"port":"a"},"successThreshold":3},
           "startupProbe":{"grpc":{"port":1},"successThreshold":1,"failureThreshold":30}})"},
      {"no handler", R"({"readinessProbe":{"timeoutSeconds":10}})", "Required f.readinessProbe"},
      {"negative numbers",
       R"({"readinessProbe":{"exec":{"command":["x"]},"initialDelaySeconds":-1,
           "timeoutSeconds":-1,"periodSeconds":-1,"successThreshold":-1,
           "failureThreshold":-1}})",
       "Invalid f.readinessProbe.initialDelaySeconds, Invalid f.readinessProbe.timeoutSeconds, "
       "Invalid f.readinessProbe.periodSeconds, Invalid f.readinessProbe.successThreshold, "
       "Invalid f.readinessProbe.failureThreshold"},
      {"a grace of nothing",
       R"({"livenessProbe":{"exec":{"command":["x"]},"successThreshold":1,
           "terminationGracePeriodSeconds":0}})",
       "Invalid f.livenessProbe.terminationGracePeriodSeconds"},
      {"a grace of what ends nothing",
       R"({"readinessProbe":{"exec":{"command":["x"]},"terminationGracePeriodSeconds":5}})",
       "Invalid f.readinessProbe.terminationGracePeriodSeconds"},
      {"more successes than one",
       R"({"livenessProbe":{"exec":{"command":["x"]},"successThreshold":2},
           "startupProbe":{"exec":{"command":["x"]},"successThreshold":0}})",
       "Invalid f.livenessProbe.successThreshold, Invalid f.startupProbe.successThreshold"},
      {"a port that is none",
       R"({"readinessProbe":{"tcpSocket":{"port":65536}},
           "livenessProbe":{"grpc":{"port":0},"successThreshold":1},
           "startupProbe":{"tcpSocket":{"port":"a.b"},"successThreshold":1}})",
       "Invalid f.livenessProbe.grpc.port, Invalid f.readinessProbe.tcpSocket.port, "
       "Invalid f.startupProbe.tcpSocket.port"}};
  CheckValueRows(rows, OfContainer(&groups::core::CheckProbes));
}

}  // namespace container_rows_test
