#include "patch/strategic_schema.h"

#include <algorithm>
#include <vector>

#include "apiserver/base/field_path.h"

#include "base/status_macros.h"

namespace apiserver::v0::patch {

using runtime::Field;
using runtime::Schema;
using runtime::SchemaType;

namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualFold(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

// Finds the first field whose name differs in case at most, in inlined structs too.
const Field* FindFolded(const Schema& schema, std::string_view key) {
  std::vector<const Schema*> structs = {&schema};
  for (std::size_t i = 0; i < structs.size(); ++i) {
    for (const Field& field : structs[i]->fields()) {
      if (field.inlined) {
        structs.push_back(field.schema.get());
      } else if (EqualFold(field.name(), key)) {
        return &field;
      }
    }
  }
  return nullptr;
}

std::string_view StructName(const Schema& schema) {
  if (schema.type == SchemaType::kRaw) return "RawExtension";
  const std::string_view name = schema.name();
  return name.substr(name.rfind('.') + 1);
}

// Returns a patchStrategy tag without retainKeys, which only clients use.
Result<std::string_view> OtherStrategy(std::string_view tag) {
  constexpr std::string_view kRetainKeys = "retainKeys";
  const std::size_t comma = tag.find(',');
  if (comma == std::string_view::npos) return tag == kRetainKeys ? "" : tag;
  const std::string_view first = tag.substr(0, comma);
  const std::string_view second = tag.substr(comma + 1);
  if (second.find(',') == std::string_view::npos) {
    if (first == kRetainKeys) return second;
    if (second == kRetainKeys) return first;
  }
  std::string shown(tag);
  std::replace(shown.begin(), shown.end(), ',', ' ');
  return Status(Reason::kUnknown, "unexpected patch strategy: [" + shown + "]");
}

}  // namespace

std::string_view GoKind(const Shape& shape) {
  if (shape.pointer) return "ptr";
  switch (shape.schema->type) {
    case SchemaType::kAny:
      return "interface";
    case SchemaType::kBoolean:
      return "bool";
    case SchemaType::kInteger:
      return shape.schema->bits == 32 ? "int32" : "int64";
    case SchemaType::kNumber:
      return "float64";
    case SchemaType::kString:
      return "string";
    case SchemaType::kBytes:
    case SchemaType::kList:
      return "slice";
    case SchemaType::kMap:
      return "map";
    default:
      return "struct";
  }
}

// Follows the function of this name in apimachinery's third_party/forked/golang/json.
Result<PatchMeta> LookupPatchMetadataForStruct(const Shape& parent, std::string_view key) {
  const Schema& schema = *parent.schema;
  if (const std::string_view kind = GoKind({&schema}); kind != "struct") {
    return Status(
        Reason::kUnknown,
        "merging an object in json but data type is not struct, instead is: " + std::string(kind));
  }
  const Field* field = schema.FindField(key);
  // As Go's decoder, which accepts another case if no name matches exactly.
  if (field == nullptr) field = FindFolded(schema, key);
  if (field == nullptr) {
    return Status(Reason::kUnknown, "unable to find api field in struct " +
                                        std::string(StructName(schema)) + " for the json field " +
                                        field::Quote(key));
  }
  ASSIGN_OR_RETURN(const std::string_view strategy, OtherStrategy(field->schema->patch_strategy()));
  return PatchMeta{.shape = {field->schema.get(), field->presence == Field::Presence::kPointer},
                   .strategy = strategy,
                   .merge_key = field->schema->patch_merge_key()};
}

Result<PatchMeta> LookupPatchMetadataForSlice(const Shape& parent, std::string_view key) {
  ASSIGN_OR_RETURN(PatchMeta meta, LookupPatchMetadataForStruct(parent, key));
  const Schema& schema = *meta.shape.schema;
  if (schema.type == SchemaType::kList) {
    if (!meta.shape.pointer && schema.items()->type == SchemaType::kList) {
      return Status(Reason::kUnknown, "unexpected slice of slice");
    }
    meta.shape = {schema.items().get()};
  } else if (meta.shape.pointer) {
    meta.shape.pointer = false;
  } else if (schema.type != SchemaType::kBytes) {
    return Status(Reason::kUnknown,
                  "expected slice or array type, but got: " + std::string(GoKind(parent)));
  }
  return meta;
}

}  // namespace apiserver::v0::patch
