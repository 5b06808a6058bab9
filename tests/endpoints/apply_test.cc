// Server-side apply and the ownership of fields over HTTP: what Kubernetes' own
// test/integration/apiserver/apply drives, on a kind of ours.
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/registry/scale.h"
#include "apiserver/rest/status.h"
#include "apiserver/testing/server/fake_clock.h"
#include "widget_server.h"

using apiserver::testing::Contains;

namespace {

using namespace apiserver;
using runtime::Value;

constexpr std::string_view kGears = "/apis/example.com/v1/namespaces/default/gears";
const http::Headers kApply{{"Content-Type", "application/apply-patch+yaml"}};
const http::Headers kMerge{{"Content-Type", "application/merge-patch+json"}};
const http::Headers kJsonPatch{{"Content-Type", "application/json-patch+json"}};

class GearStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  void PrepareForCreate(const Context&, runtime::Object& gear) const override {
    gear.Erase("status");
  }
  void PrepareForUpdate(const Context&, runtime::Object& gear,
                        const runtime::Object& old) const override {
    rest::KeepStatus(gear, old);
  }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
  rest::ResetFields GetResetFields() const override;
  bool AllowUnconditionalUpdate() const override { return true; }
};

runtime::SchemaPtr GearSchema(const std::string& replicas) {
  using namespace runtime;
  const SchemaPtr text = StringSchema();
  Schema selector = *MapOf(text);
  selector.atomic = true;
  const SchemaPtr port =
      StructBuilder("")
          .Field("port", IntegerSchema(32), {.required = true, .omit = Field::Omit::kNever})
          .Field("protocol", text, {.default_value = OwnedValue(Value::String("TCP"))})
          .Field("name", text)
          .Build();
  const SchemaPtr spec = StructBuilder("")
                             .Field(replicas, IntegerSchema(32),
                                    {.presence = Field::Presence::kPointer,
                                     .default_value = OwnedValue(Value::Int(1))})
                             .Field("image", text)
                             .Field("ports", ListMapOf(port, {"port", "protocol"}))
                             .Field("tags", SetOf(text))
                             .Field("args", ListOf(text))
                             .Field("selector", std::make_shared<const Schema>(selector))
                             .Build();
  const SchemaPtr status = StructBuilder("").Field("ready", IntegerSchema(32)).Build();
  return StructBuilder("")
      .Field("metadata", ObjectMetaSchema())
      .Field("spec", spec)
      .Field("status", status)
      .Build();
}

// v1 calls the field `replicas`, v1beta1 `count`.
runtime::KindPtr GearKind() {
  const auto rename = [](const char* from, const char* to) {
    return [from, to](runtime::Object& gear) -> Status {
      const Value value = gear["spec"][from];
      gear.Erase("spec", from);
      if (!value.is_null()) gear.Edit("spec", to) = value;
      return {};
    };
  };
  return runtime::Kind::New({.group = "example.com",
                             .kind = "Gear",
                             .plural = "gears",
                             .versions = {{.version = "v1", .schema = GearSchema("replicas")},
                                          {.version = "v1beta1",
                                           .schema = GearSchema("count"),
                                           .to_hub = rename("count", "replicas"),
                                           .from_hub = rename("replicas", "count")}}})
      .value();
}

// What an answer holds.
struct Answer {
  int code = 0;
  std::string body;
  http::Headers headers;
  std::shared_ptr<runtime::Arena> arena = std::make_shared<runtime::Arena>();
  Value object;

  std::string Json(Value value) const {
    std::string json;
    codec::AppendJson(value, json);
    return json;
  }
  std::string spec() const { return Json(object["spec"]); }
  std::string managed() const { return Json(object["metadata"]["managedFields"]); }
  std::string revision() const {
    return std::string(object["metadata"]["resourceVersion"].AsString());
  }
  std::string message() const { return std::string(object["message"].AsString()); }
  // "manager:operation" of each entry.
  std::vector<std::string> managers() const {
    std::vector<std::string> names;
    for (const Value entry : object["metadata"]["managedFields"].items()) {
      names.push_back(std::string(entry["manager"].AsString()) + ":" +
                      std::string(entry["operation"].AsString()));
    }
    return names;
  }
};

