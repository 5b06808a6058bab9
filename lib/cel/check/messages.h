#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apiserver/cel/type.h"

// The texts of the checker's issues: checker/errors.go of cel-go. They are part of what clients of
// Kubernetes see.
namespace apiserver::inline v0::cel::check {

// Prints a type as cel-go's Type.String() does, unlike its issues: "null_type",
// "list(google.protobuf.Timestamp)".
std::string GoTypeString(const Type& type);

std::string UndeclaredReference(std::string_view name);
std::string UndefinedField(std::string_view field);
std::string UnresolvedType(std::string_view type);
std::string NoFieldSelection(const TypeNode& type);
std::string NoMatchingOverload(std::string_view function, std::span<const Type> arguments,
                               bool member);
std::string NotIterable(const TypeNode& type);
std::string TypeMismatch(const TypeNode& expected, const TypeNode& actual);
std::string FieldTypeMismatch(std::string_view field, const TypeNode& expected,
                              const TypeNode& actual);
std::string NotAType(const TypeNode& type);
std::string NotAMessageType(const TypeNode& type);
std::string InvalidArgument(std::string_view function);

}  // namespace apiserver::inline v0::cel::check
