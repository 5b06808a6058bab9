// The status subresource without HTTP.
#include "apiserver/rest/status.h"

#include "apiserver/codec/json.h"
#include "registry/fixture.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Edited;
using testing::Fixture;

namespace {

const runtime::KindPtr kUntyped = runtime::Kind::Untyped({"test", "v1", "Foo"});

std::unique_ptr<runtime::Object> FromJson(std::string_view json) {
  auto object = std::make_unique<runtime::Object>(kUntyped, "v1");
  object->SetRoot(codec::ParseJson(object->arena().Copy(json), object->arena()).value());
  return object;
}

std::string JsonOf(const runtime::Object& object) {
  std::string json;
  codec::AppendJson(object.root(), json);
  return json;
}

// A main strategy that leaves the status to its subresource.
struct MainStrategy final : rest::Strategy {
  bool NamespaceScoped() const override { return true; }
  void PrepareForCreate(const Context&, runtime::Object& object) const override {
    object.Erase("status");
    object.Edit("metadata", "generation") = 1;
  }
  void PrepareForUpdate(const Context&, runtime::Object& object,
                        const runtime::Object& old) const override {
    rest::KeepStatus(object, old);
    if (!(object["spec"] == old["spec"])) {
      object.Edit("metadata", "generation") = old.generation() + 1;
    }
  }
  field::ErrorList Validate(const Context&, const runtime::Object& object) const override {
    field::ErrorList errors;
    const std::string_view phase = object["status"]["phase"].AsString();
    if (phase == "bad") errors.Invalid(field::Path("status.phase"), phase, "must be good");
    return errors;
  }
  std::vector<std::string> WarningsOnUpdate(const Context&, const runtime::Object&,
                                            const runtime::Object&) const override {
    return {"updated"};
  }
  bool AllowCreateOnUpdate() const override { return true; }
};

struct StatusFixture : Fixture {
  StatusFixture() {
    const auto main = std::make_shared<MainStrategy>();
    options.kind = kind;
    options.strategy = main;
    store = *registry::NewStore(config, options);
    status = registry::NewStatusStore(store, rest::NewStatusStrategy(main, kind)).value();
    can = rest::Capabilities::Of(*status);
  }
  Result<rest::UpdateResult> EditStatus(std::string_view name, const Edited::Edit& edit,
                                        bool dry_run = false) {
    const Edited info(edit);
    rest::UpdateRequest request{info, nullptr, nullptr, true, {}};
    request.options.dry_run = dry_run;
    return can.updater->Update(ctx, name, request);
  }
  static Edited::Edit Phase(const char* phase) {
    return [phase](runtime::Object& object) { object.Edit("status", "phase") = phase; };
  }

  std::shared_ptr<rest::Storage> status;
  rest::Capabilities can;
};

}  // namespace

// customresource TestPrepareForUpdate (status_strategy_test.go)
TEST_CASE("rest: a status update changes the status alone", "[registry]") {
  struct Row {
    std::string name;
    std::string old;
    std::string object;
    std::string expected;
  };
  const std::vector<Row> rows{
      {"changes to spec are ignored", R"({"spec":"old"})", R"({"spec":"new"})",
       R"({"spec":"old"})"},
      {"changes to other places are ignored", R"({"spec":"old"})", R"({"new":"new"})",
       R"({"spec":"old"})"},
      {"delete status", R"({"spec":"old","status":"old"})", R"({"spec":"old"})",
       R"({"spec":"old"})"},
      {"update status", R"({"spec":"old","status":"old"})", R"({"status":"new"})",
       R"({"spec":"old","status":"new"})"},
      {"update status and other parts", R"({"spec":"old","status":"old"})",
       R"({"spec":"new","new":"new","status":"new"})", R"({"spec":"old","status":"new"})"},
      {"set the first status", R"({"spec":"old"})", R"({"spec":"old","status":{"a":1}})",
       R"({"spec":"old","status":{"a":1}})"},
      {"metadata is the old one but for managers",
       R"({"metadata":{"name":"x","labels":{"a":"b"},"managedFields":[1]},"spec":"old"})",
       R"({"metadata":{"name":"x","labels":{"a":"c"},"annotations":{"d":"e"},"finalizers":["f"],)"
       R"("managedFields":[2]},"status":"new"})",
       R"({"metadata":{"name":"x","labels":{"a":"b"},"managedFields":[2]},"spec":"old",)"
       R"("status":"new"})"},
      {"managers go", R"({"metadata":{"name":"x","managedFields":[1]}})",
       R"({"metadata":{"name":"x"}})", R"({"metadata":{"name":"x"}})"},
      {"managers come", R"({"metadata":{"name":"x"}})",
       R"({"metadata":{"name":"y","managedFields":[1]}})",
       R"({"metadata":{"name":"x","managedFields":[1]}})"},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    const auto old = FromJson(row.old);
    const auto object = FromJson(row.object);

    rest::KeepAllButStatus(*object, *old);

    CHECK(JsonOf(*object) == row.expected);
    CHECK(JsonOf(*old) == row.old);
  }
}

