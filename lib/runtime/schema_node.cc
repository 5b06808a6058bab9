#include "apiserver/runtime/schema_node.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "runtime/schema_block.h"
#include "text/json_string.h"

namespace apiserver::v0::runtime {

void SchemaPtr::reset() {
  const Schema* const schema = std::exchange(schema_, nullptr);
  if (schema == nullptr) return;
  if (schema->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) SchemaBlock::Destroy(schema);
}

constinit const SchemaPtr Schema::kNone;

std::string Schema::DescriptionAt(std::uint32_t at, std::uint32_t size) const {
  if (size == 0) return "";
  if ((at & kInSource) == 0) return std::string(TextAt(at, size));
  const auto* const source = reinterpret_cast<const SchemaSource*>(*Slot(kSource));
  const std::string_view text =
      std::string_view(*source->bytes).substr(at & ~(kInSource | kEscaped), size);
  return (at & kEscaped) != 0 ? text::UnescapeJson(text) : std::string(text);
}

std::string Schema::description() const {
  const std::uint64_t* const slot = Slot(kDescription);
  if (slot == nullptr) return "";
  return DescriptionAt(static_cast<std::uint32_t>(*slot), static_cast<std::uint32_t>(*slot >> 32U));
}

std::string Schema::DescriptionOf(const Field& field) const {
  return DescriptionAt(field.description_at_, field.description_size_);
}

std::vector<std::string_view> Schema::list_map_keys() const { return Texts(kListMapKeys); }

const Field* Schema::FindField(std::string_view json_name) const {
  std::vector<const Schema*> inlined;
  for (const Schema* at = this; at != nullptr;) {
    for (const Field& field : at->fields()) {
      if (field.inlined) {
        inlined.push_back(field.schema.get());
      } else if (field.name_size_ == json_name.size() && field.name() == json_name) {
        return &field;
      }
    }
    // As in Go, a field further outside hides one of the same name deeper inside.
    at = inlined.empty() ? nullptr : inlined.front();
    if (at != nullptr) inlined.erase(inlined.begin());
  }
  return nullptr;
}

Value Schema::rule_list() const {
  const std::uint64_t* const slot = Slot(kRules);
  if (slot == nullptr) return {};
  return *reinterpret_cast<const Value*>(Here() + static_cast<std::uint32_t>(*slot));
}

std::vector<ValidationRule> Schema::rules() const {
  std::vector<ValidationRule> rules;
  const Value list = rule_list();
  for (const Value& object : list.items()) {
    const auto text = [&object](std::string_view key) {
      return std::string(object[key].AsString());
    };
    ValidationRule& rule = rules.emplace_back();
    rule.rule = text("rule");
    rule.message = text("message");
    rule.message_expression = text("messageExpression");
    rule.reason = text("reason");
    rule.field_path = text("fieldPath");
    const Value* const optional = object.Find("optionalOldSelf");
    if (optional != nullptr) rule.optional_old_self = optional->AsBool();
  }
  return rules;
}

// Values stand behind the slots and words. Their number is stored nowhere: it is that of the enum's
// values, of the defaults, and one for the rules.
std::span<const Value> Schema::Values() const {
  const std::uint64_t* const begin =
      Slots() + std::popcount(parts_ & (Bit(kFirstMark) - 1)) + WordsBehindSlots();
  std::size_t count = constraints().enum_values().size();
  for (const Field& field : fields()) count += field.default_value() != nullptr ? 1 : 0;
  if (Has(kDefault)) ++count;
  if (Has(kRules)) ++count;
  return {reinterpret_cast<const Value*>(begin), count};
}

// Texts are stored last, so the end of the block is the end of one of them.
std::size_t Schema::Size() const {
  const std::span<const Value> values = Values();
  const auto here = [this](const void* at) {
    return static_cast<std::size_t>(static_cast<const char*>(at) - Here());
  };
  std::size_t end = here(values.data() + values.size());
  const auto add = [&end](std::size_t at, std::size_t size) {
    if (size > 0 && (at & kInSource) == 0) end = std::max(end, at + size);
  };
  for (const Part part : {kName, kTitle, kDescription, kPatchStrategy, kPatchMergeKey, kFormat}) {
    if (const std::uint64_t* const slot = Slot(part)) {
      add(static_cast<std::uint32_t>(*slot), *slot >> 32U);
    }
  }
  for (const Part part : {kListMapKeys, kRequired}) {
    for (const std::string_view name : Texts(part)) add(here(name.data()), name.size());
  }
  for (const Field& field : fields()) {
    add(here(field.name().data()), field.name().size());
    add(field.description_at_, field.description_size_);
  }
  for (const Value& value : values) {
    const std::string_view text = value.AsString();
    if (!text.empty()) add(here(text.data()), text.size());
  }
  return end;
}

// Counts each schema once, however many others share it.
std::size_t Schema::MemoryBytes() const {
  std::size_t bytes = 0;
  std::unordered_set<const Schema*> seen = {this};
  std::vector<const Schema*> pending = {this};
  const auto add = [&](const SchemaPtr& part) {
    if (part != nullptr && seen.insert(part.get()).second) pending.push_back(part.get());
  };
  while (!pending.empty()) {
    const Schema& schema = *pending.back();
    pending.pop_back();
    bytes += schema.Size();
    if (const std::uint64_t* const arena = schema.Slot(kValues)) {
      bytes += sizeof(Arena) + reinterpret_cast<const Arena*>(*arena)->bytes_reserved();
    }
    add(schema.items());
    add(schema.members());
    for (const SchemaPtr& part : schema.Junctors()) add(part);
    for (const Field& field : schema.fields()) add(field.schema);
  }
  return bytes;
}

std::string_view ConstraintsView::pattern() const {
  const Pattern* const pattern = compiled_pattern();
  return pattern == nullptr ? std::string_view() : pattern->text();
}

std::string_view OpenApiType(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::kAny:
    case SchemaType::kIntOrString:
      return "";
    case SchemaType::kBoolean:
      return "boolean";
    case SchemaType::kInteger:
      return "integer";
    case SchemaType::kNumber:
      return "number";
    case SchemaType::kString:
    case SchemaType::kBytes:
    case SchemaType::kTime:
    case SchemaType::kMicroTime:
    case SchemaType::kDuration:
    case SchemaType::kQuantity:
      return "string";
    case SchemaType::kRaw:
    case SchemaType::kStruct:
    case SchemaType::kMap:
      return "object";
    case SchemaType::kList:
      return "array";
  }
  return "";
}

}  // namespace apiserver::v0::runtime
