#pragma once

#include <cstdint>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// ValidateSchema() (kind.h) of a part of an object, and of an object that replaces another.
namespace apiserver::inline v0::runtime {

// The part of an object that is checked against its kind's schema.
enum class SchemaPart : std::uint8_t {
  kNone,
  kObject,  // All but metadata, which has rules of its own.
  kStatus,  // `status` alone, if there is one: what a status subresource may change.
};

// Messages about a status name fields as seen from there, as apiextensions-apiserver does:
// `status.size: Invalid value: -1: size in body should be greater than or equal to 0`.
field::ErrorList ValidateSchemaPart(const Object& object, SchemaPart part);

// The same for `object` that replaces `old`. Items that a set or list map holds twice are no error
// if `old` has such items too. All else is an error even if `old` has it: unlike Kubernetes since
// 1.30 (CRDValidationRatcheting), nothing is forgiven because an update leaves it as it was.
field::ErrorList ValidateSchemaPart(const Object& object, const Object& old, SchemaPart part);

}  // namespace apiserver::inline v0::runtime
