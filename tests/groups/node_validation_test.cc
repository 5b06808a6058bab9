// Nodes: rows of TestValidateNode, TestValidateNodeUpdate, TestValidateNodeCIDRs,
// TestValidateNodeSwapStatus and TestValidateNodeDeclaredFeatures (apis/core/validation).
#include "groups/core/node_validation.h"

#include "groups/core/kinds.h"
#include "groups/validation_rows.h"
#include "groups/value_rows.h"

namespace node_rows_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using testing::FindingsText;

std::unique_ptr<runtime::Object> Node(const std::string& members,
                                      const std::string& metadata = R"("name":"n")") {
  return testing::ParseRow(
      groups::core::ClusterKinds(), "Node",
      R"({"metadata":{)" + metadata + "}" + (members.empty() ? "" : ",") + members + "}");
}

struct CreateRow {
  const char* what;
  const char* members;
  const char* findings = "";
};

// `now` and `before` are the members of a node.
struct UpdateRow {
  const char* what;
  const char* now;
  const char* before;
  const char* findings = "";
};

}  // namespace

TEST_CASE("groups: nodes are refused as a Go server refuses them", "[groups]") {
  const CreateRow rows[] = {
      {"all there is",
       R"("spec":{"podCIDRs":["192.168.0.0/16","fd00::/64"],"taints":[{"key":"GPU",
          "value":"true","effect":"NoSchedule"},{"key":"GPU","effect":"NoExecute"}]},
          "status":{"capacity":{"cpu":"10","memory":"10G","my.org/gpu":"10",
          "hugepages-2Mi":"10Gi","hugepages-1Gi":"10Gi"},"addresses":[
          {"type":"ExternalIP","address":"something"}],"allocatable":{"cpu":"0"}})"},
      {"missing-taint-key", R"("spec":{"taints":[{"value":"v","effect":"NoSchedule"}]})",
       "Invalid metadata.taints[0].key, Invalid metadata.taints[0].key"},
      {"bad-taint-key",
       R"("spec":{"taints":[{"key":"special-characters-%$","effect":"NoSchedule"}]})",
       "Invalid metadata.taints[0].key"},
      {"bad-taint-value",
       R"("spec":{"taints":[{"key":"k","value":"some\\bad\\value","effect":"NoSchedule"}]})",
       "Invalid metadata.taints[0].value"},
      {"missing-taint-effect", R"("spec":{"taints":[{"key":"k","value":"v"}]})",
       "Required metadata.taints[0].effect"},
      {"invalid-taint-effect", R"("spec":{"taints":[{"key":"k","effect":"NoExecuteNoSchedule"}]})",
       "NotSupported metadata.taints[0].effect"},
      {"duplicated-taints-with-same-key-effect",
       R"("spec":{"taints":[{"key":"k","value":"1","effect":"NoSchedule"},
          {"key":"k","value":"2","effect":"NoSchedule"}]})",
       "Duplicate metadata.taints[1]"},
      {"an amount below nothing, and a part of what is counted",
       R"("status":{"capacity":{"cpu":"-1"},"allocatable":{"pods":"1500m"}})",
       "Invalid status.capacity.cpu, Invalid status.allocatable.pods"},
      {"invalid-podCIDR", R"("spec":{"podCIDRs":["192.168.0.0"]})", "Invalid spec.podCIDRs[0]"},
      {"two of one family", R"("spec":{"podCIDRs":["10.0.0.1/16","10.1.0.1/16"]})",
       "Invalid spec.podCIDRs"},
      {"three", R"("spec":{"podCIDRs":["10.0.0.1/16","10.1.0.1/16","fd00::/64"]})",
       "Invalid spec.podCIDRs"},
      {"swap with capacity zero", R"("status":{"nodeInfo":{"swap":{"capacity":0}}})",
       "Invalid metadata.nodeSwapStatus.capacity"},
      {"swap with capacity", R"("status":{"nodeInfo":{"swap":{"capacity":1000}}})"},
      {"features", R"("status":{"declaredFeatures":["FeatureA","FeatureA/sub1","FeatureB"]})"},
      {"features out of order", R"("status":{"declaredFeatures":["FeatureB","FeatureA"]})",
       "Invalid status.declaredFeatures[1]"},
      {"a feature twice", R"("status":{"declaredFeatures":["FeatureA","FeatureA"]})",
       "Duplicate status.declaredFeatures[1]"},
      {"features that are none", R"("status":{"declaredFeatures":["","A_b","B/","a"]})",
       "Invalid status.declaredFeatures[0], Invalid status.declaredFeatures[1], "
       "Invalid status.declaredFeatures[2], Invalid status.declaredFeatures[3]"}};
  for (const CreateRow& row : rows) {
    INFO(row.what);
    CHECK(FindingsText(groups::core::ValidateNode(*Node(row.members))) == row.findings);
  }
}

