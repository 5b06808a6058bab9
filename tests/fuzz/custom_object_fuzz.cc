#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/settle.h"
#include "apiserver/runtime/validate.h"
#include "require.h"

// Custom objects: the input is the schema of a CustomResourceDefinition, a newline, an object, a
// newline, and an object that it replaces, all in JSON. What is settled can be settled again, and
// validating ends. (A default may hold what its own schema drops: only the second time changes
// nothing.)
namespace {

using namespace apiserver;  // NOLINT(google-build-using-namespace)
using apiserver_fuzz::Require;
using runtime::Object;

runtime::KindPtr KindOf(std::string_view schema) {
  runtime::Arena arena;
  const auto json = codec::ParseJson(schema, arena);
  if (!json.ok()) return nullptr;
  const auto root = codec::RootSchemaFromOpenApi(*json);
  if (!root.ok()) return nullptr;
  runtime::KindOptions options{.group = "example.com", .kind = "Foo", .plural = "foos"};
  options.semantics = runtime::Semantics::kCustomResource;
  options.versions = {{.version = "v1", .schema = *root}};
  auto kind = runtime::Kind::New(std::move(options));
  return kind.ok() ? *kind : nullptr;
}

std::unique_ptr<Object> ObjectOf(const runtime::KindPtr& kind, std::string_view text) {
  runtime::Arena arena;
  const auto root = codec::ParseJson(text, arena);
  if (!root.ok() || !root->is_map()) return nullptr;
  return std::make_unique<Object>(kind, "v1", std::move(arena), *root);
}

std::string Printed(const Object& object) {
  std::string json;
  codec::AppendJson(object.root(), json);
  return json;
}

void Validate(const Object& object, const Object* old) {
  for (const auto part : {runtime::SchemaPart::kObject, runtime::SchemaPart::kStatus}) {
    Require(runtime::ValidateSchemaPart(object, part).size() <= field::kErrorsMax);
    if (old == nullptr) continue;
    Require(runtime::ValidateSchemaPart(object, *old, part).size() <= field::kErrorsMax);
  }
}

std::string_view TakeSchemaLine(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const runtime::KindPtr kind = KindOf(TakeSchemaLine(rest));
  if (kind == nullptr) return 0;
  const std::unique_ptr<Object> object = ObjectOf(kind, TakeSchemaLine(rest));
  if (object == nullptr) return 0;
  const std::unique_ptr<Object> old = ObjectOf(kind, rest);
  Validate(*object, old.get());
  constexpr runtime::SettleRules kRules{.growth_max = std::size_t{64} << 20};
  for (const bool stored : {false, true}) {
    const std::unique_ptr<Object> settled = object->Clone();
    runtime::SettleRules rules = kRules;
    rules.stored = stored;
    if (!runtime::Settle(*settled, rules).ok() || !runtime::Settle(*settled, rules).ok()) continue;
    const std::string before = Printed(*settled);
    Require(runtime::Settle(*settled, rules).ok());
    Require(Printed(*settled) == before);
    Validate(*settled, nullptr);
  }
  return 0;
}
