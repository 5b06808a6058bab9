#include "field_manager_fixture.h"

namespace apiserver::inline v0::test {
namespace {

using Strings = std::vector<std::string>;

constexpr std::string_view kNginx = R"({
  "apiVersion": "apps/v1", "kind": "Deployment",
  "metadata": {"name": "deployment", "labels": {"app": "nginx"}},
  "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "nginx"}},
    "template": {"metadata": {"labels": {"app": "nginx"}},
      "spec": {"containers": [{"name": "nginx", "image": "nginx:latest"}]}}}})";
constexpr std::string_view kReplicas101 = R"({
  "apiVersion": "apps/v1", "kind": "Deployment",
  "metadata": {"name": "deployment"}, "spec": {"replicas": 101}})";
constexpr std::string_view kPod =
    R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": "b"}}})";

std::string Annotated(std::string_view yaml, std::string_view last_applied) {
  runtime::Arena arena;
  Value root = *codec::ParseYaml(yaml, arena);
  const Value annotations =
      runtime::With(root["metadata"]["annotations"], kLastAppliedConfigAnnotation,
                    Value::String(arena.Copy(last_applied)), arena);
  const Value metadata = runtime::With(root["metadata"], "annotations", annotations, arena);
  std::string json;
  codec::AppendJson(runtime::With(root, "metadata", metadata, arena), json);
  return json;
}

std::string YamlAsJson(std::string_view yaml) {
  runtime::Arena arena;
  std::string json;
  codec::AppendJson(*codec::ParseYaml(yaml, arena), json);
  return json;
}

}  // namespace

// managedfields TestUpdateApplyConflict
TEST_CASE("field manager: what an update set conflicts with what is applied", "[apply]") {
  TestFieldManager f(DeploymentKind());
  f.Update(kNginx, "fieldmanager_test");
  const Status status = f.Apply(kReplicas101, "fieldmanager_conflict");
  CHECK(status.code() == 409);
  CHECK(status.reason() == Reason::kConflict);
  CHECK(status.message() ==
        "Apply failed with 1 conflict: conflict with \"fieldmanager_test\" using apps/v1: "
        ".spec.replicas");
  REQUIRE(status.details() != nullptr);
  CHECK(status.details()->causes ==
        std::vector<StatusCause>{{.reason = "FieldManagerConflict",
                                  .message = "conflict with \"fieldmanager_test\" using apps/v1",
                                  .field = ".spec.replicas"}});
}

TEST_CASE("field manager: force takes what others own", "[apply]") {
  TestFieldManager f(DeploymentKind());
  f.Update(kNginx, "fieldmanager_test");
  REQUIRE(f.Apply(kReplicas101, "forcer", /*force=*/true).ok());
  CHECK(f.live()["spec"]["replicas"].AsInt() == 101);
  CHECK(f.FieldsOf("forcer") == R"({"f:spec":{"f:replicas":{}}})");
  CHECK(f.FieldsOf("fieldmanager_test").find("f:replicas") == std::string::npos);
}

// managedfields TestApplyStripsFields
TEST_CASE("field manager: nobody owns what the system says in metadata", "[apply]") {
  TestFieldManager f(DeploymentKind());
  f.Update(R"({"metadata": {"name": "b", "namespace": "b", "uid": "b", "generation": 0,
      "resourceVersion": "b", "creationTimestamp": "2020-01-01T00:00:00Z",
      "managedFields": [{"manager": "update", "operation": "Apply", "apiVersion": "apps/v1"}]}})",
           "fieldmanager_test");
  CHECK(f.managed_fields().is_null());
}

