#include "patch/apply/list_items.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;

// Follows keyedAssociativeListItemToPathElement of typed, with the texts of its errors.
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

// Follows setItemToPathElement of typed.
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
  element = PathElement::Unknown();
  if (list.keys.empty()) return SetItem(item, element, error);
  return KeyedItem(list, item, arena, element, error);
}

namespace {

std::uint64_t Mix(std::uint64_t hash, std::uint64_t more) {
  return (hash ^ more) * 0x9E3779B97F4A7C15ULL + (hash >> 29U);
}

// Equal values hash alike: numbers as doubles, and values that may equal one of another type by the
// same constant.
std::uint64_t HashOf(const Value& value) {
  if (value.is_string()) return std::hash<std::string_view>()(value.AsString());
  if (value.is_number()) return std::hash<double>()(value.AsDouble());
  return value.type() == Value::Type::kBool && value.AsBool() ? 1 : 2;
}

// False for raw JSON and bytes, which may equal values of another form.
bool Hashable(const Value& value) {
  return value.type() != Value::Type::kRaw && value.type() != Value::Type::kBytes;
}

bool Hash(const PathElement& element, std::uint64_t& hash) {
  if (element.kind() == PathElement::Kind::kValue) {
    hash = HashOf(element.value());
    return Hashable(element.value());
  }
  hash = 1;
  for (const Member& field : element.key()) {
    // The number of keys nearly always tells which keys there are.
    hash = Mix(hash, Mix(field.key.size(), HashOf(field.value)));
    if (!Hashable(field.value)) return false;
  }
  return true;
}

// Numbers by sorting, if hashing does not help.
std::size_t NumberSorted(std::span<const PathElement> elements, std::vector<std::uint32_t>& ids) {
  std::vector<std::uint32_t> order(elements.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return PathElement::Compare(elements[a], elements[b]) < 0;
  });
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i != 0 && !(elements[order[i - 1]] == elements[order[i]])) ++id;
    ids[order[i]] = id;
  }
  return id + 1;
}

}  // namespace

std::size_t NumberElements(std::span<const PathElement> elements, std::vector<std::uint32_t>& ids) {
  ids.resize(elements.size());
  if (elements.empty()) return 0;
  struct Slot {
    std::uint64_t hash;
    std::uint32_t first;  // An element with this hash, plus one; 0: free.
  };
  std::vector<Slot> slots(std::bit_ceil(elements.size() * 2), Slot{0, 0});
  // A client that makes hashes collide gets no more time for it than sorting takes.
  std::size_t patience = 8 * elements.size() + 64;
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::uint64_t hash = 0;
    if (!Hash(elements[i], hash)) return NumberSorted(elements, ids);
    std::size_t at = hash ^ (hash >> 32U);
    for (;; ++at) {
      if (patience-- == 0) return NumberSorted(elements, ids);
      Slot& slot = slots[at & (slots.size() - 1)];
      if (slot.first == 0) {
        slot = {hash, static_cast<std::uint32_t>(i + 1)};
        ids[i] = next++;
        break;
      }
      if (slot.hash == hash && elements[slot.first - 1] == elements[i]) {
        ids[i] = ids[slot.first - 1];
        break;
      }
    }
  }
  return next;
}

}  // namespace apiserver::v0::patch::apply
