#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"

// JSON for tests of runtime, which stands below the room that reads it: well-formed text only.
namespace apiserver::inline v0::runtime::testing {

// Text is copied. Members stay in their order.
Value Parse(std::string_view json, Arena& arena);
std::string Print(const Value& value);
std::string Print(const Object& object);

std::unique_ptr<Object> ObjectOf(const KindPtr& kind, std::string_view json,
                                 std::string_view version = "v1");
// A kind "Widget" in the group "example.com" with these versions of `schema`'s fields.
KindPtr WidgetKind(SchemaPtr schema, Semantics semantics = Semantics::kGoType);
// A struct with metadata and `spec`.
SchemaPtr WithSpec(SchemaPtr spec);
OwnedValue Owned(std::string_view json);

}  // namespace apiserver::inline v0::runtime::testing
