#include "apiextensions/convert/metadata_guard.h"

#include <utility>

#include "apiserver/meta/validation.h"
#include "base/status_macros.h"
#include "runtime/scalar.h"

namespace apiserver::v0::apiextensions {

namespace {

using runtime::Value;

Status MustBeSame(std::string_view what, std::string_view original, std::string_view converted) {
  if (original == converted) return {};
  return ConversionError("must have the same " + std::string(what) + ": " +
                         field::Shorten(original) + " != " + field::Shorten(converted));
}

// Checks that all values are strings.
Status CheckMarkValues(std::string_view field, const Value& map) {
  for (const runtime::Member& member : map.members()) {
    if (member.value.is_string()) continue;
    return ConversionError("metadata." + std::string(field) + "[" + field::Shorten(member.key) +
                           "] must be a string, but is " +
                           std::string(runtime::GoTypeOf(member.value)) + " in converted object");
  }
  return {};
}

// The path of annotations lacks the "s" upstream, too.
field::ErrorList ValidateMarks(std::string_view field, const Value& map) {
  const field::Path metadata("metadata");
  return field == "labels" ? meta::ValidateLabels(map, metadata.Child("labels"))
                           : meta::ValidateAnnotations(map, metadata.Child("annotation"));
}

// Checks labels or annotations of a converted object. Unchanged ones are valid whatever they are:
// they may be older than the rule that they break.
Status CheckMarks(std::string_view field, const Value& original, const Value& converted) {
  if (!converted.is_map()) {
    return ConversionError("invalid metadata." + std::string(field) + " of type " +
                           std::string(runtime::GoTypeOf(converted)) + " in converted object");
  }
  if (!original.is_null() && !original.is_map()) {
    return ConversionError("invalid metadata." + std::string(field) + " of type " +
                           std::string(runtime::GoTypeOf(original)) + " in original object");
  }
  RETURN_IF_ERROR(CheckMarkValues(field, converted));
  if (original.is_map() && original == converted) return {};
  if (original.is_null() && converted.size() == 0) return {};
  const field::ErrorList errors = ValidateMarks(field, converted);
  return errors.empty() ? Status() : ConversionError(errors.Aggregate());
}

}  // namespace

Status ConversionError(std::string why) { return {Reason::kUnknown, std::move(why)}; }

Status CheckSameObject(const Value& original, const Value& converted) {
  const Value before = original["metadata"];
  const Value after = converted["metadata"];
  RETURN_IF_ERROR(MustBeSame("kind", original["kind"].AsString(), converted["kind"].AsString()));
  RETURN_IF_ERROR(MustBeSame("name", before["name"].AsString(), after["name"].AsString()));
  RETURN_IF_ERROR(
      MustBeSame("namespace", before["namespace"].AsString(), after["namespace"].AsString()));
  return MustBeSame("UID", before["uid"].AsString(), after["uid"].AsString());
}

Result<Value> RestoredMetadata(const Value& original, const Value& converted,
                               runtime::Arena& arena) {
  const Value* const answered = converted.Find("metadata");
  if (answered == nullptr) return ConversionError("missing metadata in converted object");
  if (!answered->is_map()) {
    return ConversionError("invalid metadata of type " + std::string(runtime::GoTypeOf(*answered)) +
                           " in converted object");
  }
  const Value* const before = original.Find("metadata");
  Value restored = before != nullptr ? *before : Value::Map({});
  if (!restored.is_map()) {
    return ConversionError("invalid metadata of type " + std::string(runtime::GoTypeOf(restored)) +
                           " in input object");
  }
  for (const std::string_view field : {"labels", "annotations"}) {
    const Value value = (*answered)[field];
    if (value.is_null()) {
      restored = Without(restored, field, arena);
      continue;
    }
    RETURN_IF_ERROR(CheckMarks(field, restored[field], value));
    restored = With(restored, field, value, arena);
  }
  return restored;
}

}  // namespace apiserver::v0::apiextensions