// managedfields TestVersionCheck, TestVersionCheckDoesNotPanic
TEST_CASE("field manager: what is applied must be of the kind and version", "[apply]") {
  TestFieldManager f(DeploymentKind());
  REQUIRE(f.Apply(R"({"apiVersion": "apps/v1", "kind": "Deployment"})", "test").ok());
  struct Case {
    std::string_view applied;
    std::string_view message;
  };
  for (const Case& c : std::vector<Case>{
           {R"({"apiVersion": "apps/v1beta1", "kind": "Deployment"})",
            "invalid object type: apps/v1beta1, Kind=Deployment"},
           {"{}", "invalid object type: /, Kind="},
           {R"({"apiVersion": "v1", "kind": "Pod"})", "invalid object type: /v1, Kind=Pod"}}) {
    const Status status = f.Apply(c.applied, "test");
    CHECK(status.code() == 400);
    CHECK(status.message() == c.message);
  }
}

// managedfields TestApplyDoesNotStripLabels, TestApplySuccessWithNoManagedFields
TEST_CASE("field manager: labels that are applied are owned", "[apply]") {
  TestFieldManager f(PodKind());
  REQUIRE(f.Apply(kPod, "fieldmanager_test").ok());
  CHECK(f.ManagedJson() ==
        R"([{"manager":"fieldmanager_test","operation":"Apply","apiVersion":"v1",)"
        R"("time":"2020-09-13T12:26:40Z","fieldsType":"FieldsV1",)"
        R"("fieldsV1":{"f:metadata":{"f:labels":{"f:a":{}}}}}])");
}

// managedfields TestApplyFailsWithManagedFields
TEST_CASE("field manager: what is applied has no owners in it", "[apply]") {
  TestFieldManager f(PodKind());
  for (const std::string_view owners : {R"([{"manager": "test"}])", "[]"}) {
    const Status status = f.Apply(R"({"apiVersion": "v1", "kind": "Pod", "metadata":
        {"managedFields": )" + std::string(owners) +
                                      "}}",
                                  "test");
    CHECK(status.code() == 400);
    CHECK(status.message() == "metadata.managedFields must be nil");
  }
  CHECK(
      f.Apply(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"managedFields": null}})", "test")
          .ok());
}

TEST_CASE("field manager: what does not fit the schema is refused in upstream's words", "[apply]") {
  TestFieldManager f(DeploymentKind());
  const Status status = f.Apply(R"({"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"name": "x", "namespace": "default"}, "spec": {"typo": 1}})",
                                "test");
  CHECK(status.code() == 500);
  CHECK(status.message() ==
        "failed to create typed patch object (default/x; apps/v1, Kind=Deployment): .spec.typo: "
        "field not declared in schema");
}

// managedfields TestNoOpChanges
TEST_CASE("field manager: what changes nothing leaves owners and times alone", "[apply]") {
  TestFieldManager f(PodKind());
  REQUIRE(f.Apply(kPod, "fieldmanager_test_apply").ok());
  std::string before = f.LiveJson();
  f.clock().Step();
  REQUIRE(f.Apply(kPod, "fieldmanager_test_apply_other").ok());
  CHECK(f.LiveJson() != before);
  CHECK(f.Managers() == Strings{"fieldmanager_test_apply_other", "fieldmanager_test_apply"});
  // As upstream: who applies what is there already has no time.
  CHECK(f.TimeOf("fieldmanager_test_apply_other").empty());
  before = f.LiveJson();
  f.clock().Step();
  f.Update(kPod, "fieldmanager_test_update");
  CHECK(f.LiveJson() == before);
  f.clock().Step();
  REQUIRE(f.Apply(kPod, "fieldmanager_test_apply", /*force=*/true).ok());
  CHECK(f.LiveJson() == before);
}

// managedfields TestResetManagedFieldsEmptyList, TestResetManagedFieldsEmptyItem
TEST_CASE("field manager: an empty list or entry forgets all owners", "[apply]") {
  for (const std::string_view owners : {"[]", "[{}]"}) {
    TestFieldManager f(PodKind());
    REQUIRE(f.Apply(kPod, "fieldmanager_test_apply").ok());
    f.Update(
        R"({"metadata": {"labels": {"a": "b"}, "managedFields": )" + std::string(owners) + "}}",
        "update_manager");
    CHECK(f.managed_fields().is_null());
  }
}

