#include "cel/run/list_keys.h"

#include "cel/run/map.h"
#include "cel/run/print.h"
#include "cel/run/views.h"

namespace apiserver::inline v0::cel {

ListKeys::ListKeys(const runtime::Schema& schema, Arena& arena) : arena_(arena) {
  if (schema.list_type == runtime::Schema::ListType::kMap) properties_ = schema.list_map_keys();
}

// Appends a text that two values share only if they are equal. A number is its double, so that 1
// and 1.0 are one element.
void ListKeys::AppendKey(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kString:
      key_ += 's';
      key_ += std::to_string(value.size());
      key_ += ':';
      key_ += value.AsText();
      break;
    case Value::Kind::kUint:
      key_ += "i" + std::to_string(value.AsUint());
      break;
    case Value::Kind::kDouble:
      key_ += (value.AsDouble() == static_cast<double>(static_cast<std::int64_t>(value.AsDouble()))
                   ? "i" + std::to_string(static_cast<std::int64_t>(value.AsDouble()))
                   : "d" + PrintValue(value, arena_));
      break;
    case Value::Kind::kInt:
      key_ += "i" + std::to_string(value.AsInt());
      break;
    default:
      key_ += static_cast<char>('A' + static_cast<int>(value.kind()));
      key_ += PrintValue(value, arena_);
  }
  key_ += ';';
}

void ListKeys::MakeKey(const Value& element) {
  key_.clear();
  if (properties_.empty()) {
    AppendKey(element);
    return;
  }
  for (const std::string_view property : properties_) {
    std::optional<Value> value;
    if (element.is_map()) {
      value = element.is_data() ? FindProperty(element, property, arena_)
                                : FindInMap(element, Value::String(property), arena_);
    }
    AppendKey(value.value_or(Value()));
  }
}

std::uint32_t ListKeys::Add(const Value& element, std::uint32_t number) {
  MakeKey(element);
  return numbers_.try_emplace(key_, number).first->second;
}

std::optional<std::uint32_t> ListKeys::Find(const Value& element) {
  MakeKey(element);
  const auto found = numbers_.find(key_);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace apiserver::inline v0::cel