rest::ResetFields GearStrategy::GetResetFields() const { return rest::StatusFields(*GearKind()); }

class Gears {
 public:
  explicit Gears(std::vector<std::shared_ptr<const admission::Plugin>> admission = {}) {
    testing::TestServerOptions options;
    const auto strategy = std::make_shared<GearStrategy>();
    testing::TestResource gears{.kind = GearKind(), .strategy = strategy};
    gears.subresources["status"] = [=](std::shared_ptr<registry::Store> store) {
      return registry::NewStatusStore(std::move(store),
                                      rest::NewStatusStrategy(strategy, GearKind()));
    };
    gears.subresources["scale"] = [](std::shared_ptr<registry::Store> store) {
      return registry::NewScaleStore(std::move(store), {});
    };
    options.resources = {std::move(gears)};
    options.admission = std::move(admission);
    options.clock = &clock_;
    server_ = testing::StartTestServer(std::move(options)).value();
  }

  Answer Call(std::string method, const std::string& path, std::string body = "",
              http::Headers headers = {}) {
    const auto got = server_->Call(std::move(method), std::string(kGears) + path, std::move(body),
                                   std::move(headers));
    Answer answer{.code = got.code, .body = got.body, .headers = got.headers};
    const auto parsed = codec::ParseJson(answer.body, *answer.arena);
    // The text moves with the answer: what is parsed must not borrow it.
    if (parsed.ok()) answer.object = runtime::Copy(*parsed, *answer.arena);
    INFO(answer.body);
    CHECK(answer.code != 0);
    return answer;
  }
  Answer Apply(const std::string& body, const std::string& manager, const std::string& more = "") {
    return Call("PATCH", "/a?fieldManager=" + manager + more, body, kApply);
  }
  Answer Get() { return Call("GET", "/a"); }
  void Later() { clock_.Advance(std::chrono::seconds(5)); }
  testing::TestServer& server() { return *server_; }

 private:
  testing::FakeClock clock_;
  std::unique_ptr<testing::TestServer> server_;
};

std::string Gear(const std::string& spec, const std::string& metadata = R"("name":"a")") {
  return R"({"apiVersion":"example.com/v1","kind":"Gear","metadata":{)" + metadata +
         R"(},"spec":{)" + spec + "}}";
}

using Strings = std::vector<std::string>;

}  // namespace

// apply TestApplyAlsoCreates
TEST_CASE("apply: creates what is not there, and changes nothing the second time", "[apply]") {
  Gears gears;
  const std::string body = Gear(R"("image":"x","ports":[{"port":8080,"protocol":"UDP"}])");

  const Answer created = gears.Apply(body, "apply_test");
  gears.Later();
  const Answer again = gears.Apply(body, "apply_test");
  const Answer other = gears.Apply(body, "apply_test_2");

  CHECK(created.code == 201);
  CHECK(created.spec() == R"({"replicas":1,"image":"x","ports":[{"port":8080,"protocol":"UDP"}]})");
  CHECK(again.code == 200);
  CHECK(again.body == created.body);
  CHECK(other.code == 200);
  CHECK(other.managers() == Strings{"apply_test_2:Apply", "apply_test:Apply"});
}

// apply TestCreateOnApplyFailsWithUID
TEST_CASE("apply: with a uid it does not create", "[apply]") {
  Gears gears;
  const Answer answer = gears.Apply(Gear("", R"("name":"a","uid":"88e00824")"), "apply_test");
  CHECK(answer.code == 409);
  CHECK(answer.message() ==
        "Operation cannot be fulfilled on gears.example.com \"a\": uid mismatch: the provided "
        "object specified uid 88e00824, and no existing object was found");
  CHECK(gears.Get().code == 404);
}

