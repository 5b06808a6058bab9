#include <map>
#include <optional>

#include "field_manager_fixture.h"

// kubectl's move from client-side to server-side apply, which the last-applied annotation allows.
namespace apiserver::inline v0::test {
namespace {

using Strings = std::vector<std::string>;

// A Deployment as the cases write it; what is empty is left out.
struct Spec {
  std::string label = "";
  int replicas = 0;
  std::string selector = "";
  std::string template_label = "";
  std::vector<std::pair<std::string, std::string>> containers = {};
  std::string api_version = "apps/v1";
};

std::string Yaml(const Spec& spec) {
  std::string yaml =
      "apiVersion: " + spec.api_version + "\nkind: Deployment\nmetadata:\n  name: my-deployment\n";
  if (!spec.label.empty()) yaml += "  labels: {app: " + spec.label + "}\n";
  yaml += "spec:\n  replicas: " + std::to_string(spec.replicas) + "\n";
  if (!spec.selector.empty()) yaml += "  selector: {matchLabels: {app: " + spec.selector + "}}\n";
  if (spec.template_label.empty()) return yaml;
  yaml += "  template:\n    metadata: {labels: {app: " + spec.template_label +
          "}}\n    spec:\n      containers:\n";
  for (const auto& [name, image] : spec.containers) {
    yaml += "      - {name: " + name + ", image: " + image + "}\n";
  }
  return yaml;
}

struct LastAppliedCase {
  std::string name;
  runtime::KindPtr kind;
  std::string manager;
  std::string original;
  std::string applied;
  Strings conflicts = {};
  std::optional<std::string> last_applied = std::nullopt;  // Absent: the original.
};

std::string AsJson(const std::string& yaml) {
  runtime::Arena arena;
  std::string json;
  const auto root = codec::ParseYaml(yaml, arena);
  if (root.ok()) codec::AppendJson(*root, json);
  return json;
}

// Whether everything `expected` says is in `actual`.
bool Derives(Value expected, Value actual) {
  if (expected.is_map()) {
    for (const runtime::Member& member : expected.members()) {
      if (!Derives(member.value, actual[member.key])) return false;
    }
    return true;
  }
  if (!expected.is_list()) return expected == actual;
  if (expected.size() != actual.size()) return false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!Derives(expected.at(i), actual.at(i))) return false;
  }
  return true;
}

void Check(const LastAppliedCase& c) {
  INFO(c.name);
  TestFieldManager f(c.kind);
  auto object = f.Parse(c.original);
  object->Edit("metadata", "annotations", kLastAppliedConfigAnnotation) =
      AsJson(c.last_applied.value_or(c.original));
  f.Update(std::move(object), "test_client_side_apply");
  const Status status = f.Apply(c.applied, c.manager);
  CHECK(ConflictFields(status) == c.conflicts);
  CHECK(status.ok() == c.conflicts.empty());
  if (!status.ok()) CHECK(f.Apply(c.applied, c.manager, /*force=*/true).ok());
  const auto applied = f.Parse(c.applied);
  CHECK(Derives(applied->root(), f.live().root()));
}

}  // namespace

