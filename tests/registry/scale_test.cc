// The scale subresource without HTTP.
#include "apiserver/registry/scale.h"

#include "apiserver/codec/json.h"
#include "registry/fixture.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Edited;
using testing::Fixture;

namespace {

// widgets.test.example.com/v1 with what can be scaled. `structural`: as a custom resource.
runtime::KindPtr ScaledKind(runtime::Semantics semantics) {
  const auto spec = runtime::StructBuilder("test.ScaledSpec")
                        .Field("replicas", runtime::IntegerSchema(32))
                        .Field("selector", runtime::AnySchema())
                        .Build();
  const auto status = runtime::StructBuilder("test.ScaledStatus")
                          .Field("replicas", runtime::IntegerSchema(32))
                          .Field("selector", runtime::StringSchema())
                          .Build();
  runtime::KindVersion version;
  version.version = "v1";
  version.schema = runtime::StructBuilder("test.Scaled")
                       .Field("metadata", runtime::ObjectMetaSchema())
                       .Field("spec", spec)
                       .Field("status", status)
                       .Build();
  return *runtime::Kind::New({.group = "test.example.com",
                              .kind = "Scaled",
                              .plural = "scaleds",
                              .semantics = semantics,
                              .versions = {version}});
}

struct ScaleFixture : Fixture {
  explicit ScaleFixture(runtime::Semantics semantics = runtime::Semantics::kGoType,
                        registry::ScaleOptions scale_options = {}) {
    kind = ScaledKind(semantics);
    Store();
    scale = registry::NewScaleStore(store, std::move(scale_options)).value();
    can = rest::Capabilities::Of(*scale);
  }
  ~ScaleFixture() { scale.reset(); }

  // An object with this spec and status, given as JSON.
  runtime::ObjectPtr Make(std::string_view name, std::string_view json) {
    auto object = std::make_unique<runtime::Object>(kind, "v1");
    const auto parsed = codec::ParseJson(object->arena().Copy(json), object->arena());
    REQUIRE(parsed.ok());
    object->SetRoot(*parsed);
    object->Edit("metadata", "name") = name;
    const auto created = TryCreate(std::move(object));
    INFO(created.status().ToString());
    REQUIRE(created.ok());
    return *created;
  }
  std::string ScaleOf(std::string_view name) {
    const auto got = can.getter->Get(ctx, name, {});
    return got.ok() ? Json(**got) : std::string(got.status().message());
  }
  static std::string Json(const runtime::Object& object) {
    std::string json;
    codec::AppendJson(object.root(), json);
    return json;
  }
  Result<rest::UpdateResult> ScaleTo(std::string_view name, const Edited::Edit& edit,
                                     const rest::ValidateObjectUpdate& validate = nullptr) {
    const Edited info(edit);
    const rest::UpdateRequest request{info, nullptr, validate, true, {}};
    return can.updater->Update(ctx, name, request);
  }
  static Edited::Edit Replicas(std::int64_t replicas) {
    return [replicas](runtime::Object& scale) { scale.Edit("spec", "replicas") = replicas; };
  }

  std::shared_ptr<rest::Storage> scale;
  rest::Capabilities can;
};

}  // namespace

TEST_CASE("registry: a Scale shows replicas and selector of the object", "[registry]") {
  struct Row {
    std::string object;         // Its spec and status.
    std::string selector_path;  // Empty: none.
    std::string scale;          // Spec and status of the Scale.
  };
  const std::vector<Row> rows{
      {R"({"spec":{"replicas":7}})", "", R"("spec":{"replicas":7},"status":{"replicas":0}})"},
      {R"({"spec":{"replicas":0},"status":{"replicas":3}})", "",
       R"("spec":{},"status":{"replicas":3}})"},
      {R"({})", "", R"("spec":{},"status":{"replicas":0}})"},
      {R"({"spec":{"replicas":1},"status":{"selector":"app=a"}})", ".status.selector",
       R"("spec":{"replicas":1},"status":{"replicas":0,"selector":"app=a"}})"},
      {R"({"spec":{"replicas":1}})", ".status.selector",
       R"("spec":{"replicas":1},"status":{"replicas":0}})"},
      {R"({"spec":{"replicas":1,"selector":"b=c"}})", "spec.selector",
       R"("spec":{"replicas":1},"status":{"replicas":0,"selector":"b=c"}})"},
      // metav1.LabelSelectorAsSelector: TestLabelSelectorAsSelector.
      {R"({"spec":{"selector":{"matchLabels":{"foo":"bar"}}}})", ".spec.selector",
       R"("spec":{},"status":{"replicas":0,"selector":"foo=bar"}})"},
      {R"({"spec":{"selector":{}}})", ".spec.selector", R"("spec":{},"status":{"replicas":0}})"},
      {R"({"spec":{"selector":{"matchLabels":{"foo":"bar"},"matchExpressions":[)"
       R"({"key":"baz","operator":"In","values":["qux","norf"]}]}}})",
       ".spec.selector",
       R"("spec":{},"status":{"replicas":0,"selector":"baz in (norf,qux),foo=bar"}})"},
      {R"({"spec":{"selector":{"matchExpressions":[)"
       R"({"key":"a","operator":"NotIn","values":["x"]},{"key":"c","operator":"DoesNotExist"},)"
       R"({"key":"b","operator":"Exists"}]}}})",
       ".spec.selector", R"("spec":{},"status":{"replicas":0,"selector":"a notin (x),b,!c"}})"},
  };
  for (const Row& row : rows) {
    INFO(row.object);
    ScaleFixture fixture(runtime::Semantics::kGoType, {.label_selector_path = row.selector_path});
    fixture.Make("one", row.object);

    const std::string scale = fixture.ScaleOf("one");

    INFO(scale);
    CHECK(scale.ends_with("}," + row.scale));
  }
}