// apply TestApplyUpdateApplyConflictForced
TEST_CASE("apply: conflicts with who changed it in between, unless forced", "[apply]") {
  Gears gears;
  const std::string body = Gear(R"("replicas":3,"image":"x")");
  gears.Apply(body, "apply_test");
  gears.Call("PATCH", "/a?fieldManager=patcher", R"({"spec":{"replicas":5}})", kMerge);

  const Answer refused = gears.Apply(body, "apply_test");
  const Answer forced = gears.Apply(body, "apply_test", "&force=true");

  CHECK(refused.code == 409);
  CHECK(refused.body ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
        R"("message":"Apply failed with 1 conflict: conflict with \"patcher\" using )"
        R"(example.com/v1: .spec.replicas","reason":"Conflict","details":{"causes":[)"
        R"({"reason":"FieldManagerConflict","message":"conflict with \"patcher\" using )"
        R"(example.com/v1","field":".spec.replicas"}]},"code":409})"
        "\n");
  CHECK(forced.code == 200);
  CHECK(forced.spec() == R"({"replicas":3,"image":"x"})");
  CHECK(forced.managers() == Strings{"apply_test:Apply"});
}

// apply TestApplyManagedFields
TEST_CASE("apply: managedFields look as Go's", "[apply]") {
  Gears gears;
  gears.Apply(Gear(R"("image":"value")", R"("name":"a","labels":{"test-label":"test"})"),
              "apply_test");
  gears.Later();
  gears.Call("PATCH", "/a?fieldManager=updater", R"({"spec":{"image":"new value"}})", kMerge);
  CHECK(gears.Get().managed() ==
        R"([{"manager":"apply_test","operation":"Apply","apiVersion":"example.com/v1",)"
        R"("time":"2020-09-13T12:26:40Z","fieldsType":"FieldsV1",)"
        R"("fieldsV1":{"f:metadata":{"f:labels":{"f:test-label":{}}}}},)"
        R"({"manager":"updater","operation":"Update","apiVersion":"example.com/v1",)"
        R"("time":"2020-09-13T12:26:45Z","fieldsType":"FieldsV1",)"
        R"("fieldsV1":{"f:spec":{"f:image":{}}}}])");
}

// apply TestApplyRemovesEmptyManagedFields
TEST_CASE("apply: who owns nothing has no entry", "[apply]") {
  Gears gears;
  const std::string body = R"({"apiVersion":"example.com/v1","kind":"Gear","metadata":)"
                           R"({"name":"a","namespace":"default"}})";
  CHECK(gears.Apply(body, "apply_test").managed() == "null");
  // What the server defaulted belongs to whoever wrote before somebody owned anything.
  CHECK(gears.Apply(body, "apply_test").managers() == Strings{"before-first-apply:Update"});
}

// apply TestApplyRequiresFieldManager
TEST_CASE("apply: needs a manager, and alone may force", "[apply]") {
  Gears gears;
  const Answer nobody = gears.Call("PATCH", "/a", Gear(""), kApply);
  CHECK(nobody.code == 422);
  CHECK(nobody.message() ==
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for "
        "apply patch");
  gears.Apply(Gear(""), "x");
  const Answer forced = gears.Call("PATCH", "/a?force=true", "{}", kMerge);
  CHECK(forced.code == 422);
  CHECK(forced.message() ==
        "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for "
        "non-apply patch");
}

// apply TestApplyRemoveContainerPort
TEST_CASE("apply: a list item that is no longer applied goes", "[apply]") {
  Gears gears;
  gears.Apply(Gear(R"("image":"x","ports":[{"port":80}])"), "apply_test");
  const Answer answer = gears.Apply(Gear(R"("image":"x")"), "apply_test");
  CHECK(answer.code == 200);
  CHECK(answer.spec() == R"({"replicas":1,"image":"x"})");
}