TEST_CASE("field manager: owners that are not sent, or cannot be read, are kept", "[apply]") {
  for (const std::string_view owners :
       {"null", R"([{"manager": "x", "operation": "Steal", "apiVersion": "v1"}])",
        R"([{"manager": "x", "operation": "Update", "apiVersion": "v1", "fieldsType": "V2"}])"}) {
    TestFieldManager f(PodKind());
    REQUIRE(f.Apply(kPod, "fieldmanager_test_apply").ok());
    f.Update(
        R"({"metadata": {"labels": {"a": "b"}, "managedFields": )" + std::string(owners) + "}}",
        "update_manager");
    CHECK(f.Managers() == Strings{"fieldmanager_test_apply"});
  }
}

// managedfields TestServerSideApplyWithInvalidLastApplied
TEST_CASE("field manager: an annotation that cannot be read allows nothing", "[apply]") {
  TestFieldManager f(DeploymentKind());
  f.Update(Annotated(R"({"metadata": {"name": "d", "labels": {"app": "my-app-v1"}},
                         "spec": {"replicas": 1}})",
                     "invalid-object"),
           "kubectl-client-side-apply-test");
  constexpr std::string_view kApplied = R"({"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"name": "d", "labels": {"app": "my-app-v2"}}, "spec": {"replicas": 100}})";
  CHECK(f.Apply(kApplied, "kubectl").reason() == Reason::kConflict);
  CHECK(f.LastApplied() == "invalid-object");
  REQUIRE(f.Apply(kApplied, "kubectl", /*force=*/true).ok());
  CHECK(f.LastApplied() ==
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"labels":{"app":"my-app-v2"},)"
        R"("name":"d"},"spec":{"replicas":100}})"
        "\n");
}

// managedfields TestInteropForClientSideApplyAndServerSideApply
TEST_CASE("field manager: kubectl goes over from client-side apply without a conflict", "[apply]") {
  TestFieldManager f(DeploymentKind());
  const std::string created = R"({"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"name": "d", "labels": {"app": "my-app"}}, "spec": {"replicas": 100,
      "selector": {"matchLabels": {"app": "my-app"}}, "template": {"metadata": {"labels":
      {"app": "my-app"}}, "spec": {"containers": [{"name": "my-c", "image": "my-image-v1"}]}}}})";
  f.Update(Annotated(created, YamlAsJson(created)), "kubectl-client-side-apply-test");
  REQUIRE(f.Apply(R"({"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"name": "d", "labels": {"app": "my-app-v2"}}, "spec": {"replicas": 8,
      "selector": {"matchLabels": {"app": "my-app-v2"}}, "template":
      {"metadata": {"labels": {"app": "my-app-v2"}},
       "spec": {"containers": [{"name": "my-c", "image": "my-image-v2"}]}}}})",
                  "kubectl")
              .ok());
  CHECK(f.LastApplied().find("my-image-v2") != std::string::npos);
  CHECK(f.live()["spec"]["replicas"].AsInt() == 8);
}