// internal TestApplyUsingLastAppliedAnnotation
TEST_CASE("last applied: kubectl may change what its annotation covers", "[apply]") {
  const runtime::KindPtr kind = DeploymentKind();
  const Spec all{"my-app", 100, "my-app", "my-app", {{"my-c", "my-image"}}};
  const auto with = [](Spec spec, auto change) {
    change(spec);
    return Yaml(spec);
  };
  const std::string replicas = ".spec.replicas";
  const std::string label = ".metadata.labels.app";
  const std::string image = R"(.spec.template.spec.containers[name="my-c"].image)";
  const std::string v1 = Yaml({"my-app", 3, "my-app", "my-app", {{"my-c", "my-image-v1"}}});
  const std::string v2 = Yaml({"my-app", 100, "my-app", "my-app", {{"my-c", "my-image-v2"}}});
  const std::string changed =
      Yaml({"my-new-label", 333, "my-new-label", "my-new-label", {{"my-c", "my-image-new"}}});
  const std::string three = Yaml({.replicas = 3});
  const std::string hundred = Yaml({.replicas = 100});
  const std::vector<LastAppliedCase> cases = {
      {"fields not allowed by last-applied",
       kind,
       "kubectl",
       v2,
       changed,
       {label, replicas, image},
       Yaml({"", 3, "my-app", "my-app", {{"my-c", "my-image-v1"}, {"my-c2", "my-image2"}}})},
      {"replicas differ from last-applied",
       kind,
       "kubectl",
       Yaml(all),
       Yaml({"my-new-label", 3, "", "my-app", {{"my-c", "my-image"}}}),
       {replicas},
       with(all, [](Spec& s) { s.replicas = 3; })},
      {"applied object matches original", kind, "kubectl", Yaml(all), Yaml(all)},
      {"allowed update", kind, "kubectl", with(all, [](Spec& s) { s.replicas = 3; }),
       Yaml({"my-new-label", 333, "my-new-label", "my-new-label", {{"my-c", "my-image"}}})},
      {"not kubectl",
       kind,
       "not_kubectl",
       v2,
       changed,
       {label, replicas, ".spec.selector", ".spec.template.metadata.labels.app", image},
       v1},
      {"allowed update of the image", kind, "kubectl", with(all, [](Spec& s) { s.replicas = 3; }),
       Yaml({"my-new-label", 3, "my-app", "my-app", {{"my-c", "my-new-image"}}})},
      {"not kubectl, annotation as the original",
       kind,
       "not_kubectl",
       Yaml(all),
       Yaml({"my-new-label", 3, "my-app", "my-app", {{"my-c", "my-new-image"}}}),
       {label, replicas, image}},
      {"only replicas", kind, "kubectl", three, hundred},
      {"another version in last-applied",
       kind,
       "kubectl",
       three,
       hundred,
       {replicas},
       Yaml({.replicas = 3, .api_version = "extensions/v1beta1"})},
      {"last-applied is no object of the kind",
       kind,
       "kubectl",
       three,
       hundred,
       {replicas},
       "apiVerison: foo\nkind: bar\nspec: expect conflict due to invalid object\n"},
      {"last-applied is empty", kind, "kubectl", three, hundred, {replicas}, ""}};
  for (const LastAppliedCase& c : cases) Check(c);
}

// internal TestServiceApply
TEST_CASE("last applied: a Service's ports and selector", "[apply]") {
  const runtime::KindPtr kind = MakeKind("", "Service", "services", ServiceSchema());
  const auto service = [](int target, const std::string& selector) {
    return "apiVersion: v1\nkind: Service\nmetadata: {name: test}\nspec:\n  ports:\n"
           "  - {name: https, port: 443, protocol: TCP, targetPort: " +
           std::to_string(target) + "}\n  selector: " + selector + "\n";
  };
  const std::string original = service(8443, "{old: test}");
  const std::vector<LastAppliedCase> cases = {
      {"the same manager", kind, "kubectl", original, service(8444, "{new: test}")},
      {"the same manager removes selectors", kind, "kubectl", original, service(8444, "{}")},
      {"another manager",
       kind,
       "not_kubectl",
       original,
       service(8444, "{new: test}"),
       {".spec.selector", R"(.spec.ports[port=443,protocol="TCP"].targetPort)"}}};
  for (const LastAppliedCase& c : cases) Check(c);
}

// internal TestReplicationControllerApply
TEST_CASE("last applied: a ReplicationController's selector is atomic", "[apply]") {
  const runtime::KindPtr kind = MakeKind("", "ReplicationController", "replicationcontrollers",
                                         ReplicationControllerSchema());
  const auto controller = [](int replicas, const std::string& selector) {
    return "apiVersion: v1\nkind: ReplicationController\nmetadata: {name: test}\nspec:\n"
           "  replicas: " +
           std::to_string(replicas) + "\n  selector: {" + selector + ": test}\n";
  };
  Check({"the same manager", kind, "kubectl", controller(0, "old"), controller(3, "new")});
  Check({"another manager",
         kind,
         "not_kubectl",
         controller(0, "old"),
         controller(3, "new"),
         {".spec.replicas", ".spec.selector"}});
}