// apply TestApplyFailsWithVersionMismatch
TEST_CASE("apply: of another version, another kind or nothing at all is 400", "[apply]") {
  Gears gears;
  struct Row {
    std::string body;
    std::string message;
  };
  for (const Row& row : std::vector<Row>{
           {R"({"apiVersion":"example.com/v1beta1","kind":"Gear","metadata":{"name":"a"}})",
            "invalid object type: example.com/v1beta1, Kind=Gear"},
           {R"({"apiVersion":"example.com/v1","kind":"Cog","metadata":{"name":"a"}})",
            "invalid object type: example.com/v1, Kind=Cog"},
           {R"({"metadata":{"name":"a"}})", "invalid object type: /, Kind="},
           {"", "invalid object type: /, Kind="},
           {"[]",
            "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot "
            "unmarshal array into Go value of type map[string]interface {}"},
           {Gear("", R"("name":"b")"),
            "the name of the object (b) does not match the name on the URL (a)"},
           {Gear("", R"("labels":{})"),
            "the name of the object (a based on URL) was undeterminable: name must be provided"},
           {Gear("", R"("name":"a","namespace":"other")"),
            "the namespace of the provided object does not match the namespace sent on the "
            "request"},
           {Gear("", R"("name":"a","managedFields":[])"), "metadata.managedFields must be nil"}}) {
    const Answer answer = gears.Apply(row.body, "apply_test");
    INFO(row.body);
    CHECK(answer.code == 400);
    CHECK(answer.message() == row.message);
  }
  const Answer yaml = gears.Apply("a: [", "apply_test");
  CHECK(yaml.code == 400);
  CHECK(Contains(yaml.message(), "error encoding patch: yaml: "));
}

TEST_CASE("apply: what is not in the schema, or twice in a list, is 500 as Go has it", "[apply]") {
  Gears gears;
  const Answer unknown = gears.Apply(Gear(R"("typo":1)"), "apply_test");
  CHECK(unknown.code == 500);
  CHECK(unknown.message() ==
        "failed to create typed patch object (/a; example.com/v1, Kind=Gear): .spec.typo: field "
        "not declared in schema");
  const Answer twice =
      gears.Apply(Gear(R"("ports":[{"port":80},{"port":80,"protocol":"TCP"}])"), "apply_test");
  CHECK(twice.code == 500);
  CHECK(twice.message() ==
        "failed to create typed patch object (/a; example.com/v1, Kind=Gear): .spec.ports: "
        "duplicate entries for key [port=80,protocol=\"TCP\"]");
}

// apply TestApplyConvertsManagedFieldsVersion
TEST_CASE("apply: owners in another version are converted with the object", "[apply]") {
  Gears gears;
  gears.server().Call("PATCH",
                      "/apis/example.com/v1beta1/namespaces/default/gears/a?fieldManager=old",
                      R"({"apiVersion":"example.com/v1beta1","kind":"Gear","metadata":)"
                      R"({"name":"a"},"spec":{"count":3,"image":"x"}})",
                      kApply);
  const Answer refused = gears.Apply(Gear(R"("replicas":4)"), "new");
  CHECK(refused.code == 409);
  // As upstream, the field is named in the version of who owns it.
  CHECK(refused.message() == "Apply failed with 1 conflict: conflict with \"old\": .spec.count");
  const Answer forced = gears.Apply(Gear(R"("replicas":4)"), "new", "&force=true");
  CHECK(forced.spec() == R"({"replicas":4,"image":"x"})");
  CHECK(forced.managed() ==
        R"([{"manager":"new","operation":"Apply","apiVersion":"example.com/v1",)"
        R"("time":"2020-09-13T12:26:40Z","fieldsType":"FieldsV1",)"
        R"("fieldsV1":{"f:spec":{"f:replicas":{}}}},)"
        R"({"manager":"old","operation":"Apply","apiVersion":"example.com/v1beta1",)"
        R"("time":"2020-09-13T12:26:40Z","fieldsType":"FieldsV1",)"
        R"("fieldsV1":{"f:spec":{"f:image":{}}}}])");
  // The same manager in the other version is the same manager.
  const Answer moved = gears.Apply(Gear(R"("image":"y")"), "old");
  CHECK(moved.code == 200);
  CHECK(moved.managers() == Strings{"new:Apply", "old:Apply"});
}