// managedfields TestNoTrackManagedFieldsForClientSideApply
TEST_CASE("field manager: an object that exists without owners is tracked from its first apply",
          "[apply]") {
  TestFieldManager f(DeploymentKind());
  const std::string deployment = R"({"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"name": "d", "labels": {"app": "my-app"}}, "spec": {"replicas": 100}})";
  f.Update(deployment, "test_kubectl_create");
  CHECK(f.Managers() == Strings{"test_kubectl_create"});
  f.Update(R"({"metadata": {"name": "d", "uid": "nonempty", "labels": {"app": "my-app"},
      "managedFields": []}, "spec": {"replicas": 100}})",
           "test_kubectl_replace");
  // Upstream's first reset is of an object without uid as well.
  CHECK(f.managed_fields().is_null());
  auto replaced = f.Parse(Annotated(deployment, YamlAsJson(deployment)));
  replaced->Edit("metadata", "uid") = "nonempty";
  f.Update(std::move(replaced), "test_k_client_side_apply");
  CHECK(f.managed_fields().is_null());
  CHECK(f.LastApplied().find("my-app") != std::string::npos);
  REQUIRE(f.Apply(deployment, "test_server_side_apply_without_upgrade").ok());
  CHECK(f.Managers() == Strings{"test_server_side_apply_without_upgrade", "before-first-apply"});
  REQUIRE(f.Apply(R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d",
      "labels": {"app": "my-app-v2"}}, "spec": {"replicas": 8}})",
                  "kubectl")
              .ok());
  CHECK_FALSE(f.managed_fields().is_null());
  CHECK(f.LastApplied().find("my-app-v2") != std::string::npos);
}

// managedfields TestUpdateViaSubresources
TEST_CASE("field manager: a subresource does not take owners from who writes it", "[apply]") {
  TestFieldManager::Options options;
  options.subresource = "scale";
  TestFieldManager f(PodKind(), options);
  f.Update(R"({"metadata": {"labels": {"a": "b"}, "managedFields": [{"manager": "test",
      "operation": "Apply", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1":
      {"f:metadata": {"f:labels": {"f:another_field": {}}}}}]}})",
           "test_subresource");
  CHECK(f.ManagedJson() ==
        R"([{"manager":"test_subresource","operation":"Update","apiVersion":"v1",)"
        R"("time":"2020-09-13T12:26:40Z","fieldsType":"FieldsV1",)"
        R"("fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:a":{}}}},"subresource":"scale"}])");
  f.Update(R"({"metadata": {"labels": {"a": "b"}, "managedFields": []}})", "test_subresource");
  CHECK(f.Managers() == Strings{"test_subresource"});
}

// managedfields TestApplyDoesNotChangeManagedFields
TEST_CASE("field manager: applying once more changes no owner and no time", "[apply]") {
  TestFieldManager f(DeploymentKind());
  constexpr std::string_view kWithoutReplicas = R"({"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"name": "deployment", "labels": {"app": "nginx"}},
      "spec": {"selector": {"matchLabels": {"app": "nginx"}},
        "template": {"metadata": {"labels": {"app": "nginx"}},
          "spec": {"containers": [{"name": "nginx", "image": "nginx:latest"}]}}}})";
  REQUIRE(f.Apply(kWithoutReplicas, "fieldmanager_z").ok());
  REQUIRE(f.Apply(kReplicas101, "fieldmanager_b").ok());
  const std::string before = f.ManagedJson();
  f.clock().Step();
  REQUIRE(f.Apply(kWithoutReplicas, "fieldmanager_z").ok());
  CHECK(f.ManagedJson() == before);
}

// managedfields TestUpdateDoesNotChangeManagedFields
TEST_CASE("field manager: updating with the same changes no owner and no time", "[apply]") {
  TestFieldManager f(DeploymentKind());
  f.Update(kNginx, "fieldmanager_z");
  const std::string before = f.ManagedJson();
  f.clock().Step();
  f.Update(kNginx, "fieldmanager_z");
  CHECK(f.ManagedJson() == before);
}

// internal TestFieldManagerUpdateNoErrors
TEST_CASE("field manager: where owners cannot be found they stay what they were", "[apply]") {
  TestFieldManager f(PodKind());
  f.Update(R"({"metadata": {"labels": {"one": "true"}}})", "fieldmanager_test_update_1");
  const std::string before = f.ManagedJson();
  // Not declared: no such object comes from a client, but a plugin may make one.
  f.Update(R"({"metadata": {"labels": {"one": "true"}}, "spec": {"typo": 1}})",
           "fieldmanager_test_update_1");
  CHECK(f.ManagedJson() == before);
}

