#include "apiextensions/kind/stored_form.h"

#include <algorithm>
#include <array>

#include "apiextensions/validation/hoist.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Arena;
using runtime::MapBuilder;
using runtime::Member;
using runtime::Object;
using runtime::Value;

// The name of a column's path, in v1 and as it is stored.
constexpr std::string_view kPath = "jsonPath";
constexpr std::string_view kStoredPath = "JSONPath";

// The parts that stand beside the versions if all have the same: their names there and in a
// version.
struct Part {
  std::string_view beside;
  std::string_view in_version;
};
constexpr Part kSchemaPart = {"validation", "schema"};
constexpr Part kSubresourcesPart = {"subresources", "subresources"};
constexpr Part kColumnsPart = {"additionalPrinterColumns", "additionalPrinterColumns"};
constexpr Part kSelectablePart = {"selectableFields", "selectableFields"};
constexpr std::array kParts = {kSchemaPart, kSubresourcesPart, kColumnsPart, kSelectablePart};

// Adds a member if it says anything.
void AddUnlessEmpty(MapBuilder& map, std::string_view key, const Value& value) {
  const bool empty =
      value.is_null() || ((value.is_list() || value.is_string()) && value.size() == 0);
  if (!empty) map.Add(key, value);
}

// Returns columns whose paths are called `to` instead of `from`.
Value ColumnsAs(const Value& columns, std::string_view from, std::string_view to, Arena& arena) {
  if (!columns.is_list()) return columns;
  runtime::ListBuilder renamed(arena);
  for (const Value& column : columns.items()) {
    MapBuilder map(arena);
    for (const Member& member : column.members()) {
      map.Add(member.key == from ? to : member.key, member.value);
    }
    renamed.Add(column.is_map() ? map.Build() : column);
  }
  return renamed.Build();
}

Value StoredVersion(const Value& version, const Hoisted& hoisted, Arena& arena) {
  MapBuilder map(arena);
  for (const Member& member : version.members()) {
    const bool beside = (hoisted.schema && member.key == kSchemaPart.in_version) ||
                        (hoisted.subresources && member.key == kSubresourcesPart.in_version) ||
                        (hoisted.columns && member.key == kColumnsPart.in_version) ||
                        (hoisted.selectable_fields && member.key == kSelectablePart.in_version);
    if (beside) continue;
    const bool columns = member.key == kColumnsPart.in_version;
    map.Add(member.key,
            columns ? ColumnsAs(member.value, kPath, kStoredPath, arena) : member.value);
  }
  return map.Build();
}

Value StoredVersions(const InternalSpec& spec, Arena& arena) {
  runtime::ListBuilder versions(arena);
  for (const Value& version : spec.versions().items()) {
    versions.Add(StoredVersion(version, spec.hoisted(), arena));
  }
  return versions.Build();
}

Value StoredConversion(const Value& conversion, Arena& arena) {
  if (!conversion.is_map()) return conversion;
  MapBuilder map(arena);
  map.Add("strategy", conversion["strategy"]);
  AddUnlessEmpty(map, "webhookClientConfig", conversion["webhook"]["clientConfig"]);
  AddUnlessEmpty(map, "conversionReviewVersions",
                 conversion["webhook"]["conversionReviewVersions"]);
  return map.Build();
}

Value ConversionOfStored(const Value& stored, Arena& arena) {
  if (!stored.is_map()) return stored;
  MapBuilder map(arena);
  map.Add("strategy", stored["strategy"]);
  const Value config = stored["webhookClientConfig"];
  const Value versions = stored["conversionReviewVersions"];
  if (!config.is_null() || !versions.is_null()) {
    MapBuilder webhook(arena);
    AddUnlessEmpty(webhook, "clientConfig", config);
    webhook.Add("conversionReviewVersions", versions);
    map.Add("webhook", webhook.Build());
  }
  return map.Build();
}

using Beside = std::array<Value, kParts.size()>;

// Returns the parts that stand beside the versions, in the form of v1. Null: those are in them.
Beside PartsBeside(const Value& stored, Arena& arena) {
  Beside beside;
  for (std::size_t i = 0; i < kParts.size(); ++i) beside[i] = stored[kParts[i].beside];
  beside[2] = ColumnsAs(beside[2], kStoredPath, kPath, arena);
  return beside;
}

Value VersionOfStored(const Value& stored, const Beside& beside, Arena& arena) {
  if (!stored.is_map()) return stored;
  MapBuilder map(arena);
  for (const Member& member : stored.members()) {
    const auto part = std::find_if(kParts.begin(), kParts.end(),
                                   [&](const Part& each) { return each.in_version == member.key; });
    const auto at = static_cast<std::size_t>(part - kParts.begin());
    if (part == kParts.end()) {
      map.Add(member.key, member.value);
    } else if (!beside[at].is_null()) {
      continue;
    } else {
      map.Add(member.key,
              at == 2 ? ColumnsAs(member.value, kStoredPath, kPath, arena) : member.value);
    }
  }
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    if (!beside[i].is_null()) map.Add(kParts[i].in_version, beside[i]);
  }
  return map.Build();
}

Value VersionsOfStored(const Value& stored, Arena& arena) {
  const Value versions = stored["versions"];
  if (!versions.is_list()) return versions;
  const Beside beside = PartsBeside(stored, arena);
  runtime::ListBuilder list(arena);
  for (const Value& version : versions.items()) {
    list.Add(VersionOfStored(version, beside, arena));
  }
  return list.Build();
}

void SetSpec(Object& definition, const Value& spec) {
  definition.SetRoot(runtime::With(definition.root(), "spec", spec, definition.arena()));
}

}  // namespace

Status ToStoredForm(Object& definition) {
  Arena& arena = definition.arena();
  const InternalSpec spec(definition);
  const Value& json = spec.json();
  MapBuilder stored(arena);
  stored.Add("group", json["group"]);
  AddUnlessEmpty(stored, "version", spec.versions().at(0)["name"]);
  stored.Add("names", json["names"]);
  stored.Add("scope", json["scope"]);
  AddUnlessEmpty(stored, kSchemaPart.beside, spec.schema());
  AddUnlessEmpty(stored, kSubresourcesPart.beside, spec.subresources());
  AddUnlessEmpty(stored, "versions", StoredVersions(spec, arena));
  AddUnlessEmpty(stored, kColumnsPart.beside, ColumnsAs(spec.columns(), kPath, kStoredPath, arena));
  AddUnlessEmpty(stored, kSelectablePart.beside, spec.selectable_fields());
  AddUnlessEmpty(stored, "conversion", StoredConversion(json["conversion"], arena));
  stored.Add("preserveUnknownFields", Value::Bool(json["preserveUnknownFields"].AsBool()));
  SetSpec(definition, stored.Build());
  return {};
}

Status FromStoredForm(Object& definition) {
  const Value stored = definition["spec"];
  if (!stored.is_map()) return {};
  Arena& arena = definition.arena();
  MapBuilder spec(arena);
  for (const Member& member : stored.members()) {
    if (member.key == "versions") {
      spec.Add(member.key, VersionsOfStored(stored, arena));
    } else if (member.key == "conversion") {
      spec.Add(member.key, ConversionOfStored(member.value, arena));
    } else if (member.key == "group" || member.key == "names" || member.key == "scope" ||
               member.key == "preserveUnknownFields") {
      spec.Add(member.key, member.value);
    }
  }
  SetSpec(definition, spec.Build());
  return {};
}

}  // namespace apiserver::v0::apiextensions
