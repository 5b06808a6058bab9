#include "runtime/json_schema.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "runtime/arena_span.h"
#include "runtime/json_schema_changes.h"
#include "runtime/json_schema_members.h"
#include "runtime/normalize.h"
#include "runtime/scalar.h"

namespace apiserver::v0::runtime {
namespace {

using Form = MemberForm;

constexpr std::string_view kJsonSchemaType = "v1.JSONSchemaProps";
// The struct that has the schema of a version.
constexpr std::string_view kJsonSchemaHolder = "CustomResourceValidation";

std::string JsonSchemaWord(const Value& value, std::string_view go_type) {
  const bool counted = go_type == "int64" || go_type == "float64";
  switch (value.type()) {
    case Value::Type::kBool:
      return "bool";
    case Value::Type::kInt:
      return counted ? "number " + std::to_string(value.AsInt()) : "number";
    case Value::Type::kDouble:
      return counted ? "number " + GoNumber(value.AsDouble()) : "number";
    case Value::Type::kList:
      return "array";
    case Value::Type::kMap:
      return "object";
    default:
      return "string";
  }
}

// Normalizes schemas from the top down: what a schema consists of is written before what is below.
class JsonSchemaNormalizer {
 public:
  JsonSchemaNormalizer(std::string_view path, const SchemaChanges& changes, Arena& arena)
      : path_(path), changes_(changes), arena_(arena) {}

  Status Run(Value& root) {
    RETURN_IF_ERROR(Schema(root, root));
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.next == frame.schemas.size() + frame.named.size()) {
        frames_.pop_back();
        continue;
      }
      const std::size_t at = frame.next++;
      Value& schema = frame.named.empty() ? frame.schemas[at] : frame.named[at].value;
      RETURN_IF_ERROR(Schema(schema, schema));
    }
    return {};
  }

 private:
  // The schemas that a member holds, which are normalized in their places.
  struct Frame {
    std::size_t parent;  // The frame whose last schema has the member. kNone: the root has.
    std::size_t member;
    std::span<Value> schemas;  // One, or a list.
    std::span<Member> named;
    std::size_t next = 0;
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  Status Schema(const Value& source, Value& into) {
    if (source.is_null()) {
      into = Value::Map({});
      return {};
    }
    parent_ = frames_.empty() ? kNone : frames_.size() - 1;
    // A list of texts in the place of a schema.
    if (source.is_list() && parent_ != kNone) return Texts(kSchemaMembers, "string", source, into);
    if (!source.is_map()) {
      const bool root = parent_ == kNone;
      return Misfit(kSchemaMembers, "", source, kJsonSchemaType,
                    root ? kJsonSchemaHolder : "JSONSchemaProps");
    }
    if (!changes_.Has(source)) {
      into = source;
      return {};
    }
    std::array<const Value*, kSchemaMembers> found{};
    for (const Member& member : source.members()) {
      const std::size_t at = FindSchemaMember(member.key);
      if (at != kSchemaMembers && !member.value.is_null()) found[at] = &member.value;
    }
    std::vector<std::pair<std::size_t, Value>> kept;
    for (std::size_t i = 0; i < kSchemaMembers; ++i) {
      if (found[i] == nullptr) continue;
      const SchemaMember& member = SchemaMembers()[i];
      const Value& value = *found[i];
      // Go passes by what is neither a schema nor a list.
      if (member.form == Form::kSchemaOrList && !value.is_map() && !value.is_list()) continue;
      if (!FitsForm(member.form, value)) return Misfit(i, "", value, member.go_type);
      if (!IsLeftOut(member.form, value)) kept.emplace_back(i, value);
    }
    const std::span<Member> members = NewSpan<Member>(arena_, kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      members[i].key = SchemaMembers()[kept[i].first].name;
      RETURN_IF_ERROR(Fill(kept[i].first, kept[i].second, members[i].value));
    }
    into = Value::Map(members);
    return {};
  }

  Status Fill(std::size_t member, const Value& value, Value& into) {
    switch (SchemaMembers()[member].form) {
      case Form::kNumber:
        into = Value::Double(value.AsDouble());
        return {};
      case Form::kJson:
      case Form::kJsons:
        // Go holds any value as a map, which has no order.
        into = value;
        SortKeys(arena_, into);
        return {};
      case Form::kTexts:
        return Texts(member, "string", value, into);
      case Form::kSchema:
        return One(member, value, into);
      case Form::kSchemaOrFlag:
        if (value.is_map()) return One(member, value, into);
        break;
      case Form::kSchemaOrList:
        if (value.is_map()) return One(member, value, into);
        return List(member, value, into);
      case Form::kSchemas:
        return List(member, value, into);
      case Form::kSchemaMap:
      case Form::kSchemasOrTexts:
        return Named(member, value, into);
      case Form::kDocs:
        return Small(member, "ExternalDocumentation", DocsMembers(), value, into);
      case Form::kRules:
        return Rules(member, value, into);
      default:
        break;
    }
    into = value;
    return {};
  }

  Status One(std::size_t member, const Value& value, Value& into) {
    into = value;
    frames_.push_back({parent_, member, {&into, 1}, {}});
    return {};
  }

