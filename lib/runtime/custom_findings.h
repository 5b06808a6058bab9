#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/schema.h"
#include "runtime/custom_path.h"

namespace apiserver::inline v0::runtime {

// What can be wrong with a value of a custom object, by the checks of kube-openapi's `validate`.
enum class CustomProblem : std::uint8_t {
  kType,       // `count` is 1 if the schema's format is named instead of its type.
  kFormat,     // The text does not have the format.
  kRequired,   // `name` is missing.
  kForbidden,  // `name` must not be there.
  kEnum,
  kTooLong,
  kTooShort,
  kPattern,
  kMultipleOf,
  kMaximum,
  kMinimum,
  kMaxItems,
  kMinItems,
  kUnique,
  kMaxProperties,  // `count` is the number of members.
  kMinProperties,
  kAllOf,  // `count` of the schemas are obeyed.
  kAnyOf,
  kOneOf,
  kNot,
};

// A finding, written out only if it is told in the end: most of them belong to alternatives of
// which another holds.
struct CustomFinding {
  CustomProblem problem;
  std::uint32_t path;
  const Schema* schema;
  Value value;
  std::string_view name = {};
  std::size_t count = 0;
};

// Returns the OpenAPI types that values of `schema` may have; "integer,string" for int-or-string.
// Empty: any.
std::string_view CustomTypes(const Schema& schema);
// Returns OpenAPI's name for the type of a value: "integer"; "null".
std::string_view CustomTypeOf(const Value& value);
// Returns a number without its fraction, as Go converts a float64; the nearest int64 if it has
// none.
std::int64_t WholePart(double number);
// Returns the schema's format if apiextensions knows it. Others are never checked.
std::string_view CustomFormat(const Schema& schema);

// Writes the findings with the words by which apiextensions-apiserver tells them, each once.
// `prefix` is the field that was checked, and stands before paths but not in messages. Empty: the
// whole object.
void WriteFindings(const std::vector<CustomFinding>& findings, const CustomPaths& paths,
                   std::string_view prefix, field::ErrorList& errors);

}  // namespace apiserver::inline v0::runtime
