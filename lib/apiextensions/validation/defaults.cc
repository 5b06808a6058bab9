#include "apiextensions/validation/defaults.h"

#include <string>
#include <utility>
#include <vector>

#include "apiextensions/schema/json_schema.h"
#include "apiextensions/validation/go_struct_json.h"
#include "apiextensions/validation/place.h"
#include "apiextensions/validation/schema_rules.h"
#include "apiserver/cel/rules.h"
#include "rest/validate_embedded.h"
#include "runtime/custom_check.h"

namespace apiserver::v0::apiextensions {
namespace {

using field::ErrorList;
using runtime::Member;
using runtime::Schema;
using runtime::Value;

constexpr std::string_view kPreserve = "x-kubernetes-preserve-unknown-fields";
constexpr std::string_view kEmbedded = "x-kubernetes-embedded-resource";

bool IsMetaField(std::string_view name) {
  return name == "metadata" || name == "kind" || name == "apiVersion";
}

// A value and the schema by which it is pruned, which is null where there is none.
struct Pruned {
  Value value;
  Value schema;
  // The members that the schema does not know are kept.
  bool keeps = false;
  bool resource = false;  // It has apiVersion, kind and metadata, whatever the schema says.
};

// Looks at the members of a map. True: one of them is unknown.
bool HasUnknownMember(const Pruned& at, std::vector<Pruned>& open) {
  const Value properties = at.schema["properties"];
  const Value values = at.schema["additionalProperties"];
  const bool any_values = values.is_map() || values.type() == Value::Type::kBool;
  const bool embedded = at.resource || at.schema[kEmbedded].AsBool();
  for (const Member& member : at.value.members()) {
    if (embedded && IsMetaField(member.key)) continue;
    if (const Value* const property = FindSorted(properties, member.key)) {
      open.push_back({member.value, *property, (*property)[kPreserve].AsBool()});
    } else if (any_values) {
      open.push_back(
          {member.value, values.is_map() ? values : Value(), values[kPreserve].AsBool()});
    } else if (!at.keeps) {
      return true;
    }
  }
  return false;
}

// Tells if pruning would drop members of a value.
bool HasUnknownMembers(const Value& value, const Value& schema, bool resource) {
  std::vector<Pruned> open = {{value, schema, schema[kPreserve].AsBool(), resource}};
  while (!open.empty()) {
    const Pruned at = open.back();
    open.pop_back();
    if (at.value.is_map()) {
      if (!at.schema.is_map() && at.keeps) continue;
      if (HasUnknownMember(at, open)) return true;
    }
    const Value items = at.schema["items"];
    for (const Value& item : at.value.items()) {
      open.push_back({item, items, at.keeps || items[kPreserve].AsBool()});
    }
  }
  return false;
}

std::string PrintedValue(const Value& value) {
  return value.is_string() ? field::QuoteShort(value.AsString()) : PrintedTexts(value);
}

// Goes through a schema in both of its forms. Recurses as deep as schemas are nested.
class DefaultsWalk {
 public:
  DefaultsWalk(const Context& ctx, bool pruned, ErrorList& errors)
      : ctx_(ctx), pruned_(pruned), errors_(errors) {}

  // The place of a schema among resources: it is one, it is a part of its metadata, or neither.
  enum class Part : std::uint8_t { kResource, kMeta, kOther };

  void Check(const Value& schema, const runtime::SchemaPtr& loaded, Part part, const Place& place) {
    if (!schema.is_map() || loaded == nullptr || errors_.full() || budget_.remaining < 0) return;
    if (part != Part::kResource) return CheckPart(schema, loaded, part, place);
    // Fields inside of a resource have that resource around them.
    Surroundings outer = std::exchange(around_, {loaded, {}});
    CheckPart(schema, loaded, part, place);
    around_ = std::move(outer);
  }

 private:
  // A step from a resource into it: to a member, or to the items of a list.
  struct Step {
    std::string_view name;
    bool items = false;
  };
  struct Surroundings {
    runtime::SchemaPtr resource;
    std::vector<Step> steps;
  };

  void CheckPart(const Value& schema, const runtime::SchemaPtr& loaded, Part part,
                 const Place& place) {
    if (!schema["default"].is_null()) CheckDefault(schema, loaded, part, place);
    // Where the names are the client's there are no defaults.
    const Part items = PartOf(schema["items"], part, "");
    around_.steps.push_back({"", true});
    Check(schema["items"], loaded->items(), items, place.Child("items"));
    around_.steps.pop_back();
    const Place properties = place.Child("properties");
    const auto fields = loaded->fields();
    std::size_t next = 0;
    for (const Member& property : schema["properties"].members()) {
      // Mostly the fields have the same order.
      const bool here = next < fields.size() && fields[next].name() == property.key;
      const runtime::Field* const field = here ? &fields[next] : loaded->FindField(property.key);
      next += here ? 1 : 0;
      if (field == nullptr) continue;
      around_.steps.push_back({property.key});
      Check(property.value, field->schema, PartOf(property.value, part, property.key),
            properties.Key(property.key));
      around_.steps.pop_back();
    }
  }

