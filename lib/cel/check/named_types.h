#pragma once

#include <span>
#include <string_view>

#include "apiserver/cel/type.h"

// The names of types that the language itself declares: common/stdlib's types, the registry of
// types and the protobuf messages in common/types/pb of cel-go.
namespace apiserver::inline v0::cel::check {

// A name that an expression may use for a type.
struct NamedType {
  std::string_view name;
  const TypeNode* type;     // The type that the name stands for.
  const TypeNode* type_of;  // type(T), the type of the identifier.
  bool has_value = true;    // The name alone is a value. False: it only begins literals.
};

// Returns the type of that name: int, list, google.protobuf.Timestamp, …. Null: there is none.
const NamedType* FindStandardType(std::string_view name);
// Returns the type that a protobuf message becomes. Null: there is no such message.
const NamedType* FindMessageType(std::string_view name);
// Returns the opaque type of that name, which is no message. Null: there is none.
const NamedType* FindOpaqueType(std::string_view name);

// A field of a protobuf message.
struct MessageField {
  std::string_view name;
  const TypeNode* type;
};
// The fields of a protobuf message.
struct MessageFields {
  std::string_view name;
  std::span<const MessageField> fields;
};
// Returns the fields of the message of that name. Null: there is none.
const MessageFields* FindMessageFields(std::string_view name);

// Returns the name of the message whose literal makes a value of this type, "" if there is none:
// google.protobuf.Int64Value for wrapper(int). Of lists and maps only the nodes in this table have
// one.
std::string_view MessageOf(const TypeNode& type);

// The name of an enum's value, which is the int 0: google.protobuf.NullValue.NULL_VALUE.
inline constexpr std::string_view kNullValueName = "google.protobuf.NullValue.NULL_VALUE";

}  // namespace apiserver::inline v0::cel::check
