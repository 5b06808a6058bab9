#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/runtime/time.h"

#include "base/status_macros.h"
#include "codec/json_schema_message.h"
#include "codec/json_syntax.h"
#include "codec/protobuf_message.h"
#include "codec/protobuf_wire.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Arena;
using runtime::Field;
using runtime::Member;
using runtime::Schema;
using runtime::SchemaType;
using runtime::Value;
using wire::Token;

// The parts of a message that comes in several fields, to be read as one.
using Pieces = std::span<const std::string_view>;

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

bool IsTime(const Schema& schema) {
  return schema.type == SchemaType::kTime || schema.type == SchemaType::kMicroTime;
}

// True for a list whose items stand in the message that holds it.
bool IsRepeated(const Schema& schema) {
  return schema.type == SchemaType::kList && !schema.proto_message;
}

// Returns the name in a Go server's errors, as far as it can be told.
std::string_view MessageName(const Schema& schema) {
  const std::string_view name = schema.name();
  return name.substr(name.rfind('.') + 1);
}
std::string GoName(const Field& field) {
  if (field.name() == "metadata") return std::string(MessageName(*field.schema));
  std::string name(field.name());
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') {
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
  }
  return name;
}

// The part of a schema that a message needs: its fields in the order of their numbers.
struct Plan {
  struct Entry {
    const Field* field;
    std::size_t place;   // Among the fields as JSON has them.
    std::size_t filler;  // The bytes that runtime::Settle adds if it is missing.
  };
  std::vector<Entry> entries;
  std::size_t filler = 0;  // The same for an empty message.
};

// A field of a message that is a scalar in JSON.
struct SpecialField {
  std::string_view go_name;
  wire::Type type;
};
std::span<const SpecialField> SpecialFields(SchemaType type) {
  static constexpr SpecialField kTime[] = {{"Seconds", wire::Type::kVarint},
                                           {"Nanos", wire::Type::kVarint}};
  static constexpr SpecialField kDuration[] = {{"Duration", wire::Type::kVarint}};
  static constexpr SpecialField kQuantity[] = {{"String_", wire::Type::kLength}};
  static constexpr SpecialField kIntOrString[] = {{"Type", wire::Type::kVarint},
                                                  {"IntVal", wire::Type::kVarint},
                                                  {"StrVal", wire::Type::kLength}};
  static constexpr SpecialField kRaw[] = {{"Raw", wire::Type::kLength}};
  switch (type) {
    case SchemaType::kTime:
    case SchemaType::kMicroTime:
      return kTime;
    case SchemaType::kDuration:
      return kDuration;
    case SchemaType::kQuantity:
      return kQuantity;
    case SchemaType::kIntOrString:
      return kIntOrString;
    default:
      return kRaw;
  }
}

class Decoder {
 public:
  Decoder(Arena& arena, std::size_t bytes)
      : arena_(arena),
        bytes_max_(arena.bytes_reserved() + bytes * JsonLimits().arena_factor_max + (64 << 10)) {}

  Result<Value> Message(Pieces pieces, const Schema& schema, int depth) {
    if (depth > wire::kDepthMax) return Malformed("the message is nested too deeply");
    const Plan& plan = PlanOf(schema);
    const std::size_t base = slots_.size();
    slots_.resize(base + plan.entries.size());
    const Status read = ReadFields(pieces, schema, plan, base, depth);
    Result<Value> value = read.ok() ? Build(plan, base, depth) : Result<Value>(read);
    slots_.resize(base);
    return value;
  }

 private:
  // The values of one field of a message.
  struct Slot {
    const Field* field = nullptr;  // Null: nothing.
    Value value;                   // A scalar's last value.
    std::vector<Value> items;      // A list's items; a map's keys and values in turn.
    std::vector<std::string_view> pieces;
  };

  const Plan& PlanOf(const Schema& schema) {
    const auto found = plans_.find(&schema);
    if (found != plans_.end()) return found->second;
    Plan plan;
    AddFields(schema, plan, 0);
    std::sort(plan.entries.begin(), plan.entries.end(),
              [](const Plan::Entry& a, const Plan::Entry& b) {
                return a.field->proto_number < b.field->proto_number;
              });
    return plans_.emplace(&schema, std::move(plan)).first->second;
  }

