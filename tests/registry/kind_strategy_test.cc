// The ready strategy of an ordinary kind, without a store.
#include "apiserver/rest/kind_strategy.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/request/request_info.h"
#include "apiserver/rest/status.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::rest {
namespace {

const Context kCtx = Context::Background();

// Served in v1 with a status subresource, in v2 without.
runtime::KindPtr NewKind(bool namespaced = true) {
  const auto schema = runtime::StructBuilder("")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("spec", runtime::MapOf(runtime::IntegerSchema(64)))
                          .Field("status", runtime::MapOf(runtime::StringSchema()))
                          .Build();
  return runtime::Kind::New(
             {.group = "example.com",
              .kind = "Widget",
              .plural = "widgets",
              .namespaced = namespaced,
              .semantics = runtime::Semantics::kCustomResource,
              .versions = {{.version = "v1", .schema = schema},
                           {.version = "v2", .schema = schema, .status_subresource = false}}})
      .value();
}

std::unique_ptr<runtime::Object> Object(const runtime::KindPtr& kind, std::string_view json) {
  auto object = std::make_unique<runtime::Object>(kind, "v1");
  object->SetRoot(codec::ParseJson(object->arena().Copy(json), object->arena()).value());
  return object;
}

std::string Json(const runtime::Object& object) {
  std::string json;
  codec::AppendJson(object.root(), json);
  return json;
}

std::string Created(const Context& ctx, std::string_view json) {
  const runtime::KindPtr kind = NewKind();
  const auto object = Object(kind, json);
  NewKindStrategy(kind)->PrepareForCreate(ctx, *object);
  return Json(*object);
}

std::string Updated(const Context& ctx, std::string_view old, std::string_view json) {
  const runtime::KindPtr kind = NewKind();
  const auto object = Object(kind, json);
  NewKindStrategy(kind)->PrepareForUpdate(ctx, *object, *Object(kind, old));
  return Json(*object);
}

// A request that comes by this version.
Context By(std::string_view version) {
  Context ctx = Context::Child(kCtx);
  request::RequestInfo info;
  info.api_version = version;
  ctx.Set(std::move(info));
  return ctx;
}

TEST_CASE("rest: the strategy of a kind drops a created object's status", "[rest]") {
  CHECK(Created(kCtx, R"({"metadata":{"name":"n"},"spec":{"a":1},"status":{"m":"x"}})") ==
        R"({"metadata":{"name":"n","generation":1},"spec":{"a":1}})");
  CHECK(Created(kCtx, R"({"metadata":{"name":"n","generation":7}})") ==
        R"({"metadata":{"name":"n","generation":1}})");
}

TEST_CASE("rest: the strategy of a kind keeps the status that is stored", "[rest]") {
  CHECK(Updated(kCtx, R"({"metadata":{"generation":4},"spec":{"a":1},"status":{"m":"old"}})",
                R"({"metadata":{"generation":4},"spec":{"a":1},"status":{"m":"new"}})") ==
        R"({"metadata":{"generation":4},"spec":{"a":1},"status":{"m":"old"}})");
  CHECK(Updated(kCtx, R"({"metadata":{"generation":4},"spec":{"a":1}})",
                R"({"metadata":{"generation":4},"spec":{"a":1},"status":{"m":"new"}})") ==
        R"({"metadata":{"generation":4},"spec":{"a":1}})");
}

TEST_CASE("rest: a generation counts changes outside of metadata", "[rest]") {
  const std::string_view old = R"({"metadata":{"generation":4},"spec":{"a":1}})";
  CHECK(Updated(kCtx, old, R"({"metadata":{"generation":4,"labels":{"l":"v"}},"spec":{"a":1}})") ==
        R"({"metadata":{"generation":4,"labels":{"l":"v"}},"spec":{"a":1}})");
  CHECK(Updated(kCtx, old, R"({"metadata":{"generation":4},"spec":{"a":2}})") ==
        R"({"metadata":{"generation":5},"spec":{"a":2}})");
  CHECK(Updated(kCtx, old, R"({"metadata":{"generation":4}})") ==
        R"({"metadata":{"generation":5}})");
  CHECK(Updated(kCtx, old, R"({"metadata":{"generation":4},"spec":{"a":1},"other":null})") ==
        R"({"metadata":{"generation":5},"spec":{"a":1},"other":null})");
}

TEST_CASE("rest: where a version has no status subresource its status is a field like any other",
          "[rest]") {
  CHECK(Created(By("v2"), R"({"metadata":{},"status":{"m":"x"}})") ==
        R"({"metadata":{"generation":1},"status":{"m":"x"}})");
  CHECK(Updated(By("v2"), R"({"metadata":{"generation":1},"status":{"m":"old"}})",
                R"({"metadata":{"generation":1},"status":{"m":"new"}})") ==
        R"({"metadata":{"generation":2},"status":{"m":"new"}})");
  CHECK(Created(By("v1"), R"({"metadata":{},"status":{"m":"x"}})") ==
        R"({"metadata":{"generation":1}})");
  CHECK(NewKindStrategy(NewKind())->GetResetFields() ==
        ResetFields{{"example.com/v1", {{"status"}}}});
}

TEST_CASE("rest: the strategy of a kind asks the host's functions", "[rest]") {
  const runtime::KindPtr kind = NewKind(/*namespaced=*/false);
  const auto refuse = [](std::string what) {
    field::ErrorList errors;
    errors.Forbidden(field::Path("spec"), std::move(what));
    return errors;
  };
  const auto strategy = NewKindStrategy(
      kind, {.validate = [&](const Context&, const runtime::Object&) { return refuse("created"); },
             .warnings = [](const Context&,
                            const runtime::Object&) { return std::vector<std::string>{"careful"}; },
             .allow_create_on_update = true,
             .allow_unconditional_update = true});
  const auto object = Object(kind, "{}");

  CHECK(strategy->Validate(kCtx, *object).Aggregate() == "spec: Forbidden: created");
  CHECK(strategy->ValidateUpdate(kCtx, *object, *object).Aggregate() == "spec: Forbidden: created");
  CHECK(strategy->WarningsOnCreate(kCtx, *object) == std::vector<std::string>{"careful"});
  CHECK_FALSE(strategy->NamespaceScoped());
  CHECK(strategy->AllowCreateOnUpdate());
  CHECK(strategy->AllowUnconditionalUpdate());

  const auto of_update = NewKindStrategy(
      kind, {.validate_update = [&](const Context&, const runtime::Object&,
                                    const runtime::Object&) { return refuse("replaced"); }});
  CHECK(of_update->Validate(kCtx, *object).empty());
  CHECK(of_update->ValidateUpdate(kCtx, *object, *object).Aggregate() ==
        "spec: Forbidden: replaced");
  CHECK_FALSE(of_update->AllowCreateOnUpdate());
  CHECK_FALSE(of_update->AllowUnconditionalUpdate());
}

TEST_CASE("rest: a kind's strategy runs inline unless a function of the host is in it", "[rest]") {
  const runtime::KindPtr kind = NewKind();
  const auto plain = NewKindStrategy(kind);
  CHECK(plain->RunsInline());
  CHECK(NewStatusStrategy(plain, kind)->RunsInline());
  const auto validate = [](const Context&, const runtime::Object&) { return field::ErrorList(); };
  const auto hosted = NewKindStrategy(kind, {.validate = validate});
  CHECK_FALSE(hosted->RunsInline());
  CHECK_FALSE(NewStatusStrategy(hosted, kind)->RunsInline());
}

}  // namespace
}  // namespace apiserver::inline v0::rest