// apply TestClearManagedFieldsWithMergePatch and its siblings for JSON patches and updates
TEST_CASE("apply: an empty entry or list forgets the owners", "[apply]") {
  for (const std::string owners : {"[{}]", "[]"}) {
    INFO(owners);
    Gears gears;
    const std::string body = Gear(R"("image":"x")", R"("name":"a","labels":{"l":"v"})");
    const auto owned = [&] {
      gears.Call("DELETE", "/a");
      return gears.Apply(body, "apply_test").managers();
    };
    CHECK(owned() == Strings{"apply_test:Apply"});
    CHECK(gears.Call("PATCH", "/a", R"({"metadata":{"managedFields":)" + owners + "}}", kMerge)
              .managed() == "null");
    CHECK(owned() == Strings{"apply_test:Apply"});
    CHECK(gears
              .Call("PATCH", "/a",
                    R"([{"op":"replace","path":"/metadata/managedFields","value":)" + owners + "}]",
                    kJsonPatch)
              .managed() == "null");
    CHECK(owned() == Strings{"apply_test:Apply"});
    CHECK(gears
              .Call("PUT", "/a",
                    Gear(R"("image":"x","replicas":1)",
                         R"("name":"a","labels":{"l":"v"},"managedFields":)" + owners))
              .managed() == "null");
    // Without owners a write finds none either, until the next apply.
    CHECK(gears.Call("PATCH", "/a", R"({"spec":{"image":"y"}})", kMerge).managed() == "null");
    CHECK(gears.Apply(Gear(R"("replicas":1)"), "again").managers() ==
          Strings{"again:Apply", "before-first-apply:Update"});
  }
}

// apply TestErrorsDontFail
TEST_CASE("apply: owners that cannot be read are not taken from who sends them", "[apply]") {
  Gears gears;
  gears.Apply(Gear(R"("image":"x")"), "apply_test");
  const std::string broken =
      R"([{"manager":"m","operation":"Update","apiVersion":"example.com/v1","fieldsType":)"
      R"("FieldsV1","fieldsV1":{"f:spec":1}}])";
  const Answer patched =
      gears.Call("PATCH", "/a", R"({"metadata":{"managedFields":)" + broken + "}}", kMerge);
  CHECK(patched.code == 200);
  CHECK(patched.managers() == Strings{"apply_test:Apply"});
  const Answer put =
      gears.Call("PUT", "/a", Gear(R"("image":"x")", R"("name":"a","managedFields":)" + broken));
  CHECK(put.code == 200);
  CHECK(put.managers() == Strings{"apply_test:Apply"});
}

// apply TestNoOpUpdateSameResourceVersion, TestNoSemanticUpdateApplySameResourceVersion
TEST_CASE("apply: a write that changes nothing makes no revision, however late", "[apply]") {
  Gears gears;
  const std::string spec = R"("replicas":2,"image":"x","ports":[{"port":80}],"tags":["t"])";
  gears.Call("POST", "?fieldManager=creator", Gear(spec));
  const Answer first = gears.Apply(Gear(R"("image":"x")"), "applier");
  gears.Later();
  CHECK(gears.Apply(Gear(R"("image":"x")"), "applier").body == first.body);
  CHECK(gears.Call("PATCH", "/a?fieldManager=creator", R"({"spec":{"image":"x"}})", kMerge).body ==
        first.body);
  CHECK(gears.Call("PUT", "/a?fieldManager=creator", Gear(spec)).body == first.body);
  CHECK(gears.Call("PUT", "/a", first.body).body == first.body);
}