TEST_CASE("field manager: a manager without a name is called unknown", "[apply]") {
  TestFieldManager f(PodKind());
  f.Update(kPod, "");
  CHECK(f.Managers() == Strings{"unknown"});
}

// internal TestUpdateBeforeFirstApply, of an object that lost its owners: with tracking from
// creation on, as servers run it, there is no other without.
TEST_CASE("field manager: what was there before the first apply conflicts with it", "[apply]") {
  TestFieldManager f(PodKind());
  f.Update(R"({"metadata": {"uid": "u"}})", "fieldmanager_test_create");
  f.Update(R"({"metadata": {"uid": "u", "labels": {"app": "my-nginx"}, "managedFields": []}})",
           "fieldmanager_test_update");
  CHECK(f.managed_fields().is_null());
  constexpr std::string_view kApplied = R"({"apiVersion": "v1", "kind": "Pod", "metadata":
      {"name": "pod", "labels": {"app": "nginx"}}, "spec": {"containers":
      [{"name": "nginx", "image": "nginx:latest"}]}})";
  const Status status = f.Apply(kApplied, "fieldmanager_test_apply");
  CHECK(ConflictFields(status) == Strings{".metadata.labels.app"});
  CHECK(status.message().find("before-first-apply") != std::string_view::npos);
  REQUIRE(f.Apply(kApplied, "fieldmanager_test_apply", /*force=*/true).ok());
  CHECK(f.Managers() == Strings{"fieldmanager_test_apply", "before-first-apply"});
}

// internal TestNoUpdateBeforeFirstApply
TEST_CASE("field manager: nothing is owned before the first apply creates the object", "[apply]") {
  TestFieldManager f(PodKind());
  REQUIRE(f.Apply(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod", "labels":
      {"app": "nginx"}}, "spec": {"containers": [{"name": "nginx", "image": "nginx:latest"}]}})",
                  "fieldmanager_test_apply")
              .ok());
  CHECK(f.Managers() == Strings{"fieldmanager_test_apply"});
}

// internal TestCapManagersManagerMergesEntries
TEST_CASE("field manager: too many updaters become ancient changes", "[apply]") {
  TestFieldManager::Options options;
  options.update_managers_max = 3;
  TestFieldManager f(PodKind(), options);
  std::string labels;
  for (const std::string_view label : {"one", "two", "three", "four"}) {
    labels += (labels.empty() ? "\"" : ",\"") + std::string(label) + "\":\"true\"";
    f.clock().Step();
    f.Update("{\"metadata\":{\"labels\":{" + labels + "}}}", "update_" + std::string(label));
    const std::string before = f.ManagedJson();
    f.Update("{\"metadata\":{\"labels\":{" + labels + "}}}", "no-op-update");
    CHECK(f.ManagedJson() == before);
  }
  CHECK(f.Managers() == Strings{"ancient-changes", "update_three", "update_four"});
  CHECK(f.FieldsOf("ancient-changes") ==
        R"({"f:metadata":{"f:labels":{".":{},"f:one":{},"f:two":{}}}})");
}

namespace {

struct Entry {
  std::string manager;
  std::string version;
  int order = 0;
  std::string fields;  // Each letter a label.
};

std::string JsonOf(const std::vector<Entry>& entries) {
  std::string json = "[";
  for (const Entry& entry : entries) {
    if (json.size() > 1) json += ',';
    json += R"({"manager":")" + entry.manager + R"(","operation":"Update","apiVersion":")" +
            entry.version + R"(","time":"2000-01-01T0)" + std::to_string(entry.order) +
            R"(:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{)";
    for (std::size_t i = 0; i < entry.fields.size(); ++i) {
      json += (i > 0 ? ",\"f:" : "\"f:") + std::string(1, entry.fields[i]) + "\":{}";
    }
    json += "}}}}";
  }
  return json + "]";
}