// customresource TestStrategyPrepareForUpdate, the cases with the status enabled
TEST_CASE("rest: an update of the resource keeps the status", "[registry]") {
  struct Row {
    std::string old;
    std::string object;
    std::string expected;
  };
  const std::vector<Row> rows{
      {R"({"metadata":{"generation":1},"spec":"old","status":"old"})",
       R"({"metadata":{"generation":1},"spec":"new","status":"old"})",
       R"({"metadata":{"generation":2},"spec":"new","status":"old"})"},
      {R"({"metadata":{"generation":1},"spec":"old","status":"old"})",
       R"({"metadata":{"generation":1},"spec":"old","status":"new"})",
       R"({"metadata":{"generation":1},"spec":"old","status":"old"})"},
      {R"({"metadata":{"generation":1,"other":"old"},"spec":"old","status":"old"})",
       R"({"metadata":{"generation":1,"other":"new"},"spec":"old","status":"old"})",
       R"({"metadata":{"generation":1,"other":"new"},"spec":"old","status":"old"})"},
      {R"({"metadata":{"generation":1},"spec":"old"})",
       R"({"metadata":{"generation":1},"spec":"old","status":"new"})",
       R"({"metadata":{"generation":1},"spec":"old"})"},
      {R"({"metadata":{"generation":1},"spec":"old","status":"old"})",
       R"({"metadata":{"generation":1},"spec":"old"})",
       R"({"metadata":{"generation":1},"spec":"old","status":"old"})"},
  };
  for (const Row& row : rows) {
    INFO(row.object);
    const auto object = FromJson(row.object);

    MainStrategy().PrepareForUpdate(Context::Background(), *object, *FromJson(row.old));

    CHECK(JsonOf(*object) == row.expected);
  }
}

// meta/v1 TestResetObjectMetaForStatus
TEST_CASE("rest: metadata may be kept from a status update by itself", "[registry]") {
  const auto old = FromJson(
      R"({"metadata":{"name":"n","generateName":"g","namespace":"s","selfLink":"l","uid":"u",)"
      R"("resourceVersion":"7","generation":3,"creationTimestamp":"c","deletionTimestamp":"d",)"
      R"("deletionGracePeriodSeconds":5,"labels":{"a":"b"},"annotations":{"c":"d"},)"
      R"("ownerReferences":[1],"finalizers":["f"],"managedFields":[2]}})");
  const auto object = FromJson(R"({"metadata":{"labels":{"x":"y"},"managedFields":[3]}})");

  rest::ResetObjectMetaForStatus(*object, *old);

  CHECK(object->metadata()["managedFields"].at(0).AsInt() == 3);
  for (const char* field : {"selfLink", "generation", "deletionTimestamp", "labels", "annotations",
                            "ownerReferences", "finalizers"}) {
    CAPTURE(field);
    CHECK(object->metadata()[field] == old->metadata()[field]);
  }
  CHECK(object->metadata().members().size() == 8);
  rest::ResetObjectMetaForStatus(*object, *FromJson(R"({"metadata":{}})"));
  CHECK(object->metadata().members().size() == 1);
}

