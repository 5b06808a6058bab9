#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/time.h"

#include "base/status_macros.h"
#include "codec/json_syntax.h"
#include "codec/protobuf_message.h"
#include "codec/protobuf_wire.h"

namespace apiserver::inline v0::codec {
namespace {

using runtime::Arena;
using runtime::Field;
using runtime::Member;
using runtime::Schema;
using runtime::SchemaType;
using runtime::Value;
using wire::Token;

Status Malformed(std::string message) { return Status(Reason::kBadRequest, std::move(message)); }

wire::Type WireTypeOf(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::kBoolean:
    case SchemaType::kInteger:
      return wire::Type::kVarint;
    case SchemaType::kNumber:
      return wire::Type::kFixed64;
    default:
      return wire::Type::kLength;
  }
}

// A list whose items stand in the message that holds it.
bool IsRepeated(const Schema& schema) {
  return schema.type == SchemaType::kList && !schema.proto_message;
}

// The fields of a schema that stand in the message itself: those of flattened structs too.
void CollectFields(const Schema& schema, std::vector<const Field*>& fields, int depth = 0) {
  for (const Field& field : schema.fields) {
    if (field.proto_number > 0) {
      fields.push_back(&field);
    } else if (field.inlined && depth < wire::kDepthMax) {
      CollectFields(*field.schema, fields, depth + 1);
    }
  }
}

class Decoder {
 public:
  explicit Decoder(Arena& arena) : arena_(arena) {}

