#include "cel/run/map.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <string>

#include "apiserver/cel/names.h"
#include "cel/run/equality.h"
#include "cel/run/lossless.h"
#include "cel/run/print.h"
#include "cel/run/views.h"

namespace apiserver::v0::cel {
namespace {

using Kind = Value::Kind;

// Maps up to this size are searched without an index.
constexpr std::uint32_t kSearchedMax = 8;

std::size_t HashOf(const Value& key) {
  const auto mixed = [&key](std::uint64_t bits) {
    bits = (bits ^ static_cast<std::uint64_t>(key.kind())) * 0x9E37'79B9'7F4A'7C15;
    return static_cast<std::size_t>(bits ^ (bits >> 32U));
  };
  switch (key.kind()) {
    case Kind::kString:
    case Kind::kBytes:
      return std::hash<std::string_view>()(key.AsText());
    case Kind::kBool:
      return mixed(key.AsBool() ? 1 : 0);
    case Kind::kInt:
    case Kind::kDuration:
      return mixed(static_cast<std::uint64_t>(key.AsInt()));
    case Kind::kUint:
      return mixed(key.AsUint());
    case Kind::kDouble:
      // 0.0 and -0.0 are one key.
      return mixed(std::bit_cast<std::uint64_t>(key.AsDouble() + 0.0));
    default:
      return mixed(0);
  }
}

bool SameKey(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return a.AsBool() == b.AsBool();
    case Kind::kInt:
    case Kind::kDuration:
      return a.AsInt() == b.AsInt();
    case Kind::kUint:
      return a.AsUint() == b.AsUint();
    case Kind::kDouble:
      return a.AsDouble() == b.AsDouble();
    case Kind::kString:
    case Kind::kBytes:
      return a.AsText() == b.AsText();
    case Kind::kTimestamp:
    case Kind::kType:
      return SameScalar(a, b);
    // Go compares the others by identity. Data is another list or map each time it is read.
    case Kind::kList:
      return !a.is_data() && !b.is_data() && a.size() > 0 && a.size() == b.size() &&
             a.built_items().data() == b.built_items().data();
    case Kind::kMap:
      return !a.is_data() && !b.is_data() && &a.built_map() == &b.built_map();
    case Kind::kOpaque: {
      const OpaqueKind& kind = a.opaque_kind();
      return kind.print != nullptr && b.IsOpaque(kind) &&
             kind.equal(&a.AsOpaque<char>(), &b.AsOpaque<char>());
    }
    default:
      return false;
  }
}

// Returns the number of the entry with that key. count: there is none.
std::uint32_t PlaceOf(const MapContent& map, const Value& key) {
  if (map.slots == nullptr) {
    for (std::uint32_t i = 0; i < map.count; ++i) {
      if (SameKey(map.entries[i].key, key)) return i;
    }
    return map.count;
  }
  const std::uint32_t mask = map.slot_count - 1;
  auto slot = static_cast<std::uint32_t>(HashOf(key)) & mask;
  while (map.slots[slot] != 0) {
    const std::uint32_t at = map.slots[slot] - 1;
    if (SameKey(map.entries[at].key, key)) return at;
    slot = (slot + 1) & mask;
  }
  return map.count;
}

void AddToIndex(MapContent& map, std::uint32_t at) {
  const std::uint32_t mask = map.slot_count - 1;
  auto slot = static_cast<std::uint32_t>(HashOf(map.entries[at].key)) & mask;
  while (map.slots[slot] != 0) slot = (slot + 1) & mask;
  map.slots[slot] = at + 1;
}

void BuildIndex(MapContent& map, Arena& arena) {
  map.slot_count = std::bit_ceil(map.capacity * 2);
  map.slots = arena.New<std::uint32_t>(map.slot_count).data();
  for (std::uint32_t i = 0; i < map.count; ++i) AddToIndex(map, i);
}

void Grow(MapContent& map, Arena& arena) {
  const std::uint32_t capacity = std::max<std::uint32_t>(4, map.capacity * 2);
  const std::span<MapEntry> larger = arena.New<MapEntry>(capacity);
  std::copy_n(map.entries, map.count, larger.data());
  map.entries = larger.data();
  map.capacity = capacity;
  if (map.slots != nullptr) BuildIndex(map, arena);
}

}  // namespace