TEST_CASE("groups: metadata of nodes", "[groups]") {
  const CreateRow rows[] = {
      {"missing-name", R"("labels":{"a":"b"})", "Required metadata.name"},
      {"invalid-labels", R"("name":"n","labels":{"NoUppercaseOrSpecialCharsLike=Equals":"b"})",
       "Invalid metadata.labels"},
      {"a name with capitals", R"("name":"N")", "Invalid metadata.name"},
      {"a namespace", R"("name":"n","namespace":"ns")", "Forbidden metadata.namespace"},
      {"taints as of old",
       R"("name":"n","annotations":{"scheduler.alpha.kubernetes.io/taints":
          "[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]"})"},
      {"taints as of old that are none",
       R"("name":"n","annotations":{"scheduler.alpha.kubernetes.io/taints":
          "[{\"key\":\"k\"}]"})",
       "Required metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].effect"},
      {"taints as of old that are no JSON",
       R"("name":"n","annotations":{"scheduler.alpha.kubernetes.io/taints":"{"})",
       "Invalid metadata.annotations"},
      {"invalid-preferAvoidPods",
       R"("name":"n","annotations":{"scheduler.alpha.kubernetes.io/preferAvoidPods":"{"})",
       "Invalid metadata.annotations.AvoidPods"}};
  for (const CreateRow& row : rows) {
    INFO(row.what);
    CHECK(FindingsText(groups::core::ValidateNode(*Node("", row.members))) == row.findings);
  }
}

TEST_CASE("groups: what a node keeps", "[groups]") {
  const UpdateRow rows[] = {
      {"nothing changes", R"("spec":{"podCIDR":"192.168.0.0/16"})",
       R"("spec":{"podCIDR":"192.168.0.0/16"})"},
      {"its network is set", R"("spec":{"podCIDRs":["192.168.0.0/16"]})", ""},
      {"its network changes", R"("spec":{"podCIDRs":["192.168.0.0/16"]})",
       R"("spec":{"podCIDRs":["192.123.0.0/16"]})", "Forbidden spec.podCIDRs"},
      {"its network goes", "", R"("spec":{"podCIDRs":["192.123.0.0/16"]})",
       "Forbidden spec.podCIDRs"},
      {"a second network comes", R"("spec":{"podCIDRs":["192.123.0.0/16","fd00::/64"]})",
       R"("spec":{"podCIDRs":["192.123.0.0/16"]})", "Forbidden spec.podCIDRs"},
      {"its machine is told", R"("spec":{"providerID":"provider:///new"})", ""},
      {"its machine changes", R"("spec":{"providerID":"provider:///new"})",
       R"("spec":{"providerID":"provider:///old"})", "Forbidden spec.providerID"},
      {"its external id changes", R"("spec":{"externalID":"b"})", R"("spec":{"externalID":"a"})",
       "Forbidden spec.externalID"},
      {"it becomes unschedulable", R"("spec":{"unschedulable":true})", R"("spec":{})"},
      {"an address twice",
       R"("status":{"addresses":[{"type":"ExternalIP","address":"1.1.1.1"},
          {"type":"InternalIP","address":"1.1.1.1"},
          {"type":"ExternalIP","address":"1.1.1.1"}]})",
       "", "Duplicate status.addresses[2]"},
      {"a taint that is none", R"("spec":{"taints":[{"key":"k","effect":"x"}]})", "",
       "NotSupported metadata.taints[0].effect"},
      {"an amount below nothing", R"("status":{"capacity":{"cpu":"-10m"}})", "",
       "Invalid status.capacity.cpu, Invalid status.allocatable.cpu"}};
  for (const UpdateRow& row : rows) {
    INFO(row.what);
    const std::string metadata = R"("name":"n","resourceVersion":"1","uid":"u")";
    CHECK(FindingsText(groups::core::ValidateNodeUpdate(
              *Node(row.now, metadata), *Node(row.before, metadata))) == row.findings);
  }
}

TEST_CASE("groups: where a node has its configuration from", "[groups]") {
  const std::string name = R"("namespace":"ns","name":"n","kubeletConfigKey":"k")";
  const std::string known = R"("uid":"u","resourceVersion":"1",)" + name;
  struct Case {
    std::string members;
    const char* findings = "";
  };
  const Case cases[] = {
      {R"("spec":{"configSource":{"configMap":{)" + name + "}}}"},
      {R"("spec":{"configSource":{}})", "Invalid spec.configSource"},
      {R"("spec":{"configSource":{"configMap":{)" + known + "}}}",
       "Forbidden spec.configSource.configMap.uid, "
       "Forbidden spec.configSource.configMap.resourceVersion"},
      {R"("spec":{"configSource":{"configMap":{}}})",
       "Required spec.configSource.configMap.namespace, "
       "Required spec.configSource.configMap.name, "
       "Required spec.configSource.configMap.kubeletConfigKey"},
      {R"("spec":{"configSource":{"configMap":{"namespace":"/","name":"/",)"
       R"("kubeletConfigKey":"/"}}})",
       "Invalid spec.configSource.configMap.namespace, "
       "Invalid spec.configSource.configMap.name, "
       "Invalid spec.configSource.configMap.kubeletConfigKey"},
      {R"("status":{"config":{"assigned":{"configMap":{)" + known +
       R"(}},"active":{"configMap":{)" + known + R"(}},"lastKnownGood":{"configMap":{)" + known +
       "}}}}"},
      {R"("status":{"config":{"active":{"configMap":{)" + name + R"(}},"lastKnownGood":{}}})",
       "Required status.config.active.configMap.uid, "
       "Required status.config.active.configMap.resourceVersion, "
       "Invalid status.config.lastKnownGood"}};
  const std::string metadata = R"("name":"n","resourceVersion":"1","uid":"u")";
  for (const Case& test : cases) {
    INFO(test.members);
    CHECK(FindingsText(groups::core::ValidateNodeUpdate(*Node(test.members, metadata),
                                                        *Node("", metadata))) == test.findings);
  }
}

}  // namespace node_rows_test
