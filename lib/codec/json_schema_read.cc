#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "base/status_macros.h"
#include "codec/json_schema_message.h"
#include "codec/protobuf_wire.h"
#include "runtime/arena_span.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Arena;
using runtime::Member;
using runtime::NewSpan;
using runtime::Value;
using wire::Token;

using enum MemberForm;

Status Malformed(std::string message) { return {Reason::kBadRequest, std::move(message)}; }

wire::Type WireTypeOf(MemberForm form) {
  switch (form) {
    case kTrueFlag:
    case kFlagPointer:
    case kCount:
      return wire::Type::kVarint;
    case kNumber:
      return wire::Type::kFixed64;
    default:
      return wire::Type::kLength;
  }
}

// Reads messages from the top down: what a schema consists of is read before what is below.
class Reader {
 public:
  Reader(Arena& arena, std::size_t bytes_max) : arena_(arena), bytes_max_(bytes_max) {}

  Result<Value> Run(std::string_view bytes) {
    Value root;
    open_.push_back({bytes, &root, 0});
    while (!open_.empty()) {
      const Open next = open_.back();
      open_.pop_back();
      depth_ = next.depth + 1;
      RETURN_IF_ERROR(Schema(next.bytes, *next.into));
      if (arena_.bytes_reserved() > bytes_max_) {
        return Malformed("the message takes too much memory for its length");
      }
    }
    return root;
  }

 private:
  using Tokens = std::span<const Token>;

  // A schema that is not read yet.
  struct Open {
    std::string_view bytes;
    Value* into;
    std::size_t depth;
  };
  // The fields of one member.
  struct Fields {
    std::size_t member;
    std::size_t begin;
    std::size_t end;
  };

