#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/schema.h"

#include "codec/proto_comment.h"

// The options and markers of a field or message, read into structs.
namespace apiserver::inline v0::codec {

// The messages of apiserver/codec/schema.proto.
struct FieldRules {
  enum Omit { kByMarker = 0, kNever = 1, kWhenEmpty = 2, kWhenZero = 3 };
  bool pointer = false;
  Omit omit = kByMarker;
  bool inlined = false;
  int json_place = 0;  // Zero: where it is declared.
};
struct MessageRules {
  bool list = false;
  std::string openapi_name;
  bool type_meta = false;
  bool any = false;
};
struct FileRules {
  std::string openapi_package;
};

// Read serialized FieldOptions, MessageOptions and FileOptions. They work on bytes, because
// protobuf's parsed form of an extension depends on what else the program has linked. kInvalid:
// malformed.
Result<FieldRules> ReadFieldRules(std::string_view options);
Result<MessageRules> ReadMessageRules(std::string_view options);
Result<FileRules> ReadFileRules(std::string_view options);

// The markers for a field that may be missing.
struct Optionality {
  bool optional = false;
  bool required = false;
};
Optionality OptionalityOf(const ProtoComment& comment);

// True if ApplyMarkers() would change the schema of a value.
bool SaysOfValue(const ProtoComment& comment);
// Applies the markers of a field or message to `schema`, which is a copy of the field's own.
// kInvalid: a value cannot be read or does not go with the type; the message begins with the
// marker.
Status ApplyMarkers(const ProtoComment& comment, runtime::SchemaParts& schema);
// The value of `+default`, if there is one. kInvalid: it is no JSON.
Status ApplyDefault(const ProtoComment& comment, runtime::FieldParts& field);

}  // namespace apiserver::inline v0::codec