  Result<Value> Message(std::string_view bytes, const Schema& schema, int depth) {
    if (depth > wire::kDepthMax) return Malformed("the message is nested too deeply");
    std::vector<const Field*> fields;
    CollectFields(schema, fields);
    std::vector<Slot> seen(fields.size());
    for (wire::Reader reader(bytes); !reader.done();) {
      ASSIGN_OR_RETURN(const Token token, reader.Next());
      const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field* field) {
        return field->proto_number == token.number;
      });
      if (found == fields.end()) continue;
      const Schema& type = *(*found)->schema;
      if (token.type != WireTypeOf(IsRepeated(type) ? *type.items : type)) {
        return Malformed("proto: wrong wireType = " + std::to_string(static_cast<int>(token.type)) +
                         " for field " + (*found)->name);
      }
      RETURN_IF_ERROR(
          Keep(token, type, depth, seen[static_cast<std::size_t>(found - fields.begin())]));
    }
    runtime::MapBuilder out(arena_);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (seen[i].present) RETURN_IF_ERROR(Add(*fields[i], seen[i], depth, out));
    }
    return out.Build();
  }

 private:
  // What a message has of one field.
  struct Slot {
    bool present = false;
    std::vector<Token> tokens;
    std::vector<Value> items;  // Of a list.
  };

  Status Keep(const Token& token, const Schema& schema, int depth, Slot& slot) {
    slot.present = true;
    if (IsRepeated(schema)) {
      ASSIGN_OR_RETURN(const Value item, Single(token, *schema.items, depth));
      slot.items.push_back(item);
      return {};
    }
    // Of scalars the last one counts.
    const bool gathers = schema.type == SchemaType::kMap || schema.type == SchemaType::kStruct ||
                         schema.type == SchemaType::kList;
    if (!gathers) slot.tokens.clear();
    slot.tokens.push_back(token);
    return {};
  }

  Status Add(const Field& field, const Slot& slot, int depth, runtime::MapBuilder& out) {
    const std::span<const Token> tokens = slot.tokens;
    switch (field.schema->type) {
      case SchemaType::kList: {
        if (field.schema->proto_message) {
          ASSIGN_OR_RETURN(const Value value, Items(Joined(tokens), *field.schema, depth + 1));
          out.Add(field.name, value);
          return {};
        }
        runtime::ListBuilder list(arena_);
        for (const Value& item : slot.items) list.Add(item);
        out.Add(field.name, list.Build());
        return {};
      }
      case SchemaType::kMap: {
        ASSIGN_OR_RETURN(const Value map, Entries(tokens, *field.schema->items, depth));
        out.Add(field.name, map);
        return {};
      }
      case SchemaType::kStruct: {
        ASSIGN_OR_RETURN(const Value value, Message(Joined(tokens), *field.schema, depth + 1));
        if (!field.inlined) {
          out.Add(field.name, value);
          return {};
        }
        for (const Member& member : value.members()) out.Add(member.key, member.value);
        return {};
      }
      default: {
        ASSIGN_OR_RETURN(const Value value, Single(tokens.back(), *field.schema, depth));
        out.Add(field.name, value);
        return {};
      }
    }
  }

  // A message sent in pieces is the concatenation of the pieces.
  std::string_view Joined(std::span<const Token> tokens) {
    if (tokens.size() == 1) return tokens[0].bytes;
    std::string whole;
    for (const Token& token : tokens) whole += token.bytes;
    return arena_.Copy(whole);
  }

  Result<Value> Entries(std::span<const Token> tokens, const Schema& values, int depth) {
    std::vector<Member> members;
    members.reserve(tokens.size());
    for (const Token& entry : tokens) {
      std::string_view key;
      Token value{.type = WireTypeOf(values), .bytes = ""};
      for (wire::Reader reader(entry.bytes); !reader.done();) {
        ASSIGN_OR_RETURN(const Token token, reader.Next());
        if (token.number == 1 && token.type == wire::Type::kLength) key = token.bytes;
        if (token.number == 2 && token.type == value.type) value = token;
      }
      ASSIGN_OR_RETURN(const Value decoded, Single(value, values, depth + 1));
      members.push_back({key, decoded});
    }
    // The last of equal keys wins.
    std::reverse(members.begin(), members.end());
    std::stable_sort(members.begin(), members.end(),
                     [](const Member& a, const Member& b) { return a.key < b.key; });
    members.erase(std::unique(members.begin(), members.end(),
                              [](const Member& a, const Member& b) { return a.key == b.key; }),
                  members.end());
    runtime::MapBuilder map(arena_);
    for (const Member& member : members) map.Add(member.key, member.value);
    return map.Build();
  }

  Result<Value> Single(const Token& token, const Schema& schema, int depth) {
    switch (schema.type) {
      case SchemaType::kBoolean:
        return Value::Bool(token.scalar != 0);
      case SchemaType::kInteger:
        return Value::Int(schema.bits == 32 ? static_cast<std::int32_t>(token.scalar)
                                            : static_cast<std::int64_t>(token.scalar));
      case SchemaType::kNumber:
        return Value::Double(std::bit_cast<double>(token.scalar));
      case SchemaType::kString:
        return Value::String(token.bytes);
      case SchemaType::kBytes:
        return Value::Bytes(token.bytes);
      case SchemaType::kStruct:
        return Message(token.bytes, schema, depth + 1);
      case SchemaType::kList:
        return Items(token.bytes, schema, depth + 1);
      default:
        return Special(token.bytes, schema);
    }
  }

  // A list that is a message of its own.
  Result<Value> Items(std::string_view bytes, const Schema& schema, int depth) {
    if (!schema.proto_message) {
      return Malformed("a list within a list or map has no protobuf form");
    }
    runtime::ListBuilder list(arena_);
    for (wire::Reader reader(bytes); !reader.done();) {
      ASSIGN_OR_RETURN(const Token token, reader.Next());
      if (token.number != kListItemsNumber || token.type != WireTypeOf(*schema.items)) continue;
      ASSIGN_OR_RETURN(const Value item, Single(token, *schema.items, depth));
      list.Add(item);
    }
    return list.Build();
  }

  // Messages that are scalars in JSON. Their fields have the numbers 1, 2 and 3.
  Result<Value> Special(std::string_view bytes, const Schema& schema) {
    Token first;
    Token second;
    Token third;
    for (wire::Reader reader(bytes); !reader.done();) {
      ASSIGN_OR_RETURN(const Token token, reader.Next());
      if (token.number == 1) first = token;
      if (token.number == 2) second = token;
      if (token.number == 3) third = token;
    }
    switch (schema.type) {
      case SchemaType::kTime:
      case SchemaType::kMicroTime:
        return Timestamp(bytes.empty(), first, second, schema.type == SchemaType::kMicroTime);
      case SchemaType::kDuration:
        return Value::String(arena_.Copy(runtime::FormatDuration(
            std::chrono::nanoseconds(static_cast<std::int64_t>(first.scalar)))));
      case SchemaType::kQuantity:
        return Value::String(first.bytes);
      case SchemaType::kIntOrString:
        if (first.scalar == 1) return Value::String(third.bytes);
        return Value::Int(static_cast<std::int32_t>(second.scalar));
      case SchemaType::kRaw:
      case SchemaType::kAny:
        return Json(first.bytes);
      default:
        return Malformed("a list or map within a list or map has no protobuf form");
    }
  }

  Result<Value> Timestamp(bool zero, const Token& seconds, const Token& nanos, bool micro) {
    // What RFC 3339 can say: years 1 to 9999.
    constexpr std::int64_t kSecondsMax = 253402300799;
    if (zero) return Value();
    const runtime::UnixTime time{static_cast<std::int64_t>(seconds.scalar),
                                 static_cast<std::int32_t>(nanos.scalar)};
    if (time.seconds < runtime::UnixTime::kZeroSeconds || time.seconds > kSecondsMax ||
        time.nanos < 0 || time.nanos >= 1'000'000'000) {
      return Malformed("a time is out of range");
    }
    return Value::String(
        arena_.Copy(micro ? runtime::FormatMicroTime(time) : runtime::FormatTime(time)));
  }

  Result<Value> Json(std::string_view text) {
    if (text.empty()) return Value();
    std::string error = JsonSyntaxError(text);
    if (!error.empty()) return Malformed(std::move(error));
    return Value::Raw(text);
  }

  Arena& arena_;
};

}  // namespace

Result<Value> DecodeMessage(std::string_view bytes, const Schema& schema, Arena& arena) {
  return Decoder(arena).Message(bytes, schema, 0);
}

}  // namespace apiserver::inline v0::codec