TEST_CASE("registry: a selector that is none refuses the Scale", "[registry]") {
  struct Row {
    std::string selector;
    std::string message;
  };
  const std::vector<Row> rows{
      {R"({"matchExpressions":[{"key":"a","operator":"Near"}]})",
       R"("Near" is not a valid label selector operator)"},
      {R"({"matchExpressions":[{"key":"a","operator":"In"}]})",
       "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"},
      {R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]})",
       "values: Invalid value: [\"b\"]: values set must be empty for exists and does not exist"},
      {"7", ".spec.selector accessor error: 7 is of the type int64, expected string"},
  };
  for (const Row& row : rows) {
    INFO(row.selector);
    ScaleFixture fixture(runtime::Semantics::kGoType, {.label_selector_path = ".spec.selector"});
    fixture.Make("one", R"({"spec":{"selector":)" + row.selector + "}}");

    CHECK(fixture.ScaleOf("one") == row.message);
  }
  ScaleFixture fixture(runtime::Semantics::kGoType, {.label_selector_path = ".spec.selector"});
  fixture.Make("one", R"({"spec":{"selector":{"matchLabels":{"a":"b,c"}}}})");
  CHECK(fixture.ScaleOf("one").starts_with(
      R"(values[0][a]: Invalid value: "b,c": a valid label must be an empty string or consist)"));
}

// customresource TestScaleGet
TEST_CASE("registry: a Scale has the object's identity and no more of its metadata", "[registry]") {
  ScaleFixture fixture;
  const auto object =
      fixture.Make("one", R"({"metadata":{"labels":{"a":"b"},"finalizers":["example.com/x"]}})");

  const auto scale = fixture.can.getter->Get(fixture.ctx, "one", {});

  REQUIRE(scale.ok());
  CHECK((*scale)->gvk() == runtime::GroupVersionKind{"autoscaling", "v1", "Scale"});
  CHECK((*scale)->name() == "one");
  CHECK((*scale)->namespace_() == "ns");
  CHECK((*scale)->uid() == object->uid());
  CHECK((*scale)->resource_version() == "2");
  CHECK((*scale)->metadata()["creationTimestamp"] == object->metadata()["creationTimestamp"]);
  CHECK((*scale)->metadata().members().size() == 5);
}

// customresource TestScaleGetWithoutSpecReplicas
TEST_CASE("registry: a custom resource without replicas has no Scale", "[registry]") {
  ScaleFixture fixture(runtime::Semantics::kCustomResource);
  fixture.Make("one", R"({"spec":{}})");

  const auto scale = fixture.can.getter->Get(fixture.ctx, "one", {});

  CHECK(scale.status().reason() == Reason::kInternalError);
  CHECK(scale.status().message() ==
        R"(Internal error occurred: the spec replicas field ".spec.replicas" does not exist)");
}

