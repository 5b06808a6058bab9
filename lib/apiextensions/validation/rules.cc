#include "apiextensions/validation/rules.h"

#include <optional>
#include <unordered_set>
#include <utility>

#include "apiextensions/schema/json_schema.h"
#include "apiextensions/validation/place.h"
#include "apiserver/cel/rule_check.h"
#include "apiserver/cel/rules.h"
#include "apiserver/codec/schema_loader.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;

constexpr std::string_view kRules = "x-kubernetes-validations";

// The oldest version of Kubernetes whose servers must understand rules that are written now.
constexpr cel::KubernetesVersion kCompatibleWith{.major = 1, .minor = 35};

bool HasRules(const Value& schema) {
  bool has = false;
  ForEachSchema(schema, [&has](const Value& node) {
    has = node[kRules].size() > 0;
    return !has;
  });
  return has;
}

// Checks the fields that rules name. Recurses as deep as schemas are nested.
void CheckFieldPaths(const Value& schema, const runtime::SchemaPtr& loaded, const Place& place,
                     field::ErrorList& errors) {
  if (!schema.is_map() || loaded == nullptr || !loaded->has_rules()) return;
  const Value rules = schema[kRules];
  const Place list = place.Child(kRules);
  for (std::size_t i = 0; i < rules.size() && !errors.full(); ++i) {
    const std::string_view path = rules.at(i)["fieldPath"].AsString();
    if (path.empty() || cel::ParseFieldPath(path, *loaded).ok()) continue;
    const Place rule = list.Index(i);
    errors.Invalid(rule.Child("fieldPath").ToPath(), path, "must be a valid path");
  }
  CheckFieldPaths(schema["items"], loaded->items(), place.Child("items"), errors);
  const runtime::SchemaPtr& values =
      loaded->type == runtime::SchemaType::kMap ? loaded->items() : loaded->members();
  CheckFieldPaths(schema["additionalProperties"], values, place.Child("additionalProperties"),
                  errors);
  const Place properties = place.Child("properties");
  const auto fields = loaded->fields();
  std::size_t next = 0;
  for (const Member& property : schema["properties"].members()) {
    // Mostly the fields have the same order.
    const bool here = next < fields.size() && fields[next].name() == property.key;
    const runtime::Field* const field = here ? &fields[next] : loaded->FindField(property.key);
    next += here ? 1 : 0;
    if (field == nullptr) continue;
    CheckFieldPaths(property.value, field->schema, properties.Key(property.key), errors);
  }
}

// Returns a copy of a schema without the rules of some of its parts, which can be loaded. Recurses
// as deep as schemas are nested.
class RuleRemover {
 public:
  RuleRemover(const std::vector<const Member*>& faulty, Arena& arena)
      : faulty_(faulty.begin(), faulty.end()), arena_(arena) {}

  Value Remove(const Value& schema) {
    if (!schema.is_map()) return schema;
    const bool faulty = faulty_.contains(schema.members().data());
    const bool both = schema["properties"].size() > 0;
    runtime::MapBuilder kept(arena_);
    for (const Member& member : schema.members()) {
      if (faulty && member.key == kRules) continue;
      // An error that is told already.
      if (both && member.key == "additionalProperties" && member.value.is_map()) continue;
      if (member.key == "properties") {
        kept.Add(member.key, RemoveInEach(member.value));
      } else if (member.key == "items" || member.key == "additionalProperties") {
        kept.Add(member.key, Remove(member.value));
      } else {
        kept.Add(member.key, member.value);
      }
    }
    return kept.Build();
  }

 private:
  Value RemoveInEach(const Value& properties) {
    runtime::MapBuilder kept(arena_);
    for (const Member& property : properties.members()) {
      kept.Add(property.key, Remove(property.value));
    }
    return kept.Build();
  }

  const std::unordered_set<const Member*> faulty_;
  Arena& arena_;
};

Result<runtime::SchemaPtr> WithoutRules(const Value& schema,
                                        const std::vector<const Member*>& faulty) {
  Arena arena;
  return codec::SchemaFromOpenApi(RuleRemover(faulty, arena).Remove(schema));
}

}  // namespace

field::ErrorList CheckSchemaExpressions(LoadedSchema& schema, const SchemaFindings& findings,
                                        const Demands& demands, bool limit_rules,
                                        const field::Path& path) {
  field::ErrorList errors;
  if (!HasRules(schema.json())) return errors;
  if (const auto& whole = schema.Get(); whole.ok()) {
    CheckFieldPaths(schema.json(), *whole, Place(path), errors);
  }
  const Result<runtime::SchemaPtr> loaded =
      findings.errors.empty() ? schema.Get() : WithoutRules(schema.json(), findings.faulty);
  // Only a schema with other errors, which are told already, cannot be loaded.
  if (!loaded.ok()) return errors;
  cel::RuleEnvironments environments{
      .environment = cel::Environment::Kubernetes(kCompatibleWith, cel::Mode::kNew)};
  if (!demands.stored_rules.empty()) {
    environments.stored = cel::Environment::Kubernetes(kCompatibleWith, cel::Mode::kStored);
    environments.stored_texts = &demands.stored_rules;
  }
  cel::RuleErrors found =
      cel::CheckRules(*loaded, path, environments, {.limit_rules = limit_rules});
  errors.Append(std::move(found.expressions));
  errors.Append(std::move(found.total));
  return errors;
}

}  // namespace apiserver::v0::apiextensions