// customresource TestStatusUpdate
TEST_CASE("registry: the status is written through its subresource alone", "[registry]") {
  StatusFixture fixture;
  auto object = fixture.New("foo");
  object->Edit("spec", "size") = 7;
  object->Edit("status", "phase") = "early";
  REQUIRE(fixture.TryCreate(std::move(object)).ok());
  CHECK((**fixture.Get("foo"))["status"]["phase"].is_null());

  REQUIRE(fixture.Edit("foo", StatusFixture::Phase("sideways")).ok());
  CHECK((**fixture.Get("foo"))["status"]["phase"].is_null());

  const auto ready = fixture.EditStatus("foo", [](runtime::Object& edited) {
    edited.Edit("status", "phase") = "ready";
    edited.Edit("spec", "size") = 8;
    edited.Edit("metadata", "labels", "a") = "b";
    edited.Edit("metadata", "annotations", "c") = "d";
  });
  INFO(ready.status().ToString());
  REQUIRE(ready.ok());
  CHECK_FALSE(ready->created);
  CHECK((*ready->object)["status"]["phase"].AsString() == "ready");
  CHECK((*ready->object)["spec"]["size"].AsInt() == 7);
  CHECK(ready->object->labels().is_null());
  CHECK(ready->object->annotations().is_null());
  CHECK(ready->object->generation() == 1);
  CHECK(ready->object->resource_version() == "3");

  const auto main = fixture.Edit("foo", [](runtime::Object& edited) {
    edited.Erase("status");
    edited.Edit("spec", "size") = 9;
  });
  REQUIRE(main.ok());
  CHECK((*main->object)["status"]["phase"].AsString() == "ready");
  CHECK(main->object->generation() == 2);
}

TEST_CASE("registry: a status update that changes something else writes nothing", "[registry]") {
  StatusFixture fixture;
  fixture.Create("foo");

  const auto same =
      fixture.EditStatus("foo", [](runtime::Object& object) { object.Edit("spec", "size") = 8; });

  REQUIRE(same.ok());
  CHECK(same->object->resource_version() == "2");
}

TEST_CASE("registry: a status is judged and warned of by the resource's strategy", "[registry]") {
  StatusFixture fixture;
  fixture.Create("foo");

  const auto refused = fixture.EditStatus("foo", StatusFixture::Phase("bad"));
  const auto dry = fixture.EditStatus("foo", StatusFixture::Phase("ready"), /*dry_run=*/true);
  const auto stale = fixture.EditStatus(
      "foo", [](runtime::Object& object) { object.Edit("metadata", "resourceVersion") = "1"; });
  const auto none = fixture.EditStatus("none", StatusFixture::Phase("ready"));

  CHECK(refused.status().message() ==
        R"(Widget.test.example.com "foo" is invalid: status.phase: Invalid value: "bad": must be )"
        "good");
  REQUIRE(dry.ok());
  CHECK((*dry->object)["status"]["phase"].AsString() == "ready");
  CHECK((**fixture.Get("foo"))["status"]["phase"].is_null());
  CHECK(fixture.warnings->Take() == std::vector<std::string>{"updated"});
  CHECK(stale.status().reason() == Reason::kConflict);
  CHECK(none.status().reason() == Reason::kNotFound);
}

TEST_CASE("registry: the status of what is going can be written, its finalizers cannot",
          "[registry]") {
  StatusFixture fixture;
  fixture.Create("foo", {"foo.com/x"});
  REQUIRE(fixture.Delete("foo").ok());

  const auto written = fixture.EditStatus("foo", [](runtime::Object& object) {
    object.Edit("status", "phase") = "leaving";
    object.Erase("metadata", "finalizers");
  });

  REQUIRE(written.ok());
  CHECK((*written->object)["status"]["phase"].AsString() == "leaving");
  CHECK(fixture.FinalizersOf("foo") == "foo.com/x");
}

TEST_CASE("rest: a status strategy resets everything but the status", "[registry]") {
  const auto strategy =
      rest::NewStatusStrategy(std::make_shared<MainStrategy>(), testing::NewWidgetKind());

  CHECK(strategy->GetResetFields() ==
        rest::ResetFields{{"test.example.com/v1", {{"metadata"}, {"spec"}}}});
}