// customresource TestScaleUpdate
TEST_CASE("registry: a Scale changes the object's replicas alone", "[registry]") {
  ScaleFixture fixture;
  fixture.Make(
      "one", R"({"metadata":{"labels":{"a":"b"}},"spec":{"replicas":7},"status":{"replicas":5}})");

  const auto scaled = fixture.ScaleTo("one", [](runtime::Object& scale) {
    scale.Edit("spec", "replicas") = 12;
    scale.Edit("status", "replicas") = 99;
    scale.Edit("metadata", "labels", "a") = "c";
  });

  INFO(scaled.status().ToString());
  REQUIRE(scaled.ok());
  CHECK_FALSE(scaled->created);
  CHECK((*scaled->object)["spec"]["replicas"].AsInt() == 12);
  CHECK((*scaled->object)["status"]["replicas"].AsInt() == 5);
  CHECK(scaled->object->resource_version() == "3");
  const auto object = fixture.Get("one");
  CHECK((**object)["spec"]["replicas"].AsInt() == 12);
  CHECK((**object)["status"]["replicas"].AsInt() == 5);
  CHECK((*object)->labels()["a"].AsString() == "b");
  // The main strategy's.
  CHECK((*object)->generation() == 2);
}

// customresource TestScaleUpdateWithoutSpecReplicas, TestScaleUpdateWithoutResourceVersion
TEST_CASE("registry: a Scale sets replicas that were not there", "[registry]") {
  for (const auto semantics : {runtime::Semantics::kGoType, runtime::Semantics::kCustomResource}) {
    ScaleFixture fixture(semantics);
    fixture.Make("one", R"({"spec":{}})");

    const auto scaled = fixture.ScaleTo("one", [](runtime::Object& scale) {
      scale.Edit("spec", "replicas") = 12;
      scale.Erase("metadata", "resourceVersion");
    });

    INFO(scaled.status().ToString());
    REQUIRE(scaled.ok());
    CHECK((*scaled->object)["spec"]["replicas"].AsInt() == 12);
  }
}

TEST_CASE("registry: a custom resource's Scale has to say how many replicas", "[registry]") {
  ScaleFixture fixture(runtime::Semantics::kCustomResource);
  fixture.Make("one", R"({"spec":{}})");

  const auto scaled = fixture.ScaleTo("one", [](runtime::Object&) {});

  CHECK(scaled.status().reason() == Reason::kBadRequest);
  CHECK(scaled.status().message() == R"(the spec replicas field ".spec.replicas" cannot be empty)");
}

// deployment storage_test TestScaleUpdate; autoscaling validation TestValidateScale
TEST_CASE("registry: replicas cannot be negative", "[registry]") {
  ScaleFixture fixture;
  fixture.Make("one", R"({"spec":{"replicas":7}})");

  const auto refused = fixture.ScaleTo("one", ScaleFixture::Replicas(-1));

  CHECK(refused.status().reason() == Reason::kInvalid);
  CHECK(refused.status().message() ==
        R"(Scale.autoscaling "one" is invalid: spec.replicas: Invalid value: -1: must be greater )"
        "than or equal to 0");
  CHECK(fixture.ScaleTo("one", ScaleFixture::Replicas(0)).ok());
  CHECK(fixture.ScaleOf("one").ends_with(R"("spec":{},"status":{"replicas":0}})"));
}

// customresource TestScaleUpdate, TestScaleUpdateWithResourceVersionWithConflicts
TEST_CASE("registry: a Scale of another state or another object is a conflict", "[registry]") {
  ScaleFixture fixture;
  fixture.Make("one", R"({"spec":{"replicas":7}})");

  const auto stale = fixture.ScaleTo(
      "one", [](runtime::Object& scale) { scale.Edit("metadata", "resourceVersion") = "1"; });
  const auto foreign = fixture.ScaleTo(
      "one", [](runtime::Object& scale) { scale.Edit("metadata", "uid") = "other"; });

  CHECK(stale.status().reason() == Reason::kConflict);
  CHECK(foreign.status().reason() == Reason::kConflict);
  CHECK(foreign.status().message().starts_with(
      R"(Operation cannot be fulfilled on scaleds/scale.test.example.com "one": Precondition )"
      "failed: UID in precondition: other, UID in object meta: "));
}

// customresource TestScaleUpdateWithoutResourceVersionWithConflicts
TEST_CASE("registry: a Scale is made again from what was stored meanwhile", "[registry]") {
  ScaleFixture fixture;
  fixture.Make("one", R"({"spec":{"replicas":7}})");
  int tries = 0;

  const auto scaled = fixture.ScaleTo("one", [&](runtime::Object& scale) {
    if (++tries == 1) {
      REQUIRE(fixture
                  .Edit("one",
                        [](runtime::Object& object) {
                          object.Edit("metadata", "labels", "meanwhile") = "yes";
                        })
                  .ok());
    }
    scale.Edit("spec", "replicas") = 8;
  });

  INFO(scaled.status().ToString());
  REQUIRE(scaled.ok());
  CHECK(tries == 2);
  const auto object = fixture.Get("one");
  CHECK((**object)["spec"]["replicas"].AsInt() == 8);
  CHECK((*object)->labels()["meanwhile"].AsString() == "yes");
}

