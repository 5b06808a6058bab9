#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "codec/json_schema_message.h"
#include "codec/protobuf_wire.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Member;
using runtime::Value;

using enum MemberForm;

// Writes a message from its end to its begin: the length in front of a message is known then.
class Writer {
 public:
  // Returns the message of a schema.
  std::string Run(const Value& schema) && {
    steps_.push_back({.what = Step::kMembers,
                      .number = 0,
                      .left = kSchemaMembers,
                      .behind = schema.size(),
                      .value = schema});
    while (!steps_.empty()) {
      const Step step = steps_.back();
      steps_.pop_back();
      Do(step);
    }
    std::reverse(out_.begin(), out_.end());
    return std::move(out_);
  }

 private:
  // The part of a message that remains to be written in front of the rest.
  struct Step {
    enum What : std::uint8_t { kMembers, kItems, kEntries, kKeyText, kAllowed, kLength };
    What what;
    int number = 0;
    std::size_t left = 0;    // The members, items or entries that are not written yet.
    std::size_t behind = 0;  // kMembers: the values left. kLength: the size when it began.
    Value value = {};
  };

  void Do(Step step) {
    switch (step.what) {
      case Step::kMembers:
        return Members(step);
      case Step::kItems:
        if (step.left == 0) return;
        steps_.push_back(step);
        --steps_.back().left;
        return Schema(step.number, step.value.at(step.left - 1));
      case Step::kEntries:
        if (step.left == 0) return;
        steps_.push_back(step);
        --steps_.back().left;
        return Entry(step.number, step.value.members()[step.left - 1]);
      case Step::kKeyText:
        return Text(kKey, step.value.AsString());
      case Step::kAllowed:
        return Int(kAllows, step.value.AsBool(true) ? 1 : 0);
      case Step::kLength:
        return Length(step.number, out_.size() - step.behind);
    }
  }

  void Members(Step step) {
    const std::span<const Member> members = step.value.members();
    while (step.left > 0) {
      const auto number = static_cast<int>(step.left--);
      const SchemaMember& member = SchemaMembers()[step.left];
      const bool there = step.behind > 0 && members[step.behind - 1].key == member.name;
      const Value value = there ? members[--step.behind].value : Value();
      if (!there || !Nests(member.form)) {
        Plain(number, member.form, value);
        continue;
      }
      steps_.push_back(step);
      return Nested(number, member.form, value);
    }
  }

  void Plain(int number, MemberForm form, const Value& value) {
    // A field that is no pointer in Go is always written.
    if (value.is_null() && form != kText && form != kTrueFlag) return;
    switch (form) {
      case kText:
      case kTextPointer:
        return Text(number, value.AsString());
      case kTrueFlag:
      case kFlagPointer:
        return Int(number, value.AsBool() ? 1 : 0);
      case kNumber:
        return Double(number, value.AsDouble());
      case kCount:
        return Int(number, value.AsInt());
      case kJson:
        return Json(number, value);
      case kDocs:
        return Small(number, DocsMembers(), value);
      default:
        break;
    }
    for (std::size_t i = value.items().size(); i-- > 0;) {
      const Value item = value.at(i);
      if (form == kTexts) Text(number, item.AsString());
      if (form == kJsons) Json(number, item);
      if (form == kRules) Small(number, RuleMembers(), item);
    }
  }

  void Nested(int number, MemberForm form, const Value& value) {
    switch (form) {
      case kSchema:
        return Schema(number, value);
      case kSchemas:
        return List(number, value);
      case kSchemaMap:
      case kSchemasOrTexts:
        return Push(
            {.what = Step::kEntries, .number = number, .left = value.size(), .value = value});
      case kSchemaOrFlag:
        Begin(number);
        Push({.what = Step::kAllowed, .value = value});
        if (value.is_map()) Schema(kAllowedSchema, value);
        return;
      default:
        Begin(number);
        return value.is_map() ? Schema(kOnlySchema, value) : List(kListed, value);
    }
  }

  void Entry(int number, const Member& member) {
    const bool texts =
        SchemaMembers()[static_cast<std::size_t>(number) - 1].form == kSchemasOrTexts;
    Begin(number);
    Push({.what = Step::kKeyText, .value = Value::String(member.key)});
    if (!texts) return Schema(kEntryValue, member.value);
    Begin(kEntryValue);
    if (member.value.is_map()) return Schema(kOnlySchema, member.value);
    for (std::size_t i = member.value.items().size(); i-- > 0;) {
      Text(kListed, member.value.at(i).AsString());
    }
  }

  void Schema(int number, const Value& schema) {
    Begin(number);
    Push({.what = Step::kMembers,
          .left = kSchemaMembers,
          .behind = schema.members().size(),
          .value = schema});
  }
  void List(int number, const Value& list) {
    Push({.what = Step::kItems, .number = number, .left = list.items().size(), .value = list});
  }
  // Begins a message, that is, its end.
  void Begin(int number) { Push({.what = Step::kLength, .number = number, .behind = out_.size()}); }
  void Push(const Step& step) { steps_.push_back(step); }

  void Small(int number, std::span<const SmallMember> members, const Value& value) {
    const std::size_t end = out_.size();
    for (std::size_t i = members.size(); i-- > 0;) {
      Plain(static_cast<int>(i) + 1, members[i].form, value[members[i].name]);
    }
    Length(number, out_.size() - end);
  }

  void Json(int number, const Value& value) {
    const std::size_t end = out_.size();
    if (!value.is_null()) {
      std::string json;
      AppendJson(value, json);
      Text(kRaw, json);
    }
    Length(number, out_.size() - end);
  }

  void Text(int number, std::string_view text) {
    Reversed(text);
    Length(number, text.size());
  }
  void Length(int number, std::size_t size) {
    std::string head;
    wire::PutTag(number, wire::Type::kLength, head);
    wire::PutVarint(size, head);
    Reversed(head);
  }
  void Int(int number, std::int64_t value) {
    std::string field;
    wire::PutInt(number, value, field);
    Reversed(field);
  }
  void Double(int number, double value) {
    std::string field;
    wire::PutTag(number, wire::Type::kFixed64, field);
    wire::PutFixed64(std::bit_cast<std::uint64_t>(value), field);
    Reversed(field);
  }
  void Reversed(std::string_view bytes) { out_.append(bytes.rbegin(), bytes.rend()); }

  std::string out_;
  std::vector<Step> steps_;
};

}  // namespace

std::string WriteJsonSchema(const Value& schema) { return Writer().Run(schema); }

}  // namespace apiserver::v0::codec
