#include "apiextensions/validation/demands.h"

#include <algorithm>

#include "apiextensions/schema/json_schema.h"
#include "apiextensions/validation/defaults.h"
#include "apiextensions/validation/hoist.h"
#include "apiextensions/validation/parts.h"
#include "apiextensions/validation/schema_rules.h"
#include "apiextensions/validation/structural.h"
#include "apiserver/apiextensions/definition.h"
#include "apiserver/client/webhook_config.h"
#include "text/base64.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Object;
using runtime::Value;

constexpr std::size_t kSelectableFieldsMax = 8;

// Withdraws the demands that a schema breaks, and collects its rules.
void Withdraw(const Value& schema, Demands& demands) {
  ForEachSchema(schema, [&demands](const Value& node) {
    const std::string_view type = node["type"].AsString();
    if (!type.empty() && !IsOpenApiType(type)) demands.valid_types = false;
    if (demands.atomic_sets && IsNonAtomicSet(node)) demands.atomic_sets = false;
    if (demands.sound_list_keys && HasUnsoundListKeys(node)) demands.sound_list_keys = false;
    for (const Value& rule : node["x-kubernetes-validations"].items()) {
      demands.stored_rules.emplace(rule["rule"].AsString());
      const std::string_view message = rule["messageExpression"].AsString();
      if (!message.empty()) demands.stored_rules.emplace(message);
    }
    return true;
  });
  if (IsTooDeep(schema) || !WhyNotStructural(schema).empty() ||
      !ValidateStructural(schema, field::Path()).empty()) {
    demands.structural = false;
  } else if (HasUnprunedDefaults(schema)) {
    demands.pruned_defaults = false;
  }
}

bool HasRecognizedReviewVersion(const Value& conversion) {
  const auto versions = conversion["webhook"]["conversionReviewVersions"].items();
  return versions.empty() ||
         std::any_of(versions.begin(), versions.end(), [](const Value& version) {
           return IsRecognizedReviewVersion(version.AsString());
         });
}

bool MustHaveValidBundle(const Object& old) {
  if (!IsConditionTrue(old, kEstablished)) return false;
  const Value bundle = old["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"];
  std::string bytes(bundle.AsString());
  if (bundle.is_string()) bytes = text::DecodeBase64(bytes).value_or("");
  return bytes.empty() || client::ValidateCABundle(field::Path("caBundle"), bytes).empty();
}

bool HasTooMany(const Value& fields, const Value& old) {
  return old.size() > kSelectableFieldsMax && fields == old;
}

}  // namespace

Demands DemandsAfter(const Object& definition, const Object& old) {
  Demands demands;
  const InternalSpec now(definition);
  const InternalSpec before(old);
  demands.recognized_review_version = HasRecognizedReviewVersion(old["spec"]["conversion"]);
  demands.immutable_names = IsConditionTrue(old, kEstablished);
  demands.valid_ca_bundle = MustHaveValidBundle(old);
  for (const Value& version : before.versions().items()) {
    const Value schema = SchemaOf(version);
    if (schema.is_null()) {
      demands.schema = false;
    } else {
      Withdraw(schema, demands);
    }
  }
  if (HasTooMany(now.selectable_fields(), before.selectable_fields())) {
    demands.too_many_selectable_fields.insert("");
  }
  for (const Value& version : now.versions().items()) {
    const std::string_view name = version["name"].AsString();
    const Value other = before.Find(name);
    // The parts that all versions have in common count for every version, also for one that is new.
    const Value schema = before.hoisted().schema ? before.schema() : other["schema"];
    const bool known = before.hoisted().schema || !other.is_null();
    if (known && version["schema"] == schema) demands.unchanged_schemas.insert(name);
    if (other.is_null()) continue;
    const bool apart = !now.hoisted().selectable_fields && !before.hoisted().selectable_fields;
    if (apart && HasTooMany(version["selectableFields"], other["selectableFields"])) {
      demands.too_many_selectable_fields.insert(name);
    }
  }
  return demands;
}

}  // namespace apiserver::v0::apiextensions