TEST_CASE("apply: what the server defaults does not make a revision", "[apply]") {
  Gears gears;
  const Answer first = gears.Apply(Gear(R"("ports":[{"port":80}])"), "applier");
  CHECK(first.spec() == R"({"replicas":1,"ports":[{"port":80,"protocol":"TCP"}]})");
  gears.Later();
  CHECK(gears.Apply(Gear(R"("ports":[{"port":80}])"), "applier").revision() == first.revision());
}

// apply TestApplyUnsetExclusivelyOwnedFields
TEST_CASE("apply: what only the applier owns is unset, and defaulted anew", "[apply]") {
  Gears gears;
  gears.Apply(Gear(R"("replicas":3,"image":"x")"), "one");
  const Answer answer = gears.Apply(Gear(R"("image":"x")"), "one");
  CHECK(answer.spec() == R"({"replicas":1,"image":"x"})");
}

TEST_CASE("apply: what others own too stays", "[apply]") {
  Gears gears;
  for (const std::string manager : {"one", "two"}) {
    CHECK(gears.Apply(Gear(R"("replicas":3,"image":"x")"), manager).code < 300);
  }
  const Answer answer = gears.Apply(Gear(R"("image":"x")"), "one");
  CHECK(answer.spec() == R"({"replicas":3,"image":"x"})");
}

// apply TestApplyCanTransferFieldOwnershipToController
TEST_CASE("apply: a field goes over to a controller by sharing and letting go", "[apply]") {
  Gears gears;
  gears.Apply(Gear(R"("replicas":1,"image":"x")"), "user");
  gears.Call("PATCH", "/a?fieldManager=autoscaler", R"({"spec":{"replicas":4}})", kMerge);
  CHECK(gears.Apply(Gear(R"("replicas":4,"image":"x")"), "user").code == 200);
  const Answer answer = gears.Apply(Gear(R"("image":"x")"), "user");
  CHECK(answer.spec() == R"({"replicas":4,"image":"x"})");
  CHECK(answer.managers() == Strings{"user:Apply", "autoscaler:Update"});
}

TEST_CASE("apply: sets and maps of lists are merged, atomic ones replaced", "[apply]") {
  Gears gears;
  gears.Apply(Gear(R"("tags":["a","b"],"args":["1"],"selector":{"x":"1"},"ports":[{"port":1}])"),
              "one");
  const Answer merged =
      gears.Apply(Gear(R"("tags":["c"],"ports":[{"port":2,"name":"two"}])"), "two");
  CHECK(merged.spec() ==
        R"({"replicas":1,"ports":[{"port":1,"protocol":"TCP"},)"
        R"({"port":2,"protocol":"TCP","name":"two"}],"tags":["a","b","c"],"args":["1"],)"
        R"("selector":{"x":"1"}})");
  const Answer refused = gears.Apply(Gear(R"("args":["2"],"selector":{"y":"2"})"), "two");
  CHECK(refused.message() ==
        "Apply failed with 2 conflicts: conflicts with \"one\":\n- .spec.args\n- .spec.selector");
}

TEST_CASE("apply: a dry run says what would be and stores nothing", "[apply]") {
  Gears gears;
  CHECK(gears.Apply(Gear(R"("image":"x")"), "one", "&dryRun=All").code == 201);
  CHECK(gears.Get().code == 404);
  const Answer first = gears.Apply(Gear(R"("image":"x")"), "one");
  const Answer dry = gears.Apply(Gear(R"("image":"y")"), "one", "&dryRun=All");
  CHECK(dry.spec() == R"({"replicas":1,"image":"y"})");
  CHECK(gears.Get().body == first.body);
}

