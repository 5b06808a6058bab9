// Who owns the fields of an object that is written otherwise than by an apply: by other verbs, by
// subresources, by admission. From the same tests of Kubernetes as apply_test.cc.
#include "gear_server.h"

using namespace apiserver;           // NOLINT(google-build-using-namespace)
using namespace apiserver::testing;  // NOLINT(google-build-using-namespace)
using runtime::Value;

TEST_CASE("endpoints: a patch in another version than the hub's owns the fields of that version",
          "[endpoints]") {
  Gears gears;
  REQUIRE(gears.Call("POST", "?fieldManager=maker", Gear(R"("replicas":2,"image":"x")")).code ==
          201);
  const auto patch = [&gears](const std::string& body) {
    const auto got = gears.server().Call(
        "PATCH", "/apis/example.com/v1beta1/namespaces/default/gears/a?fieldManager=patcher", body,
        {{"Content-Type", "application/merge-patch+json"}});
    INFO(got.body);
    CHECK(got.code == 200);
    return gears.Get();
  };
  const Answer counted = patch(R"({"spec":{"count":3}})");
  CHECK(counted.spec() == R"({"replicas":3,"image":"x"})");
  CHECK(counted.managers() == Strings{"maker:Update", "patcher:Update"});
  const auto fields_of = [](const Answer& answer, std::size_t entry) {
    return answer.Json(answer.object["metadata"]["managedFields"].items()[entry]["fieldsV1"]);
  };
  CHECK(fields_of(counted, 0) == R"({"f:spec":{"f:image":{}}})");
  CHECK(fields_of(counted, 1) == R"({"f:spec":{"f:count":{}}})");

  const Answer same = patch(R"({"spec":{"count":3}})");
  CHECK(same.managed() == counted.managed());
  CHECK(same.revision() == counted.revision());
  const Answer both = patch(R"({"spec":{"count":4,"image":"y"}})");
  CHECK(both.managers() == Strings{"patcher:Update"});
  CHECK(fields_of(both, 0) == R"({"f:spec":{"f:count":{},"f:image":{}}})");
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
    if (attributes.editable == nullptr) return {};
    runtime::Object& object = *attributes.editable;
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