struct CapCase {
  std::string name;
  std::vector<Entry> input;
  std::vector<Entry> expected;
};

}  // namespace

// internal TestCapUpdateManagers
TEST_CASE("field manager: the oldest updates of each version are put together", "[apply]") {
  const Entry ancient_ab{"ancient-changes", "v1", 2, "ab"};
  const Entry ancient_acde{"ancient-changes", "v1", 5, "acde"};
  const Entry two{"update-manager2", "v2", 2, "b"};
  const Entry three{"update-manager3", "v1", 3, "c"};
  const Entry four{"update-manager4", "v1", 4, "d"};
  const Entry five{"update-manager5", "v1", 5, "e"};
  const Entry six{"update-manager6", "v3", 6, "f"};
  const Entry ancient_bg{"ancient-changes", "v2", 7, "bg"};
  const std::vector<CapCase> cases = {
      {"one version, no ancient changes",
       {{"update-manager1", "v1", 1, "a"}, {"update-manager2", "v1", 2, "b"}, three, four},
       {ancient_ab, three, four}},
      {"one version, one ancient changes",
       {ancient_ab, three, four, five},
       {{"ancient-changes", "v1", 3, "abc"}, four, five}},
      {"two versions, no ancient changes",
       {{"update-manager1", "v1", 1, "a"}, two, three, four, five},
       {two, {"ancient-changes", "v1", 4, "acd"}, five}},
      {"three versions, one ancient changes",
       {two, {"ancient-changes", "v1", 4, "acd"}, five, six, {"update-manager7", "v2", 7, "g"}},
       {ancient_acde, six, ancient_bg}},
      {"three versions, two ancient changes",
       {ancient_acde, six, ancient_bg, {"update-manager8", "v3", 8, "h"}},
       {ancient_acde, ancient_bg, {"ancient-changes", "v3", 8, "fh"}}},
      {"four versions, two ancient changes",
       {ancient_acde, six, ancient_bg, {"update-manager8", "v4", 8, "h"}},
       {ancient_acde, six, ancient_bg, {"update-manager8", "v4", 8, "h"}}}};
  for (const CapCase& c : cases) {
    INFO(c.name);
    TestFieldManager::Options options;
    options.update_managers_max = 3;
    TestFieldManager f(
        MakeKind("", "Pod", "pods", WithMetadata(PodSpec()), {"v1", "v2", "v3", "v4"}), options);
    const std::string object = R"({"metadata":{"managedFields":)" + JsonOf(c.input) + "}}";
    f.Update(object, "no-op-update");
    CHECK(f.ManagedJson() == JsonOf(c.expected));
    f.Update("{}", "no-op-update");
    CHECK(f.ManagedJson() == JsonOf(c.expected));
  }
}

namespace {

struct TimeCase {
  std::string name;
  bool apply = false;
  std::string first;     // data of manager a.
  std::string second;    // data of manager b, empty: b does nothing.
  std::string third;     // data of manager a again, empty: a does nothing.
  bool a_moves = false;  // Whether the time of a's entry changes after the step.
  bool b_moves = false;
};

std::string ConfigMap(const std::string& data) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"configmap"},"data":{)" +
         data + "}}";
}

}  // namespace

