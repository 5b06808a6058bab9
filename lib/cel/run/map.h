#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "apiserver/cel/value.h"

// Maps that an evaluation builds, and the entries of all maps.
namespace apiserver::inline v0::cel {

struct MapEntry {
  Value key;
  Value value;
};

// The content of a built map: entries in the order in which their keys first came, and for more
// than a few of them a hash index. Keys are distinct by kind and value: 1 and 1u are two entries,
// while a look-up of either finds the other if it is alone, as in cel-go. Lies in an Arena.
struct MapContent {
  MapEntry* entries = nullptr;
  std::uint32_t count = 0;
  std::uint32_t capacity = 0;
  // A power of two slots with 1 + the number of an entry, or 0. Null: `entries` are searched.
  std::uint32_t* slots = nullptr;
  std::uint32_t slot_count = 0;

  std::span<const MapEntry> all() const { return {entries, count}; }
};

// Change a map while it is built.
// Sets the value of a key, replacing an earlier one.
void MapPut(MapContent& map, const Value& key, const Value& value, Arena& arena);
// Removes a key if it is there. The order of the others stays.
void MapRemove(MapContent& map, const Value& key, Arena& arena);

// Finds the value of a key that is the same in kind and value. Null: there is none.
const Value* FindExactly(const MapContent& map, const Value& key);
// Finds the value of a key, or of a numerically equal int or uint key. Null: there is none.
const Value* FindKey(const MapContent& map, const Value& key);

// Finds the value of a key in any map. In data with properties the key is the escaped name.
// nullopt: the map has no such key. The value may be an error: data that does not fit its schema,
// or a key that is no string where the map has a schema.
std::optional<Value> FindInMap(const Value& map, const Value& key, Arena& arena);

// Returns the key of entry `index` of a map, which must be less than size(). nullopt: it is a
// member that the map's schema does not declare, which iteration passes over.
std::optional<Value> MapKeyAt(const Value& map, std::size_t index, Arena& arena);
// Returns the value of entry `index`: an error where reading that key would be one (a null member
// of data with properties).
Value MapValueAt(const Value& map, std::size_t index, Arena& arena);

}  // namespace apiserver::inline v0::cel
