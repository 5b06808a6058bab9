#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/schema.h"

// The merge rules of a schema: LookupPatchMeta of k8s.io/apimachinery's strategicpatch.
namespace apiserver::inline v0::patch {

// The Go type a value is decoded into.
struct Shape {
  const runtime::Schema* schema;
  bool pointer = false;
};

// The merge rules of one field.
struct PatchMeta {
  Shape shape;                 // The shape of the field, or of the elements of its list.
  std::string_view strategy;   // "merge", "replace" or another; retainKeys apart.
  std::string_view merge_key;  // Empty: none.
};

// Looks up the field `key` of `parent`, which holds a map. kUnknown (500): there is no such field,
// or `parent` has no fields; the words are Go's.
Result<PatchMeta> LookupPatchMetadataForStruct(const Shape& parent, std::string_view key);
// The same for a field that holds a list.
Result<PatchMeta> LookupPatchMetadataForSlice(const Shape& parent, std::string_view key);

// reflect.Kind in words: "struct", "map", ….
std::string_view GoKind(const Shape& shape);

}  // namespace apiserver::inline v0::patch