// internal TestManagedFieldsUpdateDoesModifyTime, TestManagedFieldsApplyDoesModifyTime,
// TestManagedFieldsUpdateWithoutChangesDoesNotModifyTime,
// TestManagedFieldsApplyWithoutChangesDoesNotModifyTime, TestNonManagedFieldsApplyDoesNotModifyTime
TEST_CASE("field manager: an entry's time is when its manager last changed something", "[apply]") {
  const std::string a = R"("key_a":"value")";
  const std::string b = R"("key_b":"value")";
  const std::string new_a = R"("key_a":"new-value")";
  const std::vector<TimeCase> cases = {{"an update that changes", false, a, "", new_a, true, false},
                                       {"an apply that changes", true, a, "", new_a, true, false},
                                       {"an update that does not", false, a, "", a, false, false},
                                       {"an apply that does not", true, a, "", a, false, false},
                                       {"another's apply", true, a, b, new_a, true, false}};
  for (const TimeCase& c : cases) {
    INFO(c.name);
    TestFieldManager f(ConfigMapKind());
    const auto write = [&](const std::string& data, std::string_view manager) {
      if (data.empty()) return;
      if (!c.apply) return f.Update(ConfigMap(data), manager);
      REQUIRE(f.Apply(ConfigMap(data), manager, /*force=*/true).ok());
    };
    write(c.first, "a");
    write(c.second, "b");
    const std::string a_before = f.TimeOf("a");
    const std::string b_before = f.TimeOf("b");
    f.clock().Step();
    write(c.third, "a");
    CHECK((f.TimeOf("a") != a_before) == c.a_moves);
    CHECK((f.TimeOf("b") != b_before) == c.b_moves);
  }
}

// internal TestNonManagedFieldsUpdateDoesNotModifyTime
TEST_CASE("field manager: who loses all fields to an update is gone", "[apply]") {
  TestFieldManager f(ConfigMapKind());
  f.Update(ConfigMap(R"("key_a":"value")"), "a");
  f.Update(ConfigMap(R"("key_b":"value")"), "b");
  f.clock().Step();
  f.Update(ConfigMap(R"("key_a":"value","key_b":"new-value")"), "a");
  CHECK(f.Managers() == Strings{"a"});
}

// internal TestTakingOverManagedFieldsDuringUpdateDoesNotModifyPreviousManagerTime and
// …DuringApply…
TEST_CASE("field manager: who loses a field keeps its time", "[apply]") {
  for (const bool apply : {false, true}) {
    TestFieldManager f(ConfigMapKind());
    const auto write = [&](const std::string& data, std::string_view manager) {
      if (!apply) return f.Update(ConfigMap(data), manager);
      REQUIRE(f.Apply(ConfigMap(data), manager, /*force=*/true).ok());
    };
    write(R"("key_a":"value","key_b":"value")", "a");
    const std::string before = f.TimeOf("a");
    f.clock().Step();
    write(apply ? R"("key_b":"new-value")" : R"("key_a":"value","key_b":"new-value")", "b");
    CHECK(f.TimeOf("a") == before);
    CHECK(f.TimeOf("b") != before);
    CHECK(f.FieldsOf("a").find("key_b") == std::string::npos);
  }
}

// internal TestNewConflictError
TEST_CASE("field manager: conflicts with several managers are listed by manager", "[apply]") {
  TestFieldManager f(DeploymentKind());
  REQUIRE(f.Apply(R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata":
      {"name": "d", "labels": {"app": "x"}}})",
                  "bar")
              .ok());
  f.Update(R"({"metadata": {"name": "d", "labels": {"app": "x"}},
               "spec": {"replicas": 1, "template": {"spec": {"nodeName": "n"}}}})",
           "foo");
  const Status status = f.Apply(R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata":
      {"name": "d", "labels": {"app": "y"}}, "spec": {"replicas": 2,
      "template": {"spec": {"nodeName": "m"}}}})",
                                "other");
  CHECK(status.message() ==
        "Apply failed with 3 conflicts: conflicts with \"bar\":\n"
        "- .metadata.labels.app\n"
        "conflicts with \"foo\" using apps/v1:\n"
        "- .spec.replicas\n"
        "- .spec.template.spec.nodeName");
  CHECK(ConflictFields(status) ==
        Strings{".metadata.labels.app", ".spec.replicas", ".spec.template.spec.nodeName"});
}

