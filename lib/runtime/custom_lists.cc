#include "runtime/custom_lists.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/custom_walk.h"
#include "runtime/plain_json.h"

namespace apiserver::v0::runtime {

namespace {

// Returns a text that is the same for values that Go takes for equal: numbers of different types
// are not, but within a list or an object, which it compares as JSON.
std::string Identity(const Value& value) {
  std::string text;
  const bool compound = value.is_map() || value.is_list();
  text += compound ? ' ' : static_cast<char>('a' + static_cast<int>(value.type()));
  return text.append(PlainJson(value));
}

class ListCheck {
 public:
  ListCheck(const Schema& schema, const Value& list, const CustomWalk& walk,
            field::ErrorList& errors)
      : schema_(schema), list_(list), walk_(walk), errors_(errors) {}

  void Run() {
    if (schema_.list_type == Schema::ListType::kMap) {
      CheckMap();
    } else {
      for (const std::size_t i : Repeated(list_.items())) Duplicate(i, list_.items()[i]);
    }
  }

 private:
  void CheckMap() {
    const auto items = list_.items();
    const auto odd = std::find_if(items.begin(), items.end(), [](const Value& item) {
      return !item.is_null() && !item.is_map();
    });
    if (odd != items.end()) {
      errors_.InvalidPrinted(walk_.Path().Index(static_cast<std::size_t>(odd - items.begin())),
                             PlainJson(*odd), "must be an object for an array of list-type map");
      return;
    }
    std::vector<std::string_view> names = schema_.list_map_keys();
    std::sort(names.begin(), names.end());
    Arena arena;
    std::vector<Value> keys;
    for (const Value& item : items) {
      MapBuilder key(arena);
      for (const std::string_view name : names) {
        if (const Value* const value = item.Find(name)) key.Add(name, *value);
      }
      keys.push_back(key.Build());
    }
    // A single key is compared as itself.
    const bool single = names.size() == 1;
    std::vector<Value> values;
    values.reserve(keys.size());
    for (const Value& key : keys) {
      values.push_back(single && key.size() == 1 ? key.members()[0].value : key);
    }
    for (const std::size_t i : Repeated(values)) Duplicate(i, keys[i]);
  }

  // Returns the index of each value's second appearance.
  template <class Values>
  static std::vector<std::size_t> Repeated(const Values& values) {
    std::vector<std::size_t> repeated;
    if (values.size() < 2) return repeated;
    std::unordered_map<std::string, int> counts;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (++counts[Identity(values[i])] == 2) repeated.push_back(i);
    }
    return repeated;
  }

  void Duplicate(std::size_t index, const Value& value) {
    if (errors_.full()) return;
    errors_.DuplicatePrinted(walk_.Path().Index(index), PlainJson(value));
  }

  const Schema& schema_;
  const Value& list_;
  const CustomWalk& walk_;
  field::ErrorList& errors_;
};

}  // namespace

void CheckCustomLists(const Schema& schema, const Value& root, field::ErrorList& errors) {
  CustomWalk walk;
  walk.Run(schema, root, [&](const Schema& at, const Value& value) {
    const bool keyed = at.type == SchemaType::kList && at.list_type != Schema::ListType::kAtomic;
    if (keyed && value.is_list()) ListCheck(at, value, walk, errors).Run();
    // Sets and list maps limit their values.
    return bool{at.limits_values};
  });
}

}  // namespace apiserver::v0::runtime