TEST_CASE("apply: takes YAML, whose duplicate keys it warns of or refuses", "[apply]") {
  Gears gears;
  const std::string yaml = R"(apiVersion: example.com/v1
kind: Gear
metadata:
  name: a
spec:
  image: x
  image: z
)";
  const Answer strict = gears.Apply(yaml, "one", "&fieldValidation=Strict");
  CHECK(strict.code == 400);
  CHECK(strict.message() ==
        "error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n"
        "  line 7: key \"image\" already set in map");
  const Answer warned = gears.Apply(yaml, "one");
  CHECK(warned.code == 201);
  CHECK(warned.headers.Get("Warning") == R"(299 - "line 7: key \"image\" already set in map")");
  CHECK(warned.spec() == R"({"replicas":1,"image":"z"})");
  const Answer ignored = gears.Apply(yaml, "one", "&fieldValidation=Ignore");
  CHECK(ignored.code == 200);
  CHECK_FALSE(ignored.headers.Has("Warning"));
}

TEST_CASE("apply: a client without a manager is known by its User-Agent", "[apply]") {
  Gears gears;
  const Answer created =
      gears.Call("POST", "", Gear(R"("image":"x")"), {{"User-Agent", "kubectl/v1.35.0 (linux)"}});
  CHECK(created.managers() == Strings{"kubectl:Update"});
  const Answer patched = gears.Call(
      "PATCH", "/a", R"({"spec":{"replicas":2}})",
      {{"Content-Type", "application/merge-patch+json"}, {"User-Agent", "tool\x01name/1"}});
  CHECK(patched.managers() == Strings{"kubectl:Update", "toolname:Update"});
}

TEST_CASE("apply: nobody comes to own a status through the main resource", "[apply]") {
  Gears gears;
  const Answer answer =
      gears.Apply(R"({"apiVersion":"example.com/v1","kind":"Gear","metadata":{"name":"a"},)"
                  R"("spec":{"image":"x"},"status":{"ready":3}})",
                  "one");
  CHECK(answer.code == 201);
  CHECK(Contains(answer.managed(), R"("fieldsV1":{"f:spec":{"f:image":{}}})"));
  CHECK(Contains(answer.body, R"("status":{})"));
}

namespace {

// Breaks the owners of what is named so.
class Breaker final : public admission::Plugin {
 public:
  std::string_view name() const override { return "Breaker"; }
  bool Handles(admission::Operation) const override { return true; }
  Status Admit(const Context&, admission::Attributes& attributes) const override {
    if (attributes.object == nullptr) return {};
    runtime::Object& object = *attributes.object;
    if (object["spec"]["image"].AsString() != "broken") return {};
    runtime::ListBuilder list(object.arena());
    runtime::MapBuilder entry(object.arena());
    entry.Add("manager", Value::String("breaker"));
    list.Add(entry.Build());
    object.SetPath({"metadata", "managedFields"}, list.Build());
    return {};
  }
};

}  // namespace

// fieldmanager TestAdmission
TEST_CASE("apply: owners that admission broke become what they were, with a warning", "[apply]") {
  Gears gears({std::make_shared<Breaker>()});
  const Answer answer = gears.Call("POST", "?fieldManager=creator", Gear(R"("image":"broken")"));
  CHECK(answer.code == 201);
  CHECK(answer.managers() == Strings{"creator:Update"});
  CHECK(Contains(std::string(answer.headers.Get("Warning")),
                 ".metadata.managedFields was in an invalid state after admission; this could be "
                 "caused by an outdated mutating admission controller; please fix your requests: "
                 "operation must be `Apply` or `Update`"));
}