  // Adds the fields of a schema. Structs that are flattened in protobuf too have theirs in the
  // outer message.
  void AddFields(const Schema& schema, Plan& plan, int depth) {
    if (depth > wire::kDepthMax) return;
    for (const Field& field : schema.fields()) {
      if (field.proto_number > 0) {
        plan.entries.push_back({&field, plan.entries.size(), Filler(field)});
        plan.filler += plan.entries.back().filler;
      } else if (field.inlined) {
        AddFields(*field.schema, plan, depth + 1);
      }
    }
  }
  std::size_t Filler(const Field& field) {
    const bool value = field.presence == Field::Presence::kValue;
    const bool empty = value && field.schema->type == SchemaType::kStruct;
    if (field.omit != Field::Omit::kNever && !empty) return 0;
    return sizeof(Member) + (empty ? PlanOf(*field.schema).filler : 0);
  }

  // Charges memory: a few bytes may become much content, so a client's message has a limit.
  Status Charge(std::size_t bytes) {
    charged_ += bytes;
    if (arena_.bytes_reserved() + charged_ <= bytes_max_) return {};
    return Malformed("the message takes too much memory for its length");
  }

  Status ReadFields(Pieces pieces, const Schema& schema, const Plan& plan, std::size_t base,
                    int depth) {
    const std::vector<Plan::Entry>& entries = plan.entries;
    for (const std::string_view piece : pieces) {
      std::size_t at = 0;
      RETURN_IF_ERROR(wire::ForEachField(piece, MessageName(schema), [&](const Token& token) {
        at = Find(entries, token.number, at);
        if (at == entries.size()) return Status();
        const Plan::Entry& entry = entries[at];
        return Take(token, *entry.field, base + entry.place, depth);
      }));
    }
    return {};
  }

  // Returns the index of the field with this number, or the number of entries. Begins at `at`,
  // since fields mostly come in the order of their numbers.
  static std::size_t Find(const std::vector<Plan::Entry>& entries, int number, std::size_t at) {
    while (at < entries.size() && entries[at].field->proto_number < number) ++at;
    if (at < entries.size() && entries[at].field->proto_number == number) return at;
    const auto found = std::lower_bound(
        entries.begin(), entries.end(), number,
        [](const Plan::Entry& entry, int wanted) { return entry.field->proto_number < wanted; });
    const bool there = found != entries.end() && found->field->proto_number == number;
    return there ? static_cast<std::size_t>(found - entries.begin()) : entries.size();
  }

  Status Take(const Token& token, const Field& field, std::size_t slot, int depth) {
    const Schema& schema = *field.schema;
    const wire::Type wanted = WireTypeOf(IsRepeated(schema) ? *schema.items() : schema);
    const bool packed =
        IsRepeated(schema) && token.type == wire::Type::kLength && token.type != wanted;
    // An empty packed list adds nothing: Go leaves the slice nil.
    if (packed && token.bytes.empty()) return {};
    slots_[slot].field = &field;
    if (packed) return Packed(token.bytes, *schema.items(), slot);
    if (token.type != wanted) return wire::Expect(token, wanted, GoName(field));
    switch (schema.type) {
      case SchemaType::kMap:
        return Entry(token.bytes, field, slot, depth);
      case SchemaType::kTime:
      case SchemaType::kMicroTime:
        // A time that is repeated is replaced; the pieces of other messages are merged.
        slots_[slot].pieces.clear();
        [[fallthrough]];
      case SchemaType::kStruct:
      case SchemaType::kDuration:
      case SchemaType::kQuantity:
      case SchemaType::kIntOrString:
      case SchemaType::kRaw:
      case SchemaType::kAny:
        slots_[slot].pieces.push_back(token.bytes);
        return {};
      case SchemaType::kList: {
        if (schema.proto_message) {
          slots_[slot].pieces.push_back(token.bytes);
          return {};
        }
        ASSIGN_OR_RETURN(const Value item, Single(token, *schema.items(), depth));
        slots_[slot].items.push_back(item);
        return {};
      }
      default: {
        ASSIGN_OR_RETURN(slots_[slot].value, Single(token, schema, depth));
        return {};
      }
    }
  }

  // Reads the numbers of a list that come in one field.
  Status Packed(std::string_view bytes, const Schema& schema, std::size_t slot) {
    std::vector<Value>& items = slots_[slot].items;
    Token token{.type = WireTypeOf(schema)};
    for (wire::Reader reader(bytes); !reader.done();) {
      if (token.type == wire::Type::kVarint) {
        ASSIGN_OR_RETURN(token.scalar, reader.Varint());
      } else {
        ASSIGN_OR_RETURN(token.scalar, reader.Fixed(8));
      }
      items.push_back(Scalar(token, schema));
    }
    return {};
  }

