#include "cel/check/named_types.h"

#include <algorithm>
#include <array>

#include "cel/types/spell.h"

namespace apiserver::inline v0::cel::check {
namespace {

using types::kA;
using types::kAny;
using types::kB;
using types::kBool;
using types::kBytes;
using types::kDouble;
using types::kDuration;
using types::kDyn;
using types::kInt;
using types::kListOf;
using types::kMapOf;
using types::kNull;
using types::kString;
using types::kTimestamp;
using types::kType;
using types::kTypeOf;
using types::kUint;
using types::kWrapperOf;

constexpr TypeNode kEmpty = types::Object("google.protobuf.Empty");
constexpr TypeNode kFieldsEntry = types::Object("google.protobuf.Struct.FieldsEntry");
constexpr TypeNode kIp = types::Opaque("net.IP");
constexpr TypeNode kCidr = types::Opaque("net.CIDR");
// google.protobuf.Struct and ListValue. The identifiers list and map have other nodes, so that
// `list{}` is no message literal.
constexpr const TypeNode& kJsonObject = kMapOf<kString, kDyn>;
constexpr const TypeNode& kJsonList = kListOf<kDyn>;

template <const TypeNode& type>
constexpr NamedType Named(std::string_view name) {
  return {name, &type, &kTypeOf<type>};
}
// A message that is no value of its own: the name alone cannot be evaluated.
template <const TypeNode& type>
constexpr NamedType Message(std::string_view name) {
  return {name, &type, &kTypeOf<type>, false};
}

constexpr const TypeNode& kListOfA = kListOf<kA>;
constexpr const TypeNode& kMapOfAToB = kMapOf<kA, kB>;

constexpr std::array kStandardTypes = {
    Named<kBool>("bool"),     Named<kBytes>("bytes"),
    Named<kDouble>("double"), Named<kDuration>("google.protobuf.Duration"),
    Named<kInt>("int"),       Named<kListOfA>("list"),
    Named<kMapOfAToB>("map"), Named<kNull>("null_type"),
    Named<kString>("string"), Named<kTimestamp>("google.protobuf.Timestamp"),
    Named<kType>("type"),     Named<kUint>("uint"),
};

constexpr std::array kMessageTypes = {
    Message<kAny>("google.protobuf.Any"),
    Message<kWrapperOf<kBool>>("google.protobuf.BoolValue"),
    Message<kWrapperOf<kBytes>>("google.protobuf.BytesValue"),
    Message<kWrapperOf<kDouble>>("google.protobuf.DoubleValue"),
    Named<kEmpty>("google.protobuf.Empty"),
    Message<kWrapperOf<kDouble>>("google.protobuf.FloatValue"),
    Message<kWrapperOf<kInt>>("google.protobuf.Int32Value"),
    Message<kWrapperOf<kInt>>("google.protobuf.Int64Value"),
    Message<kJsonList>("google.protobuf.ListValue"),
    Message<kWrapperOf<kString>>("google.protobuf.StringValue"),
    Message<kJsonObject>("google.protobuf.Struct"),
    Named<kFieldsEntry>("google.protobuf.Struct.FieldsEntry"),
    Message<kWrapperOf<kUint>>("google.protobuf.UInt32Value"),
    Message<kWrapperOf<kUint>>("google.protobuf.UInt64Value"),
    Message<kDyn>("google.protobuf.Value"),
};

constexpr std::array kOpaqueTypes = {
    Named<kIp>("net.IP"),
    Named<kCidr>("net.CIDR"),
    Named<types::kBareOptional>("optional_type"),
};

constexpr MessageField kAnyFields[] = {{"type_url", &kString}, {"value", &kBytes}};
constexpr MessageField kBoolFields[] = {{"value", &kBool}};
constexpr MessageField kBytesFields[] = {{"value", &kBytes}};
constexpr MessageField kDoubleFields[] = {{"value", &kDouble}};
constexpr MessageField kIntFields[] = {{"value", &kInt}};
constexpr MessageField kStringFields[] = {{"value", &kString}};
constexpr MessageField kUintFields[] = {{"value", &kUint}};
constexpr MessageField kTimeFields[] = {{"seconds", &kInt}, {"nanos", &kInt}};
constexpr MessageField kListFields[] = {{"values", &kJsonList}};
constexpr MessageField kStructFields[] = {{"fields", &kJsonObject}};
constexpr MessageField kEntryFields[] = {{"key", &kString}, {"value", &kDyn}};
constexpr MessageField kValueFields[] = {
    {"null_value", &kInt},  {"number_value", &kDouble},     {"string_value", &kString},
    {"bool_value", &kBool}, {"struct_value", &kJsonObject}, {"list_value", &kJsonList},
};

// The messages that literals are made of. Those of 32 bits are literals of their 64-bit brothers.
constexpr std::array kMessages = {
    MessageFields{"google.protobuf.Any", kAnyFields},
    MessageFields{"google.protobuf.BoolValue", kBoolFields},
    MessageFields{"google.protobuf.BytesValue", kBytesFields},
    MessageFields{"google.protobuf.DoubleValue", kDoubleFields},
    MessageFields{"google.protobuf.Duration", kTimeFields},
    MessageFields{"google.protobuf.Empty", {}},
    MessageFields{"google.protobuf.Int64Value", kIntFields},
    MessageFields{"google.protobuf.ListValue", kListFields},
    MessageFields{"google.protobuf.StringValue", kStringFields},
    MessageFields{"google.protobuf.Struct", kStructFields},
    MessageFields{"google.protobuf.Struct.FieldsEntry", kEntryFields},
    MessageFields{"google.protobuf.Timestamp", kTimeFields},
    MessageFields{"google.protobuf.UInt64Value", kUintFields},
    MessageFields{"google.protobuf.Value", kValueFields},
};

// Finds the element of that name.
template <class Table>
auto FindIn(const Table& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [name](const auto& each) { return each.name == name; });
  return found == table.end() ? nullptr : &*found;
}

// The message of a scalar's wrapper.
std::string_view WrapperMessage(TypeKind scalar) {
  switch (scalar) {
    case TypeKind::kBool:
      return "google.protobuf.BoolValue";
    case TypeKind::kBytes:
      return "google.protobuf.BytesValue";
    case TypeKind::kDouble:
      return "google.protobuf.DoubleValue";
    case TypeKind::kInt:
      return "google.protobuf.Int64Value";
    case TypeKind::kString:
      return "google.protobuf.StringValue";
    default:
      return "google.protobuf.UInt64Value";
  }
}

}  // namespace

const NamedType* FindStandardType(std::string_view name) { return FindIn(kStandardTypes, name); }

const NamedType* FindMessageType(std::string_view name) { return FindIn(kMessageTypes, name); }

const NamedType* FindOpaqueType(std::string_view name) { return FindIn(kOpaqueTypes, name); }

const MessageFields* FindMessageFields(std::string_view name) { return FindIn(kMessages, name); }

std::string_view MessageOf(const TypeNode& type) {
  switch (type.kind) {
    case TypeKind::kAny:
      return "google.protobuf.Any";
    case TypeKind::kTimestamp:
      return "google.protobuf.Timestamp";
    case TypeKind::kDuration:
      return "google.protobuf.Duration";
    case TypeKind::kDyn:
      return "google.protobuf.Value";
    case TypeKind::kNull:
      return "google.protobuf.NullValue";
    case TypeKind::kWrapper:
      return WrapperMessage(type.parameters[0]->kind);
    case TypeKind::kList:
      return &type == &kJsonList ? "google.protobuf.ListValue" : "";
    case TypeKind::kMap:
      return &type == &kJsonObject ? "google.protobuf.Struct" : "";
    default:
      return "";
  }
}

}  // namespace apiserver::inline v0::cel::check
