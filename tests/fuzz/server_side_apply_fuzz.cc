#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/codec/json.h"
#include "apiserver/patch/apply/field_manager.h"
#include "apiserver/patch/apply/managed_fields.h"
#include "apiserver/runtime/settle.h"
#include "require.h"

// Server-side apply: the input is a live object with its managedFields, a newline, and what is
// applied to it, in JSON. What can be applied can be applied again, and then changes nothing.
// (Unless JSON leaves out what it says: a zero that is the key of an item, for one. In Go neither.)
namespace {

using namespace apiserver;                // NOLINT(google-build-using-namespace)
using namespace apiserver::patch::apply;  // NOLINT(google-build-using-namespace)
using apiserver_fuzz::Require;
using runtime::Value;

runtime::KindPtr GearKind() {
  using namespace runtime;  // NOLINT(google-build-using-namespace)
  const SchemaPtr text = StringSchema();
  const SchemaPtr port =
      StructBuilder("")
          .Field("port", IntegerSchema(32))
          .Field("protocol", text, {.default_value = OwnedValue(Value::String("TCP"))})
          .Build();
  const SchemaPtr spec = StructBuilder("")
                             .Field("ports", ListMapOf(port, {"port", "protocol"}))
                             .Field("tags", SetOf(text))
                             .Field("args", ListOf(text))
                             .Field("labels", MapOf(text))
                             .Field("any", AnySchema())
                             .Build();
  const SchemaPtr root =
      StructBuilder("").Field("metadata", ObjectMetaSchema()).Field("spec", spec).Build();
  return Kind::New({.group = "example.com",
                    .kind = "Gear",
                    .plural = "gears",
                    .versions = {{.version = "v1", .schema = root}}})
      .value();
}

std::string RootOf(const runtime::Object& object) {
  std::string json;
  codec::AppendJson(object.root(), json);
  return json;
}

// Whether all that a configuration says is in the JSON of its object, too.
bool IsWritten(const runtime::KindPtr& kind, Value configuration) {
  runtime::Arena arena;
  Value root = runtime::Without(configuration, "kind", arena);
  root = runtime::Copy(runtime::Without(root, "apiVersion", arena), arena);
  runtime::Object object(kind, "v1", std::move(arena), root);
  runtime::Arena before;
  const Value said = runtime::Copy(object.root(), before);
  return runtime::Settle(object, {.defaults = false}).ok() && object.root() == said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const runtime::KindPtr kind = GearKind();
  static const FieldManager manager(
      {.types = std::make_shared<TypeConverter>(kind), .version = "v1"});
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t newline = input.find('\n');
  if (newline == std::string_view::npos) return 0;
  runtime::Arena arena;
  const auto root = codec::ParseJson(input.substr(0, newline), arena);
  auto applied = std::make_shared<AppliedConfiguration>();
  const auto config = codec::ParseJson(input.substr(newline + 1), applied->arena);
  if (!root.ok() || !root->is_map() || !config.ok()) return 0;
  applied->root = *config;
  auto live = std::make_shared<runtime::Object>(kind, "v1", std::move(arena), *root);
  if (!runtime::Settle(*live, {.defaults = false}).ok()) return 0;

  const auto ctx = apiserver::Context::Background();
  auto once = manager.Apply(ctx, live, applied, "fuzzer", /*force=*/true);
  if (!once.ok()) return 0;
  const std::string before = RootOf(**once);
  const runtime::ObjectPtr result = *std::move(once);
  Require(ValidateManagedFields(result->metadata()["managedFields"]).ok());
  if (!IsWritten(kind, applied->root)) return 0;
  const auto twice = manager.Apply(ctx, result, applied, "fuzzer", /*force=*/false);
  Require(twice.ok() && RootOf(**twice) == before);
  const auto updated = result->Clone();
  manager.Update(ctx, result.get(), *updated, "updater");
  Require(RootOf(*updated) == before);
  return 0;
}