TEST_CASE("field manager: a conflict names the subresource of its manager", "[apply]") {
  TestFieldManager f(DeploymentKind());
  f.Update(R"({"metadata": {"name": "d"}, "spec": {"replicas": 1}})", "creator");
  f.Update(R"({"metadata": {"name": "d", "managedFields": [{"manager": "foo", "operation":
      "Update", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "subresource": "scale",
      "fieldsV1": {"f:spec": {"f:replicas": {}}}}]}, "spec": {"replicas": 1}})",
           "");
  const Status status = f.Apply(kReplicas101, "other");
  REQUIRE(status.details() != nullptr);
  CHECK(status.details()->causes[0].message ==
        "conflict with \"foo\" with subresource \"scale\" using apps/v1");
}

TEST_CASE("field manager: nobody owns what the strategy resets", "[apply]") {
  runtime::Arena arena;
  TestFieldManager::Options options;
  options.reset_fields.emplace(
      "apps/v1", FieldFilter::Exclude(NewFieldSet({{PathElement::FieldName("status")}}, arena)));
  TestFieldManager f(DeploymentKind(), options);
  f.Update(
      R"({"metadata": {"name": "d"}, "spec": {"replicas": 1}, "status": {"readyReplicas": 1}})",
      "updater");
  CHECK(f.FieldsOf("updater") == R"({"f:spec":{".":{},"f:replicas":{}}})");
  REQUIRE(f.Apply(R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
      "spec": {"replicas": 1}, "status": {"readyReplicas": 2}})",
                  "applier")
              .ok());
  CHECK(f.FieldsOf("applier") == R"({"f:spec":{"f:replicas":{}}})");
}

TEST_CASE("field manager: entries of a version that is no more are dropped", "[apply]") {
  TestFieldManager f(DeploymentKind());
  f.Update(R"({"metadata": {"name": "d", "managedFields": [{"manager": "old", "operation":
      "Update", "apiVersion": "apps/v1beta1", "fieldsType": "FieldsV1",
      "fieldsV1": {"f:spec": {"f:replicas": {}}}}]}, "spec": {"replicas": 1}})",
           "new");
  CHECK(f.Managers() == Strings{"new"});
}

TEST_CASE("field manager: a kind without schema owns lists whole and maps by key", "[apply]") {
  TestFieldManager f(runtime::Kind::Untyped({"example.com", "v1", "Loose"}));
  REQUIRE(f.Apply(R"({"apiVersion": "example.com/v1", "kind": "Loose", "metadata": {"name": "x"},
      "spec": {"a": {"b": 1}, "l": [1, 2]}})",
                  "one")
              .ok());
  CHECK(f.FieldsOf("one") == R"({"f:spec":{".":{},"f:a":{".":{},"f:b":{}},"f:l":{}}})");
  const Status status = f.Apply(R"({"apiVersion": "example.com/v1", "kind": "Loose", "metadata":
      {"name": "x"}, "spec": {"a": {"c": 2}, "l": [1, 2, 3]}})",
                                "two");
  CHECK(ConflictFields(status) == Strings{".spec.l"});
  REQUIRE(f.Apply(R"({"apiVersion": "example.com/v1", "kind": "Loose", "metadata":
      {"name": "x"}, "spec": {"a": {"c": 2}}})",
                  "two")
              .ok());
  CHECK(f.live()["spec"]["a"]["b"].AsInt() == 1);
}

TEST_CASE("field manager: what is no longer applied goes, unless others own it", "[apply]") {
  TestFieldManager f(ConfigMapKind());
  REQUIRE(f.Apply(ConfigMap(R"("a":"1","b":"2","c":"3")"), "one").ok());
  REQUIRE(f.Apply(ConfigMap(R"("b":"2")"), "two").ok());
  REQUIRE(f.Apply(ConfigMap(R"("a":"1")"), "one").ok());
  CHECK(f.LiveJson().find(R"("data":{"a":"1","b":"2"})") != std::string::npos);
  CHECK(f.FieldsOf("one") == R"({"f:data":{"f:a":{}}})");
}

}  // namespace apiserver::inline v0::test