  Status List(std::size_t member, const Value& value, Value& into) {
    const std::span<Value> schemas = NewSpan<Value>(arena_, value.items().size());
    std::copy(value.items().begin(), value.items().end(), schemas.begin());
    into = Value::List(schemas);
    for (const Value& item : schemas) {
      if (item.is_map() || item.is_null()) continue;
      return Misfit(member, "", item, kJsonSchemaType);
    }
    if (!schemas.empty()) frames_.push_back({parent_, member, schemas, {}});
    return {};
  }

  Status Named(std::size_t member, const Value& value, Value& into) {
    const std::span<Member> named = NewSpan<Member>(arena_, value.size());
    std::copy(value.members().begin(), value.members().end(), named.begin());
    std::sort(named.begin(), named.end(),
              [](const Member& a, const Member& b) { return a.key < b.key; });
    into = Value::Map(named);
    const bool texts = SchemaMembers()[member].form == Form::kSchemasOrTexts;
    for (Member& item : named) {
      if (item.value.is_map() || item.value.is_null() || (texts && item.value.is_list())) continue;
      if (!texts) return Misfit(member, "", item.value, kJsonSchemaType);
      // Values that are neither schemas nor lists are passed by.
      item.value = Value();
    }
    frames_.push_back({parent_, member, {}, named});
    return {};
  }

  Status Texts(std::size_t member, std::string_view go_type, const Value& value, Value& into) {
    const std::span<Value> texts = NewSpan<Value>(arena_, value.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      texts[i] = value.at(i);
      if (texts[i].is_null()) texts[i] = Value::String("");
      if (!texts[i].is_string()) return Misfit(member, "", texts[i], go_type);
    }
    into = Value::List(texts);
    return {};
  }

  Status Small(std::size_t member, std::string_view type, std::span<const SmallMember> rules,
               const Value& value, Value& into) {
    MapBuilder built(arena_);
    for (const SmallMember& rule : rules) {
      const Value found = value[rule.name];
      if (found.is_null()) {
        if (rule.always) built.Add(rule.name, Value::String(""));
        continue;
      }
      if (!FitsForm(rule.form, found)) {
        return Misfit(member, rule.name, found, rule.go_type, type);
      }
      if (rule.always || !IsLeftOut(rule.form, found)) built.Add(rule.name, found);
    }
    into = built.Build();
    return {};
  }

  Status Rules(std::size_t member, const Value& value, Value& into) {
    const std::span<Value> rules = NewSpan<Value>(arena_, value.size());
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const Value rule = value.at(i);
      if (!rule.is_null() && !rule.is_map()) return Misfit(member, "", rule, "v1.ValidationRule");
      RETURN_IF_ERROR(Small(member, "ValidationRule", RuleMembers(), rule, rules[i]));
    }
    into = Value::List(rules);
    return {};
  }

  // Returns the frames from the root to the schema that is being read.
  std::vector<const Frame*> Way() const {
    std::vector<const Frame*> way;
    for (std::size_t at = parent_; at != kNone; at = frames_[at].parent) {
      way.push_back(&frames_[at]);
    }
    std::reverse(way.begin(), way.end());
    return way;
  }

  // `member` is kSchemaMembers for the schema itself; `below` is a member of it.
  Status Misfit(std::size_t member, std::string_view below, const Value& value,
                std::string_view go_type, std::string_view owner = "JSONSchemaProps") const {
    const bool known = member < kSchemaMembers;
    if (known && SchemaMembers()[member].form == Form::kSchemaOrFlag && !value.is_map()) {
      return {Reason::kBadRequest, "boolean or JSON schema expected"};
    }
    std::string names;
    for (const std::string_view part : PathParts()) names.append(".").append(part);
    for (const Frame* frame : Way()) {
      names.append(".").append(SchemaMembers()[frame->member].name);
    }
    if (known) names.append(".").append(SchemaMembers()[member].name);
    if (!below.empty()) names.append(".").append(below);
    std::string text = "json: cannot unmarshal " + JsonSchemaWord(value, go_type) + " into Go ";
    if (names.empty()) {
      text += "value";
    } else {
      text.append("struct field ").append(owner).append(names);
    }
    return {Reason::kBadRequest, text.append(" of type ").append(go_type)};
  }

  // Returns the members of the path without indices: Go's messages have none.
  std::vector<std::string_view> PathParts() const {
    std::vector<std::string_view> parts;
    std::string_view rest = path_;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('.'), rest.size());
      const std::string_view part = rest.substr(0, end);
      parts.push_back(part.substr(0, part.find('[')));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return parts;
  }

  const std::string_view path_;
  const SchemaChanges& changes_;
  Arena& arena_;
  std::vector<Frame> frames_;
  std::size_t parent_ = kNone;
};

}  // namespace

Status NormalizeJsonSchema(Value& schema, std::string_view path, Arena& arena) {
  const SchemaChanges changes(schema);
  return JsonSchemaNormalizer(path, changes, arena).Run(schema);
}

}  // namespace apiserver::v0::runtime
