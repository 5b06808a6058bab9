#include <algorithm>
#include <bit>
#include <vector>

#include "apiserver/runtime/time.h"

#include "base/status_macros.h"
#include "codec/json_schema_message.h"
#include "codec/json_write.h"
#include "codec/protobuf_message.h"
#include "codec/protobuf_wire.h"
#include "text/base64.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Field;
using runtime::Member;
using runtime::Schema;
using runtime::SchemaType;
using runtime::Value;

class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  Status Message(const Value& value, const Schema& schema, int depth) {
    if (depth > wire::kDepthMax) return Misfit("the content is nested too deeply");
    // Most messages have their fields declared in the order of their numbers.
    int number = 0;
    for (const Field& field : schema.fields()) {
      if (field.proto_number <= number) return Reordered(value, schema, depth);
      number = field.proto_number;
    }
    for (const Field& field : schema.fields()) RETURN_IF_ERROR(OneField(value, field, depth));
    return {};
  }

 private:
  static Status Misfit(std::string message) {
    return Status(Reason::kInternalError, std::move(message));
  }

  // Writes a message whose order in JSON differs, or that has fields without a number.
  Status Reordered(const Value& value, const Schema& schema, int depth) {
    std::vector<const Field*> fields;
    fields.reserve(schema.fields().size());
    Status status;
    for (const Field& field : schema.fields()) {
      if (field.proto_number > 0) fields.push_back(&field);
      if (field.proto_number != 0 || !field.inlined || !status.ok()) continue;
      status = Message(value, *field.schema, depth + 1);
    }
    RETURN_IF_ERROR(status);
    std::sort(fields.begin(), fields.end(),
              [](const Field* a, const Field* b) { return a->proto_number < b->proto_number; });
    for (const Field* field : fields) RETURN_IF_ERROR(OneField(value, *field, depth));
    return {};
  }

  Status OneField(const Value& outer, const Field& field, int depth) {
    const Schema& schema = *field.schema;
    if (field.inlined) return Inlined(outer, field, depth);
    const Value value = outer[field.name()];
    if (schema.type == SchemaType::kList && !schema.proto_message) {
      return Items(value, field.proto_number, schema, depth);
    }
    if (schema.type == SchemaType::kMap) return Entries(value, field, depth);
    const bool pointer = field.presence == Field::Presence::kPointer;
    // Slices are nil when absent; other fields without a pointer have their zero value.
    const bool slice = schema.type == SchemaType::kBytes || schema.type == SchemaType::kList;
    const bool may_miss = pointer || slice;
    if (value.is_null() && may_miss) return {};
    return Single(value, field.proto_number, schema, depth);
  }

  // Writes a struct that is inlined in JSON, but a message of its own here.
  Status Inlined(const Value& outer, const Field& field, int depth) {
    if (field.presence == Field::Presence::kPointer) {
      const auto& inner = field.schema->fields();
      const bool any = std::any_of(inner.begin(), inner.end(),
                                   [&](const Field& f) { return !outer[f.name()].is_null(); });
      if (!any) return {};
    }
    return Single(outer, field.proto_number, *field.schema, depth);
  }

  Status Items(const Value& list, int number, const Schema& schema, int depth) {
    for (const Value& item : list.items()) {
      RETURN_IF_ERROR(Single(item, number, *schema.items(), depth));
    }
    return {};
  }

  Status Entries(const Value& map, const Field& field, int depth) {
    std::vector<Member> members(map.members().begin(), map.members().end());
    std::sort(members.begin(), members.end(),
              [](const Member& a, const Member& b) { return a.key < b.key; });
    for (const Member& member : members) {
      wire::Nested entry(field.proto_number, out_);
      wire::PutBytes(1, member.key, out_);
      // A nil slice of bytes has no value; every other member has one.
      const bool nil = member.value.is_null() && field.schema->items()->type == SchemaType::kBytes;
      if (!nil) RETURN_IF_ERROR(Single(member.value, 2, *field.schema->items(), depth + 1));
      entry.Close();
    }
    return {};
  }

  Status Single(const Value& value, int number, const Schema& schema, int depth) {
    switch (schema.type) {
      case SchemaType::kBoolean:
        wire::PutInt(number, value.AsBool() ? 1 : 0, out_);
        return {};
      case SchemaType::kInteger:
        wire::PutInt(number, value.AsInt(), out_);
        return {};
      case SchemaType::kNumber:
        wire::PutTag(number, wire::Type::kFixed64, out_);
        wire::PutFixed64(std::bit_cast<std::uint64_t>(value.AsDouble()), out_);
        return {};
      case SchemaType::kString:
        wire::PutBytes(number, value.AsString(), out_);
        return {};
      case SchemaType::kBytes:
        return Bytes(value, number);
      default:
        break;
    }
    wire::Nested message(number, out_);
    RETURN_IF_ERROR(Content(value, schema, depth + 1));
    message.Close();
    return {};
  }

  Status Bytes(const Value& value, int number) {
    if (value.type() == Value::Type::kBytes) {
      wire::PutBytes(number, value.AsString(), out_);
      return {};
    }
    const std::optional<std::string> bytes = text::DecodeBase64(value.AsString());
    if (!bytes) return Misfit("illegal base64 data");
    wire::PutBytes(number, *bytes, out_);
    return {};
  }

  // Appends a value that is a message in protobuf, without tag and length.
  Status Content(const Value& value, const Schema& schema, int depth) {
    switch (schema.type) {
      case SchemaType::kStruct:
        return Message(value, schema, depth);
      case SchemaType::kTime:
      case SchemaType::kMicroTime:
        return Timestamp(value, schema.type == SchemaType::kMicroTime);
      case SchemaType::kDuration:
        return Duration(value);
      case SchemaType::kQuantity:
        wire::PutBytes(1, value.is_null() ? "0" : value.AsString(), out_);
        return {};
      case SchemaType::kIntOrString:
        wire::PutInt(1, value.is_string() ? 1 : 0, out_);
        wire::PutInt(2, value.AsInt(), out_);
        wire::PutBytes(3, value.is_string() ? value.AsString() : "", out_);
        return {};
      case SchemaType::kAny:
        if (schema.proto_message) {
          out_ += WriteJsonSchema(value);
          return {};
        }
        [[fallthrough]];
      case SchemaType::kRaw:
        if (!value.is_null()) Json(value);
        return {};
      case SchemaType::kList:
        if (schema.proto_message) return Items(value, kListItemsNumber, schema, depth);
        [[fallthrough]];
      default:
        return Misfit("a list or map within a list or map has no protobuf form");
    }
  }

  Status Timestamp(const Value& value, bool micro) {
    if (!value.is_string() || value.AsString().empty()) return {};
    ASSIGN_OR_RETURN(const runtime::UnixTime time, runtime::ParseTime(value.AsString()));
    if (time.is_zero()) return {};
    wire::PutInt(1, time.seconds, out_);
    wire::PutInt(2, micro ? time.nanos / 1000 * 1000 : 0, out_);
    return {};
  }

  Status Duration(const Value& value) {
    std::int64_t nanos = 0;
    if (!value.is_null()) {
      ASSIGN_OR_RETURN(const auto duration, runtime::ParseDuration(value.AsString()));
      nanos = duration.count();
    }
    wire::PutInt(1, nanos, out_);
    return {};
  }

  void Json(const Value& value) {
    if (value.type() == Value::Type::kRaw) return wire::PutBytes(1, value.AsString(), out_);
    std::string json;
    AppendJson(value, json);
    wire::PutBytes(1, json, out_);
  }

  std::string& out_;
};

}  // namespace

Status AppendMessage(const Value& value, const Schema& schema, std::string& out) {
  return Encoder(out).Message(value, schema, 0);
}

}  // namespace apiserver::v0::codec