void MapPut(MapContent& map, const Value& key, const Value& value, Arena& arena) {
  const std::uint32_t at = PlaceOf(map, key);
  if (at < map.count) {
    map.entries[at].value = value;
    return;
  }
  if (map.count == map.capacity) Grow(map, arena);
  map.entries[map.count] = {key, value};
  ++map.count;
  if (map.slots != nullptr) {
    AddToIndex(map, map.count - 1);
  } else if (map.count > kSearchedMax) {
    BuildIndex(map, arena);
  }
}

void MapRemove(MapContent& map, const Value& key, Arena& arena) {
  const std::uint32_t at = PlaceOf(map, key);
  if (at == map.count) return;
  std::copy(map.entries + at + 1, map.entries + map.count, map.entries + at);
  --map.count;
  if (map.slots != nullptr) BuildIndex(map, arena);
}

const Value* FindExactly(const MapContent& map, const Value& key) {
  const std::uint32_t at = PlaceOf(map, key);
  return at < map.count ? &map.entries[at].value : nullptr;
}

const Value* FindKey(const MapContent& map, const Value& key) {
  if (const Value* const found = FindExactly(map, key)) return found;
  if (key.Is(Kind::kDouble)) {
    if (const auto integer = LosslessInt(key.AsDouble())) {
      if (const Value* const found = FindExactly(map, Value::Int(*integer))) return found;
    }
    const auto natural = LosslessUint(key.AsDouble());
    return natural.has_value() ? FindExactly(map, Value::Uint(*natural)) : nullptr;
  }
  if (key.Is(Kind::kInt) && key.AsInt() >= 0) {
    return FindExactly(map, Value::Uint(static_cast<std::uint64_t>(key.AsInt())));
  }
  if (key.Is(Kind::kUint) && key.AsUint() <= std::numeric_limits<std::int64_t>::max()) {
    return FindExactly(map, Value::Int(static_cast<std::int64_t>(key.AsUint())));
  }
  return nullptr;
}

std::optional<Value> FindInMap(const Value& map, const Value& key, Arena& arena) {
  if (!map.is_data()) {
    const Value* const found = FindKey(map.built_map(), key);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  if (!key.is_string()) {
    if (map.schema() == nullptr) return std::nullopt;
    return key.is_error() ? key : Value::Error("no such overload");
  }
  if (!IsStructView(map)) return FindProperty(map, key.AsText(), arena);
  const std::optional<std::string> property = Unescape(key.AsText());
  return property.has_value() ? FindProperty(map, *property, arena) : std::nullopt;
}

std::optional<Value> MapKeyAt(const Value& map, std::size_t index, Arena& arena) {
  if (!map.is_data()) return map.built_map().entries[index].key;
  const std::string_view key = map.data_members()[index].key;
  const runtime::Schema* const schema = map.schema();
  if (schema == nullptr) return Value::String(key);
  if (SchemaOfMember(*schema, key) == nullptr) return std::nullopt;
  if (!IsStructView(map)) return Value::String(key);
  const std::optional<std::string> escaped = Escape(key);
  // Most names are their own escape.
  if (!escaped.has_value() || *escaped == key) return Value::String(key);
  return Value::String(arena.Copy(*escaped));
}

Value MapValueAt(const Value& map, std::size_t index, Arena& arena) {
  if (!map.is_data()) return map.built_map().entries[index].value;
  const runtime::Member& member = map.data_members()[index];
  const runtime::Schema* const schema = map.schema();
  if (schema == nullptr) return Value::FromData(member.value, nullptr, arena);
  const runtime::Schema* const declared = SchemaOfMember(*schema, member.key);
  if (declared == nullptr || (member.value.is_null() && IsStructView(map))) {
    return NoSuchKey(Value::String(member.key), arena);
  }
  return Value::FromData(member.value, declared, arena);
}

}  // namespace apiserver::v0::cel
