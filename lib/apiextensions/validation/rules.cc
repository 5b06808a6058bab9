#include "apiextensions/validation/rules.h"

#include <optional>
#include <unordered_set>
#include <utility>

#include "apiextensions/schema/json_schema.h"
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

// Returns a copy of a schema without the rules of some of its parts. Recurses as deep as schemas
// are nested.
class RuleRemover {
 public:
  RuleRemover(const std::vector<const Member*>& faulty, Arena& arena)
      : faulty_(faulty.begin(), faulty.end()), arena_(arena) {}

  Value Remove(const Value& schema) {
    if (!schema.is_map()) return schema;
    const bool faulty = faulty_.contains(schema.members().data());
    runtime::MapBuilder kept(arena_);
    for (const Member& member : schema.members()) {
      if (faulty && member.key == kRules) continue;
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

}  // namespace

void CheckSchemaExpressions(const Value& schema, const std::vector<const Member*>& faulty,
                            const Demands& demands, bool limit_rules, const field::Path& path,
                            field::ErrorList& errors) {
  if (!HasRules(schema)) return;
  Arena arena;
  const Value judged = faulty.empty() ? schema : RuleRemover(faulty, arena).Remove(schema);
  const Result<runtime::SchemaPtr> loaded = codec::SchemaFromOpenApi(judged);
  // Only a schema with other errors, which are told already, cannot be loaded.
  if (!loaded.ok()) return;
  cel::RuleEnvironments environments{
      .environment = cel::Environment::Kubernetes(kCompatibleWith, cel::Mode::kNew)};
  if (!demands.stored_rules.empty()) {
    environments.stored = cel::Environment::Kubernetes(kCompatibleWith, cel::Mode::kStored);
    environments.stored_texts = &demands.stored_rules;
  }
  cel::RuleErrors found =
      cel::CheckRules(*loaded, path, environments, {.limit_rules = limit_rules});
  errors.Append(std::move(found.texts));
  errors.Append(std::move(found.expressions));
  errors.Append(std::move(found.total));
}

}  // namespace apiserver::v0::apiextensions
