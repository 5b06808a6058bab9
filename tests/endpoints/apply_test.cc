// Server-side apply over HTTP: what Kubernetes' own test/integration/apiserver/apply drives, on a
// kind of ours.
#include "gear_server.h"

using namespace apiserver;           // NOLINT(google-build-using-namespace)
using namespace apiserver::testing;  // NOLINT(google-build-using-namespace)

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
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot "
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
  CHECK(yaml.message().starts_with("error decoding YAML: error converting YAML to JSON: yaml: "));
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
        "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
        "  line 7: key \"image\" already set in map");
  const Answer warned = gears.Apply(yaml, "one");
  CHECK(warned.code == 201);
  CHECK(warned.headers.Get("Warning") == R"(299 - "line 7: key \"image\" already set in map")");
  CHECK(warned.spec() == R"({"replicas":1,"image":"z"})");
  const Answer ignored = gears.Apply(yaml, "one", "&fieldValidation=Ignore");
  CHECK(ignored.code == 200);
  CHECK_FALSE(ignored.headers.Has("Warning"));
}