TEST_CASE("apply: a status has owners of its own", "[apply]") {
  Gears gears;
  gears.Apply(Gear(R"("image":"x")"), "user");
  gears.Later();
  const std::string ready = R"({"apiVersion":"example.com/v1","kind":"Gear","metadata":)"
                            R"({"name":"a","labels":{"not":"kept"}},"spec":{"image":"not kept"},)"
                            R"("status":{"ready":2}})";

  const Answer answer =
      gears.Call("PATCH", "/a/status?fieldManager=controller&force=true", ready, kApply);
  const Answer updated =
      gears.Call("PATCH", "/a/status?fieldManager=user", R"({"status":{"ready":3}})", kMerge);
  const Answer refused = gears.Call("PATCH", "/a/status?fieldManager=controller", ready, kApply);
  const Answer missing = gears.Call("PATCH", "/none/status?fieldManager=controller", ready, kApply);

  CHECK(answer.code == 200);
  CHECK(answer.spec() == R"({"replicas":1,"image":"x"})");
  CHECK(answer.managed() ==
        R"([{"manager":"user","operation":"Apply","apiVersion":"example.com/v1",)"
        R"("time":"2020-09-13T12:26:40Z","fieldsType":"FieldsV1",)"
        R"("fieldsV1":{"f:spec":{"f:image":{}}}},)"
        R"({"manager":"controller","operation":"Apply","apiVersion":"example.com/v1",)"
        R"("time":"2020-09-13T12:26:45Z","fieldsType":"FieldsV1",)"
        R"("fieldsV1":{"f:status":{"f:ready":{}}},"subresource":"status"}])");
  CHECK(updated.managers() == Strings{"user:Apply", "user:Update"});
  CHECK(refused.message() ==
        "Apply failed with 1 conflict: conflict with \"user\" with subresource \"status\" using "
        "example.com/v1: .status.ready");
  CHECK(missing.code == 404);
}

TEST_CASE("apply: who writes a scale owns the replicas", "[apply]") {
  Gears gears;
  gears.Apply(Gear(R"("replicas":1,"image":"x")"), "user");
  const Answer scaled =
      gears.Call("PATCH", "/a/scale?fieldManager=autoscaler", R"({"spec":{"replicas":4}})", kMerge);
  CHECK(scaled.code == 200);
  CHECK(scaled.managed() == "null");
  const Answer read = gears.Get();
  CHECK(read.spec() == R"({"replicas":4,"image":"x"})");
  CHECK(Contains(read.managed(), R"({"manager":"autoscaler","operation":"Update",)"
                                 R"("apiVersion":"example.com/v1")"));
  CHECK(Contains(read.managed(),
                 R"("fieldsV1":{"f:spec":{"f:replicas":{}}},"subresource":"scale"})"));
  CHECK(gears.Apply(Gear(R"("replicas":1,"image":"x")"), "user").message() ==
        "Apply failed with 1 conflict: conflict with \"autoscaler\" with subresource \"scale\" "
        "using example.com/v1: .spec.replicas");
  const std::string five = R"({"apiVersion":"autoscaling/v1","kind":"Scale",)"
                           R"("metadata":{"name":"a"},"spec":{"replicas":5}})";
  const Answer refused = gears.Call("PATCH", "/a/scale?fieldManager=other", five, kApply);
  CHECK(Contains(refused.message(), "conflict with \"autoscaler\" with subresource \"scale\""));
  const Answer forced = gears.Call("PATCH", "/a/scale?fieldManager=other&force=true", five, kApply);
  CHECK(forced.code == 200);
  CHECK(gears.Get().managers() == Strings{"other:Apply", "user:Apply"});
}

TEST_CASE("apply: many separate updates are few entries", "[apply]") {
  // apply TestApplyGroupsManySeparateUpdates
  Gears gears;
  gears.Apply(Gear(R"("image":"x")"), "apply_test");
  for (int i = 0; i < 20; ++i) {
    gears.Later();
    gears.Call("PATCH", "/a?fieldManager=updater" + std::to_string(i),
               R"({"metadata":{"labels":{"l)" + std::to_string(i) + R"(":"v"}}})", kMerge);
  }
  const Strings managers = gears.Get().managers();
  CHECK(managers.size() == 11);
  CHECK(managers[0] == "apply_test:Apply");
  CHECK(managers[1] == "ancient-changes:Update");
  CHECK(managers[10] == "updater19:Update");
}
