#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/codec/protobuf.h"
#include "apiserver/groups/apps.h"
#include "apiserver/groups/authorization.h"
#include "apiserver/groups/coordination.h"
#include "apiserver/groups/core.h"
#include "apiserver/groups/discovery.h"
#include "apiserver/groups/rbac.h"

namespace {

using apiserver::Result;
using apiserver::runtime::Field;
using apiserver::runtime::KindPtr;
using apiserver::runtime::Schema;
using apiserver::runtime::SchemaPtr;
using Keys = std::vector<std::string_view>;

KindPtr Find(const Result<std::vector<KindPtr>>& kinds, const std::string& name) {
  REQUIRE(kinds.ok());
  const auto found =
      std::ranges::find_if(*kinds, [&](const KindPtr& kind) { return kind->kind() == name; });
  REQUIRE(found != kinds->end());
  return *found;
}

// The field that a path of names leads to, through lists.
const Field& FieldOf(const KindPtr& kind, const Keys& path) {
  SchemaPtr schema = kind->FindVersion("v1")->schema;
  const Field* field = nullptr;
  for (const std::string_view name : path) {
    INFO(name);
    if (schema->items()) schema = schema->items();
    field = schema->FindField(name);
    REQUIRE(field != nullptr);
    schema = field->schema;
  }
  return *field;
}

TEST_CASE("groups: kinds have the names that clients know", "[groups]") {
  struct Row {
    std::string group;
    std::string kind;
    std::string plural;
    std::vector<std::string> short_names;
    bool namespaced;
  };
  const std::vector<Row> rows{
      {"", "ConfigMap", "configmaps", {"cm"}, true},
      {"", "Endpoints", "endpoints", {"ep"}, true},
      {"", "Event", "events", {"ev"}, true},
      {"", "Namespace", "namespaces", {"ns"}, false},
      {"", "Pod", "pods", {"po"}, true},
      {"", "Secret", "secrets", {}, true},
      {"", "Service", "services", {"svc"}, true},
      {"", "ServiceAccount", "serviceaccounts", {"sa"}, true},
      {"apps", "Deployment", "deployments", {"deploy"}, true},
      {"authorization.k8s.io", "LocalSubjectAccessReview", "localsubjectaccessreviews", {}, true},
      {"authorization.k8s.io", "SelfSubjectAccessReview", "selfsubjectaccessreviews", {}, false},
      {"authorization.k8s.io", "SelfSubjectRulesReview", "selfsubjectrulesreviews", {}, false},
      {"authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews", {}, false},
      {"coordination.k8s.io", "Lease", "leases", {}, true},
      {"discovery.k8s.io", "EndpointSlice", "endpointslices", {}, true},
      {"rbac.authorization.k8s.io", "ClusterRole", "clusterroles", {}, false},
      {"rbac.authorization.k8s.io", "ClusterRoleBinding", "clusterrolebindings", {}, false},
      {"rbac.authorization.k8s.io", "Role", "roles", {}, true},
      {"rbac.authorization.k8s.io", "RoleBinding", "rolebindings", {}, true},
  };
  std::vector<KindPtr> all;
  for (const auto& kinds :
       {apiserver::groups::core::Kinds(), apiserver::groups::apps::Kinds(),
        apiserver::groups::authorization::Kinds(), apiserver::groups::coordination::Kinds(),
        apiserver::groups::discovery::Kinds(), apiserver::groups::rbac::Kinds()}) {
    REQUIRE(kinds.ok());
    all.insert(all.end(), kinds->begin(), kinds->end());
  }

  REQUIRE(all.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i].kind);
    CHECK(all[i]->group() == rows[i].group);
    CHECK(all[i]->kind() == rows[i].kind);
    CHECK(all[i]->plural() == rows[i].plural);
    CHECK(all[i]->short_names() == rows[i].short_names);
    CHECK(all[i]->namespaced() == rows[i].namespaced);
    CHECK(apiserver::codec::HasProtobuf(*all[i], "v1"));
  }
}