  Status Entry(std::string_view bytes, const Field& field, std::size_t slot, int depth) {
    const Schema& schema = *field.schema->items();
    std::string_view key;
    Token value{.type = WireTypeOf(schema), .bytes = ""};
    RETURN_IF_ERROR(wire::ForEachField(bytes, "", [&](const Token& token) {
      if (token.number == 1) key = token.bytes;
      const wire::Type wanted = token.number == 1 ? wire::Type::kLength : value.type;
      const bool known = token.number == 1 || token.number == 2;
      if (known && token.type != wanted) return wire::Expect(token, wanted, GoName(field));
      if (token.number == 2) value = token;
      return Status();
    }));
    ASSIGN_OR_RETURN(const Value decoded, Single(value, schema, depth + 1));
    slots_[slot].items.push_back(Value::String(key));
    slots_[slot].items.push_back(decoded);
    // All but one of equal keys will be dropped, but until then all take memory.
    return Charge(2 * sizeof(Member));
  }

  Result<Value> Build(const Plan& plan, std::size_t base, int depth) {
    std::size_t filler = 0;
    for (const Plan::Entry& entry : plan.entries) {
      if (slots_[base + entry.place].field == nullptr) filler += entry.filler;
    }
    RETURN_IF_ERROR(Charge(filler));
    runtime::MapBuilder out(arena_);
    for (std::size_t i = 0; i < plan.entries.size(); ++i) {
      // Moved out, because nested messages use the same slots.
      const Slot slot = std::exchange(slots_[base + i], {});
      if (slot.field == nullptr) continue;
      ASSIGN_OR_RETURN(const Value value, Finish(slot, depth));
      if (!slot.field->inlined) {
        out.Add(slot.field->name(), value);
        continue;
      }
      for (const Member& member : value.members()) out.Add(member.key, member.value);
    }
    const Value built = out.Build();
    RETURN_IF_ERROR(Charge(0));
    return built;
  }

  Result<Value> Finish(const Slot& slot, int depth) {
    const Schema& schema = *slot.field->schema;
    if (schema.type == SchemaType::kMap) return Map(slot.items);
    if (IsRepeated(schema)) {
      runtime::ListBuilder list(arena_);
      for (const Value& item : slot.items) list.Add(item);
      return list.Build();
    }
    if (slot.pieces.empty()) return slot.value;
    ASSIGN_OR_RETURN(const Value value, OfPieces(slot.pieces, schema, depth + 1));
    const bool pointer = slot.field->presence == Field::Presence::kPointer;
    // A pointer to a zero time: runtime::Settle keeps it null.
    if (pointer && value.is_null() && IsTime(schema)) return Value::Raw("null");
    return value;
  }

  // Builds a map. The last of equal keys counts.
  Value Map(const std::vector<Value>& pairs) {
    std::vector<Member> members;
    members.reserve(pairs.size() / 2);
    for (std::size_t i = pairs.size(); i >= 2; i -= 2) {
      members.push_back({pairs[i - 2].AsString(), pairs[i - 1]});
    }
    std::stable_sort(members.begin(), members.end(),
                     [](const Member& a, const Member& b) { return a.key < b.key; });
    members.erase(std::unique(members.begin(), members.end(),
                              [](const Member& a, const Member& b) { return a.key == b.key; }),
                  members.end());
    runtime::MapBuilder map(arena_);
    for (const Member& member : members) map.Add(member.key, member.value);
    return map.Build();
  }

  // Reads a scalar, or a message that is one value.
  Result<Value> Single(const Token& token, const Schema& schema, int depth) {
    if (token.type != wire::Type::kLength) return Scalar(token, schema);
    if (schema.type == SchemaType::kString) return Value::String(token.bytes);
    if (schema.type == SchemaType::kBytes) return Value::Bytes(token.bytes);
    return OfPieces({&token.bytes, 1}, schema, depth + 1);
  }

  static Value Scalar(const Token& token, const Schema& schema) {
    if (schema.type == SchemaType::kBoolean) return Value::Bool(token.scalar != 0);
    if (schema.type == SchemaType::kNumber)
      return Value::Double(std::bit_cast<double>(token.scalar));
    return Value::Int(schema.bits == 32 ? static_cast<std::int32_t>(token.scalar)
                                        : static_cast<std::int64_t>(token.scalar));
  }