// internal TestPodApply
TEST_CASE("last applied: a Pod's node selector is atomic", "[apply]") {
  const runtime::KindPtr kind = PodKind();
  const auto pod = [](const std::string& node, const std::string& selector) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: test, namespace: test}\nspec:\n"
           "  containers:\n  - {args: [-v=2], command: [controller], "
           "image: 'some.registry/app:latest', name: doJob}\n" +
           (node.empty() ? "" : "  nodeName: " + node + "\n") + "  nodeSelector: {" + selector +
           "}\n";
  };
  const std::string control = "definetlyControlPlane";
  const std::string master = R"(node-role.kubernetes.io/master: "")";
  const std::string original = pod(control, master);
  const std::string selector = ".spec.nodeSelector";
  const std::vector<LastAppliedCase> cases = {
      {"the same manager", kind, "kubectl", original,
       pod("", R"(node-role.kubernetes.io/worker: "")")},
      {"another manager",
       kind,
       "not_kubectl",
       original,
       pod(control, master + R"(, otherNodeType: "")"),
       {selector}},
      {"another manager purges the selector",
       kind,
       "not_kubectl",
       original,
       pod("another", ""),
       {".spec.nodeName", selector}},
      {"the same manager purges the selector", kind, "kubectl", original, pod("another", "")}};
  for (const LastAppliedCase& c : cases) Check(c);
}

// internal TestLastAppliedUpdater
TEST_CASE("last applied: only kubectl's apply writes the annotation anew", "[apply]") {
  TestFieldManager f(DeploymentKind());
  const std::string applied =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: my-deployment\n  annotations:\n"
      "    kubectl.kubernetes.io/last-applied-configuration: nonempty\n  labels: {app: my-app}\n"
      "spec:\n  replicas: 20\n  selector: {matchLabels: {app: my-app}}\n  template:\n"
      "    metadata: {labels: {app: my-app}}\n    spec: {containers: [{name: my-c, image: "
      "my-image}]}\n";
  REQUIRE(f.Apply(applied, "NOT-KUBECTL").ok());
  CHECK(f.LastApplied() == "nonempty");
  REQUIRE(f.Apply(applied, "kubectl").ok());
  CHECK(f.LastApplied() ==
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},)"
        R"("labels":{"app":"my-app"},"name":"my-deployment"},"spec":{"replicas":20,)"
        R"("selector":{"matchLabels":{"app":"my-app"}},"template":{"metadata":{"labels":)"
        R"({"app":"my-app"}},"spec":{"containers":[{"image":"my-image","name":"my-c"}]}}}})"
        "\n");
}

// internal TestLargeLastApplied
TEST_CASE("last applied: an annotation that would be too large goes", "[apply]") {
  const auto config_map = [](int data, int annotations) {
    const std::string key =
        "this-key-is-very-long-so-as-to-create-a-very-large-serialized-fieldset-";
    std::string json =
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large-update-test-cm",)"
        R"("namespace":"default","annotations":{)"
        R"("kubectl.kubernetes.io/last-applied-configuration":"nonempty")";
    for (int i = 0; i < annotations; ++i) json += ",\"" + key + std::to_string(i) + "\":\"A\"";
    json += R"(}},"data":{"k":"v")";
    for (int i = 0; i < data; ++i) json += ",\"" + key + std::to_string(i) + "\":\"A\"";
    return json + "}}";
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {config_map(0, 0), config_map(9999, 0)}, {config_map(2000, 0), config_map(2000, 2000)}};
  for (const auto& [old_object, new_object] : cases) {
    TestFieldManager f(ConfigMapKind());
    REQUIRE(f.Apply(old_object, "kubectl").ok());
    CHECK(f.LastApplied().size() > std::string_view("nonempty").size());
    REQUIRE(f.Apply(new_object, "kubectl").ok());
    CHECK(f.live().annotations().Find(kLastAppliedConfigAnnotation) == nullptr);
  }
}

}  // namespace apiserver::inline v0::test