TEST_CASE("groups: lists of a pod know how they are merged", "[groups]") {
  const KindPtr pod = Find(apiserver::groups::core::Kinds(), "Pod");
  struct Row {
    Keys path;
    Schema::ListType type;
    Keys keys;
    std::string strategy;
    std::string merge_key;
  };
  const auto map = Schema::ListType::kMap;
  const auto atomic = Schema::ListType::kAtomic;
  const std::vector<Row> rows{
      {{"spec", "containers"}, map, {"name"}, "merge", "name"},
      {{"spec", "initContainers"}, map, {"name"}, "merge", "name"},
      {{"spec", "ephemeralContainers"}, map, {"name"}, "merge", "name"},
      {{"spec", "containers", "ports"},
       map,
       {"containerPort", "protocol"},
       "merge",
       "containerPort"},
      {{"spec", "containers", "env"}, map, {"name"}, "merge", "name"},
      {{"spec", "containers", "args"}, atomic, {}, "", ""},
      {{"spec", "containers", "volumeMounts"}, map, {"mountPath"}, "merge", "mountPath"},
      {{"spec", "ephemeralContainers", "ports"},
       map,
       {"containerPort", "protocol"},
       "merge",
       "containerPort"},
      {{"spec", "volumes"}, map, {"name"}, "merge,retainKeys", "name"},
      {{"spec", "imagePullSecrets"}, map, {"name"}, "merge", "name"},
      {{"spec", "hostAliases"}, map, {"ip"}, "merge", "ip"},
      {{"spec", "tolerations"}, atomic, {}, "", ""},
      {{"spec", "topologySpreadConstraints"},
       map,
       {"topologyKey", "whenUnsatisfiable"},
       "merge",
       "topologyKey"},
      {{"status", "conditions"}, map, {"type"}, "merge", "type"},
      {{"status", "podIPs"}, map, {"ip"}, "merge", "ip"},
      {{"status", "containerStatuses"}, atomic, {}, "", ""},
  };
  for (const Row& row : rows) {
    INFO(row.path.back());
    const Schema& schema = *FieldOf(pod, row.path).schema;
    CHECK(schema.list_type == row.type);
    CHECK(schema.list_map_keys() == row.keys);
    CHECK(schema.patch_strategy() == row.strategy);
    CHECK(schema.patch_merge_key() == row.merge_key);
  }
}

TEST_CASE("groups: a deployment's conditions and strategy know how they are merged", "[groups]") {
  const KindPtr deployment = Find(apiserver::groups::apps::Kinds(), "Deployment");

  const Schema& conditions = *FieldOf(deployment, {"status", "conditions"}).schema;
  CHECK(conditions.list_map_keys() == Keys{"type"});
  CHECK(conditions.patch_merge_key() == "type");
  CHECK(FieldOf(deployment, {"spec", "strategy"}).schema->patch_strategy() == "retainKeys");
  CHECK(FieldOf(deployment, {"spec", "selector"}).schema->atomic);
  CHECK(FieldOf(deployment, {"spec", "template", "spec", "containers"}).schema->list_map_keys() ==
        Keys{"name"});
}

TEST_CASE("groups: keys of lists that may be left out have a default", "[groups]") {
  const KindPtr pod = Find(apiserver::groups::core::Kinds(), "Pod");

  const Field& protocol = FieldOf(pod, {"spec", "containers", "ports", "protocol"});
  const Field& secret = FieldOf(pod, {"spec", "imagePullSecrets", "name"});

  REQUIRE(protocol.default_value() != nullptr);
  CHECK(protocol.default_value()->AsString() == "TCP");
  REQUIRE(secret.default_value() != nullptr);
  CHECK(secret.default_value()->is_string());
}

TEST_CASE("groups: references within an object are replaced whole", "[groups]") {
  const KindPtr pod = Find(apiserver::groups::core::Kinds(), "Pod");
  const KindPtr event = Find(apiserver::groups::core::Kinds(), "Event");

  CHECK(FieldOf(pod, {"spec", "nodeSelector"}).schema->atomic);
  CHECK(FieldOf(pod, {"spec", "containers", "env", "valueFrom", "configMapKeyRef"}).schema->atomic);
  CHECK(FieldOf(pod, {"spec", "containers", "env", "valueFrom", "fieldRef"}).schema->atomic);
  CHECK(FieldOf(event, {"involvedObject"}).schema->atomic);
  CHECK_FALSE(FieldOf(pod, {"spec", "securityContext"}).schema->atomic);
}

// What `kubectl explain` shows.
TEST_CASE("groups: every field has a description, a type name and what is required", "[groups]") {
  const KindPtr pod = Find(apiserver::groups::core::Kinds(), "Pod");

  const Field& containers = FieldOf(pod, {"spec", "containers"});
  const Field& policy = FieldOf(pod, {"spec", "restartPolicy"});

  CHECK(pod->FindVersion("v1")->schema->name() == "io.k8s.api.core.v1.Pod");
  const Schema& spec = *FieldOf(pod, {"spec"}).schema;
  CHECK(spec.DescriptionOf(containers) ==
        "The containers; at least one. Cannot be added or removed.");
  CHECK(containers.required);
  CHECK(containers.schema->items()->name() == "io.k8s.api.core.v1.Container");
  CHECK_FALSE(policy.required);
  CHECK(policy.schema->constraints().enum_values().size() == 3);
}

}  // namespace