  Status Schema(std::string_view bytes, Value& into) {
    if (depth_ > JsonLimits().depth_max) return Malformed("exceeded max depth");
    RETURN_IF_ERROR(Gather(bytes));
    runs_.clear();
    std::vector<Member> kept;
    for (std::size_t begin = 0, end = 0; begin < tokens_.size(); begin = end) {
      const int number = tokens_[begin].number;
      while (end < tokens_.size() && tokens_[end].number == number) ++end;
      const auto at = static_cast<std::size_t>(number) - 1;
      const SchemaMember& member = SchemaMembers()[at];
      Value value;
      if (!Nests(member.form)) {
        ASSIGN_OR_RETURN(value, Plain(member.form, Of({at, begin, end})));
        if (value.is_null() || IsLeftOut(member.form, value)) continue;
      }
      runs_.push_back({at, begin, end});
      kept.push_back({member.name, value});
    }
    const std::span<Member> members = NewSpan<Member>(arena_, kept.size());
    std::copy(kept.begin(), kept.end(), members.begin());
    into = Value::Map(members);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const MemberForm form = SchemaMembers()[runs_[i].member].form;
      if (Nests(form)) RETURN_IF_ERROR(Nested(form, Of(runs_[i]), members[i].value));
    }
    return {};
  }

  // Takes a schema's message apart, in the order of numbers.
  Status Gather(std::string_view bytes) {
    tokens_.clear();
    RETURN_IF_ERROR(wire::ForEachField(bytes, "JSONSchemaProps", [&](const Token& token) {
      const auto at = static_cast<std::size_t>(token.number) - 1;
      if (at >= kSchemaMembers) return Status();
      const SchemaMember& member = SchemaMembers()[at];
      tokens_.push_back(token);
      return wire::Expect(token, WireTypeOf(member.form), member.go_name);
    }));
    const auto by_number = [](const Token& a, const Token& b) { return a.number < b.number; };
    if (!std::is_sorted(tokens_.begin(), tokens_.end(), by_number)) {
      std::stable_sort(tokens_.begin(), tokens_.end(), by_number);
    }
    return {};
  }
  Tokens Of(const Fields& run) const {
    return Tokens(tokens_).subspan(run.begin, run.end - run.begin);
  }

  // Reads a member without schemas. Null: it has no value.
  Result<Value> Plain(MemberForm form, Tokens fields) {
    const Token& last = fields.back();
    switch (form) {
      case kText:
      case kTextPointer:
        return Value::String(last.bytes);
      case kTrueFlag:
      case kFlagPointer:
        return Value::Bool(last.scalar != 0);
      case kCount:
        return Value::Int(static_cast<std::int64_t>(last.scalar));
      case kNumber: {
        const auto number = std::bit_cast<double>(last.scalar);
        if (std::isfinite(number)) return Value::Double(number);
        return Malformed("json: unsupported value: " + std::string(std::isnan(number) ? "NaN"
                                                                   : number > 0       ? "+Inf"
                                                                                      : "-Inf"));
      }
      case kJson:
        return Json(Joined(fields));
      case kDocs:
        return Small(Joined(fields), "ExternalDocumentation", DocsMembers());
      default:
        break;
    }
    const std::span<Value> items = NewSpan<Value>(arena_, fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string_view bytes = fields[i].bytes;
      if (form == kTexts) items[i] = Value::String(bytes);
      if (form == kJsons) {
        ASSIGN_OR_RETURN(items[i], Json(bytes));
      }
      if (form == kRules) {
        ASSIGN_OR_RETURN(items[i], Small(bytes, "ValidationRule", RuleMembers()));
      }
    }
    return Value::List(items);
  }

  Status Nested(MemberForm form, Tokens fields, Value& into) {
    switch (form) {
      case kSchema:
        return Later(Joined(fields), into);
      case kSchemas:
        return List(fields, into);
      case kSchemaMap:
      case kSchemasOrTexts:
        return Entries(fields, form == kSchemasOrTexts, into);
      case kSchemaOrFlag:
        return SchemaOrFlag(Joined(fields), into);
      default:
        return SchemaOrList(Joined(fields), "JSONSchemaPropsOrArray", /*texts=*/false, into);
    }
  }

  Status Later(std::string_view bytes, Value& into) {
    open_.push_back({bytes, &into, depth_});
    return {};
  }

  Status List(Tokens fields, Value& into) {
    const std::span<Value> items = NewSpan<Value>(arena_, fields.size());
    into = Value::List(items);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      RETURN_IF_ERROR(Later(fields[i].bytes, items[i]));
    }
    return {};
  }

  Status SchemaOrFlag(std::string_view bytes, Value& into) {
    bool allows = false;
    std::vector<Token> schemas;
    RETURN_IF_ERROR(wire::ForEachField(bytes, "JSONSchemaPropsOrBool", [&](const Token& token) {
      if (token.number == kAllows) {
        allows = token.scalar != 0;
        return wire::Expect(token, wire::Type::kVarint, "Allows");
      }
      if (token.number != kAllowedSchema) return Status();
      schemas.push_back(token);
      return wire::Expect(token, wire::Type::kLength, "Schema");
    }));
    if (!schemas.empty()) return Later(Joined(schemas), into);
    into = Value::Bool(allows);
    return {};
  }

  // Reads a schema or, which counts if it is there too, a list. With neither the value stays null.
  Status SchemaOrList(std::string_view bytes, std::string_view message, bool texts, Value& into) {
    std::vector<Token> schemas;
    std::vector<Token> listed;
    RETURN_IF_ERROR(wire::ForEachField(bytes, message, [&](const Token& token) {
      if (token.number != kOnlySchema && token.number != kListed) return Status();
      const bool only = token.number == kOnlySchema;
      (only ? schemas : listed).push_back(token);
      return wire::Expect(token, wire::Type::kLength,
                          only    ? "Schema"
                          : texts ? "Property"
                                  : "JSONSchemas");
    }));
    if (listed.empty()) return schemas.empty() ? Status() : Later(Joined(schemas), into);
    if (!texts) return List(listed, into);
    ASSIGN_OR_RETURN(into, Plain(kTexts, listed));
    return {};
  }

  Status Entries(Tokens fields, bool texts, Value& into) {
    struct Pair {
      std::string_view key;
      std::string_view value;
    };
    std::vector<Pair> pairs;
    for (const Token& field : fields) {
      Pair& pair = pairs.emplace_back();
      RETURN_IF_ERROR(wire::ForEachField(field.bytes, "", [&](const Token& token) {
        if (token.number != kKey && token.number != kEntryValue) return Status();
        (token.number == kKey ? pair.key : pair.value) = token.bytes;
        return wire::Expect(token, wire::Type::kLength, "Properties");
      }));
    }
    // The last of equal keys counts: it is the first of them from behind.
    std::reverse(pairs.begin(), pairs.end());
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.key < b.key; });
    pairs.erase(std::unique(pairs.begin(), pairs.end(),
                            [](const Pair& a, const Pair& b) { return a.key == b.key; }),
                pairs.end());
    const std::span<Member> members = NewSpan<Member>(arena_, pairs.size());
    into = Value::Map(members);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      members[i].key = pairs[i].key;
      RETURN_IF_ERROR(texts ? SchemaOrList(pairs[i].value, "JSONSchemaPropsOrStringArray", texts,
                                           members[i].value)
                            : Later(pairs[i].value, members[i].value));
    }
    return {};
  }

  Result<Value> Single(const Token& token, const SmallMember& member) {
    RETURN_IF_ERROR(wire::Expect(token, WireTypeOf(member.form), member.name));
    return Plain(member.form, {&token, 1});
  }

  Result<Value> Small(std::string_view bytes, std::string_view name,
                      std::span<const SmallMember> members) {
    std::vector<Value> found(members.size());
    RETURN_IF_ERROR(wire::ForEachField(bytes, name, [&](const Token& token) -> Status {
      const auto at = static_cast<std::size_t>(token.number) - 1;
      if (at >= members.size()) return {};
      const Result<Value> value = Single(token, members[at]);
      if (value.ok()) found[at] = *value;
      return value.status();
    }));
    runtime::MapBuilder built(arena_);
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (found[i].is_null() && members[i].always) found[i] = Value::String("");
      const bool left_out = found[i].is_null() || IsLeftOut(members[i].form, found[i]);
      if (members[i].always || !left_out) built.Add(members[i].name, found[i]);
    }
    return built.Build();
  }

  // Reads a message JSON, whose bytes are JSON. Null: there are none.
  Result<Value> Json(std::string_view bytes) {
    std::string_view text;
    RETURN_IF_ERROR(wire::ForEachField(bytes, "JSON", [&](const Token& token) {
      if (token.number != kRaw) return Status();
      text = token.bytes;
      return wire::Expect(token, wire::Type::kLength, "Raw");
    }));
    if (text.empty()) return Value();
    return ParseJson(text, arena_);
  }

  // Returns the bytes of messages that are one: what follows each other is merged.
  std::string_view Joined(Tokens fields) {
    if (fields.size() == 1) return fields.front().bytes;
    std::string joined;
    for (const Token& field : fields) joined += field.bytes;
    return arena_.Copy(joined);
  }

  Arena& arena_;
  const std::size_t bytes_max_;
  std::vector<Open> open_;
  std::size_t depth_ = 0;
  std::vector<Token> tokens_;  // Of the schema that is read.
  std::vector<Fields> runs_;   // The same.
};

}  // namespace

Result<Value> ReadJsonSchema(std::string_view bytes, Arena& arena, std::size_t bytes_max) {
  return Reader(arena, bytes_max).Run(bytes);
}

}  // namespace apiserver::v0::codec
