#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "apiserver/cel/value.h"

// Maps that an evaluation builds, and the entries of all maps.
namespace apiserver::inline v0::cel {

struct MapEntry {
  Value key;
  Value value;
};

// The content of a built map: entries in the order in which their keys first came, and for more
// than a few of them a hash index. Lies in an Arena.
struct MapContent {
  const MapEntry* entries = nullptr;
  std::uint32_t count = 0;
  // A power of two slots with 1 + the number of an entry, or 0. Null: `entries` are searched.
  const std::uint32_t* slots = nullptr;
  std::uint32_t slot_count = 0;

  std::span<const MapEntry> all() const { return {entries, count}; }
};

// Makes a map of entries, which must lie in the arena, and borrows them. Of two with equal keys
// (1, 1u and 1.0 are equal) the later value counts at the place of the first.
Value MakeMap(std::span<MapEntry> entries, Arena& arena);

// Finds the value of a key: of a map of data, a struct view (by property) or a built map. nullopt:
// the map has no such key. The value may be an error: data that does not fit its schema.
std::optional<Value> FindInMap(const Value& map, const Value& key, Arena& arena);

// Returns entry `index` of a map; it must be less than size(). In a struct view absent (null)
// members are counted too; MapEntryExists() tells them.
MapEntry MapEntryAt(const Value& map, std::size_t index, Arena& arena);

}  // namespace apiserver::inline v0::cel
