#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/schema.h"

#include "codec/proto_comment.h"

// What the options and markers of a field or message say.
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
};
struct FileRules {
  std::string openapi_package;
};

// From serialized FieldOptions, MessageOptions and FileOptions: read from their bytes, because what
// protobuf makes of an extension depends on what else the program has linked. kInvalid: malformed.
Result<FieldRules> ReadFieldRules(std::string_view options);
Result<MessageRules> ReadMessageRules(std::string_view options);
Result<FileRules> ReadFileRules(std::string_view options);

// What the markers say about whether the field may be missing.
struct Optionality {
  bool optional = false;
  bool required = false;
};
Optionality OptionalityOf(const ProtoComment& comment);

// Whether ApplyMarkers() would say anything of a value.
bool SaysOfValue(const ProtoComment& comment);
// Puts into `schema`, a copy of the field's own, what the markers of a field or message say of it.
// kInvalid: a value cannot be read or does not go with the type; the message begins with the
// marker.
Status ApplyMarkers(const ProtoComment& comment, runtime::SchemaParts& schema);
// The value of `+default`, if there is one. kInvalid: it is no JSON.
Status ApplyDefault(const ProtoComment& comment, runtime::FieldParts& field);

}  // namespace apiserver::inline v0::codec