  Result<Value> OfPieces(Pieces pieces, const Schema& schema, int depth) {
    if (schema.type == SchemaType::kStruct) return Message(pieces, schema, depth);
    if (schema.type == SchemaType::kList) return Items(pieces, schema, depth);
    if (schema.type == SchemaType::kAny && schema.proto_message) {
      return ReadJsonSchema(Joined(pieces), arena_, bytes_max_);
    }
    return Special(pieces, schema);
  }

  // Returns the pieces as one: what follows each other is merged.
  std::string_view Joined(Pieces pieces) {
    if (pieces.size() == 1) return pieces.front();
    std::string joined;
    for (const std::string_view piece : pieces) joined += piece;
    return arena_.Copy(joined);
  }

  // Reads a list that is a message of its own.
  Result<Value> Items(Pieces pieces, const Schema& schema, int depth) {
    if (!schema.proto_message) {
      return Malformed("a list or map within a list or map has no protobuf form");
    }
    runtime::ListBuilder list(arena_);
    const wire::Type wanted = WireTypeOf(*schema.items());
    const auto take = [&](const Token& token) -> Status {
      if (token.number != kListItemsNumber) return {};
      if (token.type != wanted) return wire::Expect(token, wanted, "Items");
      ASSIGN_OR_RETURN(const Value item, Single(token, *schema.items(), depth));
      list.Add(item);
      return {};
    };
    for (const std::string_view piece : pieces) {
      RETURN_IF_ERROR(wire::ForEachField(piece, MessageName(schema), take));
    }
    return list.Build();
  }

  // Reads a message that is a scalar in JSON.
  Result<Value> Special(Pieces pieces, const Schema& schema) {
    const std::span<const SpecialField> fields = SpecialFields(schema.type);
    Token tokens[3];
    bool empty = true;
    const auto take = [&](const Token& token) -> Status {
      empty = false;
      const auto at = static_cast<std::size_t>(token.number) - 1;
      if (token.number < 1 || at >= fields.size()) return {};
      tokens[at] = token;
      return wire::Expect(token, fields[at].type, fields[at].go_name);
    };
    for (const std::string_view piece : pieces) {
      RETURN_IF_ERROR(wire::ForEachField(piece, MessageName(schema), take));
    }
    switch (schema.type) {
      case SchemaType::kTime:
        return Timestamp(empty, tokens[0], {}, /*micro=*/false);
      case SchemaType::kMicroTime:
        return Timestamp(empty, tokens[0], tokens[1], /*micro=*/true);
      case SchemaType::kDuration:
        return Value::String(arena_.Copy(runtime::FormatDuration(
            std::chrono::nanoseconds(static_cast<std::int64_t>(tokens[0].scalar)))));
      case SchemaType::kQuantity:
        return Value::String(tokens[0].number == 0 ? "0" : tokens[0].bytes);
      case SchemaType::kIntOrString:
        // intstr.String is 1, intstr.Int is 0.
        if (tokens[0].scalar == 1) return Value::String(tokens[2].bytes);
        return Value::Int(static_cast<std::int32_t>(tokens[1].scalar));
      case SchemaType::kRaw:
      case SchemaType::kAny:
        return Json(tokens[0].bytes);
      default:
        return Malformed("a list or map within a list or map has no protobuf form");
    }
  }

  Result<Value> Timestamp(bool zero, const Token& seconds, const Token& nanos, bool micro) {
    // The range of RFC 3339: years 0 to 9999.
    constexpr std::int64_t kSecondsMin = -62167219200;
    constexpr std::int64_t kSecondsMax = 253402300799;
    if (zero) return Value();
    const runtime::UnixTime time{static_cast<std::int64_t>(seconds.scalar),
                                 static_cast<std::int32_t>(nanos.scalar)};
    if (time.seconds < kSecondsMin || time.seconds > kSecondsMax || time.nanos < 0 ||
        time.nanos >= 1'000'000'000) {
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
  const std::size_t bytes_max_;
  std::size_t charged_ = 0;
  std::map<const Schema*, Plan> plans_;
  std::vector<Slot> slots_;
};

}  // namespace

Result<Value> DecodeMessage(std::string_view bytes, const Schema& schema, Arena& arena) {
  return Decoder(arena, bytes.size()).Message({&bytes, 1}, schema, 0);
}

}  // namespace apiserver::v0::codec
