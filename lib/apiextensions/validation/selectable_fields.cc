#include <set>
#include <string>

#include "apiextensions/validation/parts.h"
#include "apiserver/cel/rules.h"

namespace apiserver::v0::apiextensions {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Schema;
using runtime::SchemaType;
using runtime::Value;

constexpr std::size_t kSelectableFieldsMax = 8;

// Returns the schema at a path that is known to lead somewhere: ".spec.color".
const Schema* SchemaAtPath(const Schema& root, std::string_view path) {
  const Schema* at = &root;
  while (!path.empty() && at != nullptr) {
    path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find('.'));
    path.remove_prefix(name.size());
    const runtime::Field* const field =
        at->type == SchemaType::kStruct ? at->FindField(name) : nullptr;
    at = field != nullptr ? field->schema.get() : at->items().get();
  }
  return at;
}

bool MaySelect(const Schema* schema) {
  if (schema == nullptr) return false;
  return schema->type == SchemaType::kString || schema->type == SchemaType::kBoolean ||
         schema->type == SchemaType::kInteger;
}

}  // namespace

void ValidateSelectableFields(const Value& fields, const Schema& schema, bool too_many,
                              const Path& path, ErrorList& errors) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < fields.size() && !errors.full(); ++i) {
    const std::string_view text = fields.at(i)["jsonPath"].AsString();
    const Path at = path.Index(i).Child("jsonPath");
    if (text.empty()) {
      errors.Required(at);
      continue;
    }
    const Result<Path> parsed = cel::ParseFieldPath(text, schema, /*brackets=*/false);
    if (!parsed.ok()) {
      errors.Invalid(at, text, "is an invalid path: " + std::string(parsed.status().message()));
      continue;
    }
    const std::string& name = parsed->text();
    if (name.substr(0, name.find_first_of(".[")) == "metadata") {
      errors.Invalid(at, text, "must not point to fields in metadata");
    }
    if (!MaySelect(SchemaAtPath(schema, text))) {
      errors.Invalid(at, text,
                     "must point to a field of type string, boolean or integer. Enum string fields "
                     "and strings with formats are allowed.");
    }
    if (!seen.insert(name).second) errors.Duplicate(at, text);
  }
  if (seen.size() > kSelectableFieldsMax && !too_many) {
    errors.TooMany(path, seen.size(), kSelectableFieldsMax);
  }
}

}  // namespace apiserver::v0::apiextensions
