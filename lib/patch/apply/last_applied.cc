#include "patch/apply/last_applied.h"

#include "apiserver/codec/json.h"
#include "apiserver/meta/validation.h"
#include "base/status_macros.h"
#include "codec/json_write.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Value;

// These texts are never sent: the caller takes an error for no allowed conflicts, as upstream.
Status Refused(std::string_view why) { return {Reason::kUnknown, std::string(why)}; }

std::size_t TotalBytes(Value annotations) {
  std::size_t bytes = 0;
  for (const runtime::Member& annotation : annotations.members()) {
    bytes += annotation.key.size() + annotation.value.AsString().size();
  }
  return bytes;
}

// Returns the content of the annotation, if it is of the same kind and version.
Result<Value> ParseLastApplied(const StructuredMerge& merge, std::string_view text,
                               runtime::Arena& arena) {
  ASSIGN_OR_RETURN(const Value parsed, codec::ParseJson(text, arena));
  if (!parsed.is_map()) return Refused("the last applied configuration is no object");
  if (parsed["apiVersion"].AsString() != merge.api_version() ||
      parsed["kind"].AsString() != merge.kind().kind()) {
    return Refused("the last applied configuration has another version");
  }
  return runtime::Without(runtime::Without(parsed, "apiVersion", arena), "kind", arena);
}

}  // namespace

// Follows lastAppliedManager.allowedConflictsFromLastApplied: what the live object still holds as
// it was last applied by the client is taken over without a conflict.
Result<FieldSet> AllowedConflictsFromLastApplied(const StructuredMerge& merge, Value live,
                                                 runtime::Arena& arena) {
  const std::string_view text =
      live["metadata"]["annotations"][kLastAppliedConfigAnnotation].AsString();
  if (text.empty()) return Refused("no last applied annotation");
  ASSIGN_OR_RETURN(const TypedValue typed_live, AsTyped(live, merge.type()));
  ASSIGN_OR_RETURN(const Value last, ParseLastApplied(merge, text, arena));
  ASSIGN_OR_RETURN(const TypedValue typed_last, AsTyped(last, merge.type()));
  ASSIGN_OR_RETURN(const FieldSet fields, typed_last.ToFieldSet(arena));
  ASSIGN_OR_RETURN(const Comparison comparison, typed_last.Compare(typed_live, arena));
  return fields.Difference(comparison.modified, arena)
      .Difference(comparison.added, arena)
      .Difference(comparison.removed, arena);
}

bool HasLastApplied(const runtime::Object& object) {
  return !object.annotations()[kLastAppliedConfigAnnotation].AsString().empty();
}

// Follows buildLastApplied. The annotation must not hold itself, or it would grow at each apply.
std::string BuildLastApplied(Value applied) {
  runtime::Arena arena;
  Value metadata = applied["metadata"];
  if (metadata["annotations"].is_map()) {
    const Value annotations =
        runtime::Without(metadata["annotations"], kLastAppliedConfigAnnotation, arena);
    metadata = runtime::With(metadata, "annotations", annotations, arena);
    applied = runtime::With(applied, "metadata", metadata, arena);
  }
  std::string text;
  codec::AppendSortedJson(applied, text);
  return text += '\n';
}

// Follows setLastApplied, which drops an annotation that makes all of them too large. The request
// must not fail for an annotation that its client did not send.
void SetLastApplied(runtime::Object& object, const std::string& value) {
  const Value annotations = object.annotations();
  const std::size_t others =
      TotalBytes(annotations) - annotations[kLastAppliedConfigAnnotation].AsString().size();
  const std::size_t key = annotations.Find(kLastAppliedConfigAnnotation) != nullptr
                              ? 0
                              : kLastAppliedConfigAnnotation.size();
  if (others + key + value.size() > meta::kTotalAnnotationBytesMax) {
    object.Erase("metadata", "annotations", kLastAppliedConfigAnnotation);
  } else {
    object.Edit("metadata", "annotations", kLastAppliedConfigAnnotation) = value;
  }
}

}  // namespace apiserver::v0::patch::apply
