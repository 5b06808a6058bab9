#include "patch/apply/list_items.h"

#include <algorithm>
#include <numeric>

namespace apiserver::inline v0::patch::apply {

namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;

bool KeyedItem(const Type& list, const Value& item, Arena& arena, PathElement& element,
               std::string& error) {
  if (item.is_null()) {
    error = "associative list with keys may not have a null element";
    return false;
  }
  if (!item.is_map()) {
    error = "associative list with keys may not have non-map elements";
    return false;
  }
  auto* const fields =
      static_cast<Member*>(arena.Allocate(list.keys.size() * sizeof(Member), alignof(Member)));
  std::size_t size = 0;
  for (const Type::Key& key : list.keys) {
    const Value* value = item.Find(key.name);
    if (value == nullptr && !list.items->map) {
      error.assign("couldn't find default value for ").append(key.name);
      error += ": associative list may not have non-map types";
      return false;
    }
    if (value == nullptr) value = key.fallback;
    if (value != nullptr) new (&fields[size++]) Member{key.name, *value};
  }
  if (size == 0) {
    error.assign("associative list with keys has an element that omits all key fields ")
        .append(list.keys_quoted)
        .append(" (and doesn't have default values for any key fields)");
    return false;
  }
  element = PathElement::Key({fields, size});
  return true;
}

bool SetItem(const Value& item, PathElement& element, std::string& error) {
  switch (item.type()) {
    case Value::Type::kMap:
      error = "associative list without keys has an element that's a map type";
      return false;
    case Value::Type::kList:
      error = "not supported: associative list with lists as elements";
      return false;
    case Value::Type::kNull:
      error = "associative list without keys has an element that's an explicit null";
      return false;
    default:
      element = PathElement::OfValue(item);
      return true;
  }
}

}  // namespace

bool ListItemToPathElement(const Type& list, const Value& item, Arena& arena, PathElement& element,
                           std::string& error) {
  if (list.keys.empty()) return SetItem(item, element, error);
  return KeyedItem(list, item, arena, element, error);
}

std::size_t NumberElements(std::span<const PathElement> elements, std::vector<std::uint32_t>& ids) {
  std::vector<std::uint32_t> order(elements.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return PathElement::Compare(elements[a], elements[b]) < 0;
  });
  ids.resize(elements.size());
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i != 0 && !(elements[order[i - 1]] == elements[order[i]])) ++id;
    ids[order[i]] = id;
  }
  return elements.empty() ? 0 : id + 1;
}

}  // namespace apiserver::inline v0::patch::apply