  static Part PartOf(const Value& schema, Part around, std::string_view name) {
    if (schema[kEmbedded].AsBool()) return Part::kResource;
    const bool meta = around == Part::kResource && IsMetaField(name);
    return meta || around == Part::kMeta ? Part::kMeta : Part::kOther;
  }

  void CheckDefault(const Value& schema, const runtime::SchemaPtr& loaded, Part part,
                    const Place& place) {
    const Value value = schema["default"];
    const field::Path path = place.Child("default").ToPath();
    const bool resource = part == Part::kResource;
    // Metadata has members of its own.
    if (pruned_ && part != Part::kMeta && HasUnknownMembers(value, schema, resource)) {
      errors_.InvalidPrinted(path, PrintedValue(value), "must not have unknown fields");
    }
    if (!MakesValidResources(value, *loaded, part, path)) return;
    ErrorList faults;
    runtime::CustomCheck().Run(
        {.schema = loaded.get(), .value = value, .whole = false, .prefix = path.text()}, faults);
    const bool valid = faults.empty();
    errors_.Append(std::move(faults));
    if (valid && loaded->has_rules()) CheckRules(value, loaded, resource, path);
  }

  // Checks the resources in a default, or the one whose metadata has it.
  bool MakesValidResources(const Value& value, const Schema& loaded, Part part,
                           const field::Path& path) {
    if (part != Part::kMeta) {
      ErrorList faults = rest::ValidateResources(loaded, value, part == Part::kResource, path);
      const bool valid = faults.empty();
      errors_.Append(std::move(faults));
      return valid;
    }
    runtime::Arena arena;
    const ErrorList faults =
        rest::ValidateResources(*around_.resource, Surrounded(value, arena), true, {});
    if (faults.empty()) return true;
    errors_.InvalidPrinted(path, PrintedValue(value),
                           "must result in valid metadata: " + faults.Aggregate());
    return false;
  }

  // Returns a resource that has the value where its default stands.
  Value Surrounded(Value value, runtime::Arena& arena) const {
    for (auto step = around_.steps.rbegin(); step != around_.steps.rend(); ++step) {
      if (step->items) {
        runtime::ListBuilder list(arena);
        list.Add(value);
        value = list.Build();
        continue;
      }
      runtime::MapBuilder map(arena);
      map.Add(step->name, value);
      const bool whole = step + 1 == around_.steps.rend();
      if (whole && step->name != "kind") map.Add("kind", Value::String("Validation"));
      if (whole && step->name != "apiVersion")
        map.Add("apiVersion", Value::String("validation/v1"));
      value = map.Build();
    }
    return value;
  }

  // Runs the rules as for a new value, and for one that stays as it is.
  void CheckRules(const Value& value, const runtime::SchemaPtr& loaded, bool resource,
                  const field::Path& path) {
    const cel::RuleSet rules = cel::RuleSet::Compile(
        loaded, resource, cel::Environment::Kubernetes({}, cel::Mode::kStored));
    cel::Scratch scratch;
    cel::RuleFindings unchanged =
        rules.Validate({.object = value, .old = &value, .path = path}, budget_, scratch, ctx_);
    std::int64_t left = unchanged.remaining;
    const bool valid = unchanged.errors.empty();
    errors_.Append(std::move(unchanged.errors));
    if (valid) {
      cel::RuleFindings made =
          rules.Validate({.object = value, .path = path}, budget_, scratch, ctx_);
      left = std::min(left, made.remaining);
      errors_.Append(std::move(made.errors));
    }
    budget_.remaining = left;
  }

  const Context& ctx_;
  const bool pruned_;
  ErrorList& errors_;
  cel::Budget budget_;
  Surroundings around_;
};

}  // namespace

bool HasDefaults(const Value& schema) {
  bool has = false;
  ForEachSchema(schema, [&has](const Value& node) {
    has = !node["default"].is_null();
    return !has;
  });
  return has;
}

bool HasUnprunedDefaults(const Value& schema) {
  bool has = false;
  ForEachSchema(schema, [&has](const Value& node) {
    const Value value = node["default"];
    has = !value.is_null() && HasUnknownMembers(value, node, /*resource=*/false);
    return !has;
  });
  return has;
}

ErrorList ValidateDefaults(const Context& ctx, LoadedSchema& schema, bool pruned,
                           const field::Path& path) {
  ErrorList errors;
  if (!HasDefaults(schema.json())) return errors;
  const Result<runtime::SchemaPtr>& loaded = schema.Get();
  if (!loaded.ok()) {
    errors.Invalid(path, "", std::string(loaded.status().message()));
    return errors;
  }
  DefaultsWalk(ctx, pruned, errors)
      .Check(schema.json(), *loaded, DefaultsWalk::Part::kResource, Place(path));
  return errors;
}

}  // namespace apiserver::v0::apiextensions
