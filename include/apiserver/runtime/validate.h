#pragma once

#include <cstdint>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// Validates a part of an object by its schema, also when the object replaces another. kind.h has
// ValidateSchema() for a whole object.
namespace apiserver::inline v0::runtime {

// The part of an object that is checked against its kind's schema.
enum class SchemaPart : std::uint8_t {
  kNone,
  kObject,  // All but metadata, which has rules of its own.
  kStatus,  // Only `status`, if there is one: the part that a status subresource may change.
};

// Validates `part` of `object`. A custom resource is validated as apiextensions-apiserver does, in
// the words of kube-openapi; sets and list maps always in the whole object. Messages about a status
// name fields relative to it, as apiextensions-apiserver does: `status.size: Invalid value: -1:
// size in body should be greater than or equal to 0`.
field::ErrorList ValidateSchemaPart(const Object& object, SchemaPart part);

// Validates `object` as the replacement of `old`. Duplicate items in a set or list map are no error
// if `old` has duplicates too. An invalid value of a custom resource that the update leaves
// unchanged is no error either, as in Kubernetes since 1.30 (CRDValidationRatcheting): items of a
// list map are compared by key, other lists as a whole. Of a Go type everything else is an error.
field::ErrorList ValidateSchemaPart(const Object& object, const Object& old, SchemaPart part);

}  // namespace apiserver::inline v0::runtime