TEST_CASE("registry: a Scale never makes its object", "[registry]") {
  ScaleFixture fixture;
  fixture.strategy->create_on_update = true;

  const auto scaled = fixture.ScaleTo("none", ScaleFixture::Replicas(1));

  CHECK(scaled.status().reason() == Reason::kNotFound);
  CHECK(fixture.Get("none").status().reason() == Reason::kNotFound);
  CHECK(fixture.ScaleOf("none") == R"(scaleds.test.example.com "none" not found)");
}

TEST_CASE("registry: admission judges Scales", "[registry]") {
  ScaleFixture fixture;
  fixture.Make("one", R"({"spec":{"replicas":7}})");
  const rest::ValidateObjectUpdate validate = [](const Context&, const runtime::Object& now,
                                                 const runtime::Object& before) -> Status {
    if (now.kind().kind() != "Scale" || before.kind().kind() != "Scale") return {};
    return {Reason::kForbidden, std::to_string(before["spec"]["replicas"].AsInt()) + " to " +
                                    std::to_string(now["spec"]["replicas"].AsInt())};
  };

  const auto refused = fixture.ScaleTo("one", ScaleFixture::Replicas(8), validate);

  CHECK(refused.status() == Status(Reason::kForbidden, "7 to 8"));
}

// unstructured TestNestedFieldNoCopy and siblings: the words of what does not fit.
TEST_CASE("registry: replicas that are no number have no Scale", "[registry]") {
  struct Row {
    std::string path;
    std::string message;
  };
  const std::vector<Row> rows{
      {".spec.selector.name",
       ".spec.selector.name accessor error: one is of the type string, expected int64"},
      {".spec.selector.name.more",
       ".spec.selector.name.more accessor error: one is of the type string, expected "
       "map[string]interface{}"},
  };
  for (const Row& row : rows) {
    ScaleFixture fixture(runtime::Semantics::kGoType, {.spec_replicas_path = row.path});
    fixture.Make("one", R"({"spec":{"selector":{"name":"one"}}})");

    CHECK(fixture.ScaleOf("one") == row.message);
  }
}

TEST_CASE("registry: a scale store without what it needs is refused", "[registry]") {
  Fixture fixture;
  fixture.Store();

  CHECK(registry::NewScaleStore(nullptr, {}).status().message() ==
        "registry scale store: main is required");
  CHECK(registry::NewScaleStore(fixture.store, {.spec_replicas_path = ".spec..x"})
            .status()
            .message() ==
        R"(registry scale store: spec_replicas_path ".spec..x" is no path of member names)");
  CHECK(registry::NewScaleStore(fixture.store, {.label_selector_path = ".spec[0]"})
            .status()
            .reason() == Reason::kInvalid);
}

TEST_CASE("registry: a scale store whose paths the schema does not have is refused", "[registry]") {
  ScaleFixture fixture;
  const auto refused = [&](const registry::ScaleOptions& options) {
    return std::string(registry::NewScaleStore(fixture.store, options).status().message());
  };
  CHECK(refused({}).empty());
  CHECK(refused({.spec_replicas_path = ".spec.replica"})
            .starts_with("registry scale store: v1: spec_replicas_path: .spec.replica: there is no "
                         "field \"replica\""));
  CHECK(refused({.status_replicas_path = ".metadata.name"}) ==
        "registry scale store: v1: status_replicas_path: .metadata.name is no integer");
  CHECK(refused({.spec_replicas_path_in = {{"v7", ".spec.replicas"}}}) ==
        "registry scale store: spec_replicas_path_in: the kind has no version v7");
  CHECK(refused({.label_selector_path = ".spec.selectr"})
            .starts_with("registry scale store: v1: label_selector_path: .spec.selectr: "));
}

TEST_CASE("registry: a Table of Scales has their columns", "[registry]") {
  ScaleFixture fixture;
  fixture.Make("one", R"({"spec":{"replicas":7},"status":{"replicas":5}})");
  const auto scale = fixture.can.getter->Get(fixture.ctx, "one", {});

  const auto table = fixture.can.table_convertor->ConvertToTable(fixture.ctx, {*scale}, {});

  REQUIRE(table.ok());
  REQUIRE(table->columns.size() == 4);
  CHECK(table->columns[1].name == "Desired");
  CHECK(table->columns[2].name == "Available");
  CHECK(table->rows[0].cells[1].AsInt() == 7);
  CHECK(table->rows[0].cells[2].AsInt() == 5);
}
