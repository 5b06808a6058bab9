// Tables of pkg/registry/customresource: tests/testdata/apiextensions/README.md.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiextensions/definitions.h"
#include "apiextensions/documents/recorded.h"
#include "apiextensions/serving/strategy.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/meta/validation.h"
#include "apiserver/rest/status.h"
#include "apiserver/runtime/kind.h"
#include "rest/validate_by_schema.h"

namespace {

using namespace apiserver;  // NOLINT: a test.
using runtime::Object;
using runtime::Value;

// A kind of the group, version and name that an object of the tables has.
runtime::KindPtr StrategyKind(const Value& row) {
  runtime::Arena arena;
  runtime::MapBuilder any(arena);
  any.Add("type", Value::String("object"));
  any.Add("x-kubernetes-preserve-unknown-fields", Value::Bool(true));
  const Value schema = row["schema"].is_null() ? any.Build() : row["schema"];
  const Value typed = row["object"]["kind"].is_null() ? Value() : row["object"];
  const auto type = runtime::GroupVersion::Parse(typed["apiVersion"].AsString());
  runtime::KindOptions options{.group = typed.is_null() ? "example.com" : std::string(type.group),
                               .kind = "Foo",
                               .plural = "foos",
                               .namespaced = false};
  options.semantics = runtime::Semantics::kCustomResource;
  options.versions = {{.version = typed.is_null() ? "v1" : std::string(type.version),
                       .schema = codec::RootSchemaFromOpenApi(schema).value()}};
  options.versions[0].status_subresource = row["statusEnabled"].AsBool();
  return runtime::Kind::New(std::move(options)).value();
}

std::unique_ptr<Object> StrategyObject(const runtime::KindPtr& kind, const Value& content) {
  auto object = std::make_unique<Object>(kind, kind->hub_version());
  runtime::MapBuilder root(object->arena());
  for (const runtime::Member& member : content.members()) {
    if (member.key == "apiVersion" || member.key == "kind") continue;
    root.Add(object->arena().Copy(member.key), runtime::Copy(member.value, object->arena()));
  }
  object->SetRoot(root.Build());
  return object;
}

std::string StrategyText(const Value& value) {
  return testing::Sorted(apiextensions_test::JsonOf(value));
}

std::vector<std::string> StrategyErrors(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& text : list.items()) texts.emplace_back(text.AsString());
  std::sort(texts.begin(), texts.end());
  return texts;
}

void CheckStrategyPrepared(const Value& row, bool status) {
  const runtime::KindPtr kind = StrategyKind(row);
  const auto object = StrategyObject(kind, row["object"]);
  const auto old = StrategyObject(kind, row["old"]);
  auto strategy = apiextensions::NewCustomStrategy(kind);
  if (status) strategy = rest::NewStatusStrategy(strategy, kind);
  strategy->PrepareForUpdate(Context::Background(), *object, *old);
  CHECK(StrategyText(object->root()) == StrategyText(row["expected"]));
}

void CheckStrategyStatus(const Value& row) {
  const runtime::KindPtr kind = StrategyKind(row);
  const auto object = StrategyObject(kind, row["object"]);
  const auto old = StrategyObject(kind, row["old"]);
  const field::ErrorList errors = rest::ValidateBySchema(Context::Background(), *object, old.get(),
                                                         {.part = runtime::SchemaPart::kStatus});
  CHECK(apiextensions_test::MessagesOf(errors) == StrategyErrors(row["errors"]));
}

void CheckStrategyCreate(const Value& row) {
  const runtime::KindPtr kind = StrategyKind(row);
  const auto object = StrategyObject(kind, row["object"]);
  const Context ctx = Context::Background();
  field::ErrorList errors = apiextensions::NewCustomStrategy(kind)->Validate(ctx, *object);
  errors.Append(rest::ValidateBySchema(ctx, *object, nullptr, {}));
  CHECK(apiextensions_test::MessagesOf(errors) == StrategyErrors(row["errors"]));
}

TEST_CASE("apiextensions: strategies of custom resources do what upstream's do") {
  const auto rows = testing::Recorded::Lines("apiextensions/strategies.jsonl");
  for (const Value& row : rows.values()) {
    const std::string_view table = row["table"].AsString();
    INFO(StrategyText(row));
    if (table == "TestStrategyPrepareForUpdate") {
      CheckStrategyPrepared(row, /*status=*/false);
    } else if (table == "TestPrepareForUpdate (status)") {
      CheckStrategyPrepared(row, /*status=*/true);
    } else if (table == "TestValidateCustomResourceName") {
      CheckStrategyCreate(row);
    } else {
      CheckStrategyStatus(row);
    }
  }
  CHECK(rows.values().size() >= 20);
}

}  // namespace
