#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/runtime/arena.h"

namespace apiserver::inline v0::runtime {

struct Member;

// A piece of an object's content: null, bool, int64, double, string, list, map, raw (JSON text kept
// as it was received) or bytes (base64 in JSON). 16 bytes, trivially copyable, immutable: text,
// items and members live in an Arena (or in what the arena pins), which must outlive the Value.
// Changing content means making new Values; see MapBuilder, With() and Object::Edit.
class Value {
 public:
  // The type of a value.
  enum class Type : std::uint8_t {
    kNull,
    kBool,
    kInt,
    kDouble,
    kString,
    kList,
    kMap,
    kRaw,
    kBytes,
  };

  Value() = default;  // Null.
  static Value Bool(bool value);
  static Value Int(std::int64_t value);
  static Value Double(double value);
  // Make values that borrow text, items or members; at most 4 GiB long.
  static Value String(std::string_view text);
  static Value Raw(std::string_view json);
  static Value Bytes(std::string_view bytes);
  static Value List(std::span<const Value> items);
  // Makes a map that borrows `members` and keeps their order. Keys must be unique.
  static Value Map(std::span<const Member> members);

  Type type() const { return type_; }
  bool is_null() const { return type_ == Type::kNull; }
  bool is_string() const { return type_ == Type::kString; }
  bool is_list() const { return type_ == Type::kList; }
  bool is_map() const { return type_ == Type::kMap; }
  bool is_number() const { return type_ == Type::kInt || type_ == Type::kDouble; }

  // Return the value, or `fallback` if it has another type.
  bool AsBool(bool fallback = false) const;
  std::int64_t AsInt(std::int64_t fallback = 0) const;  // Accepts a whole double too.
  double AsDouble(double fallback = 0) const;
  // Returns the text of a kString, kRaw or kBytes; empty for other types.
  std::string_view AsString() const;

  // Return the items of a list and the members of a map; empty for other types.
  std::span<const Value> items() const;
  std::span<const Member> members() const;
  // The number of items, of members, or of bytes of text.
  std::size_t size() const { return size_; }

  // Returns the member `key`. Null: this is not a map, it has no such key, or the member is null.
  // Reading a missing path therefore yields null: value["spec"]["replicas"].AsInt(1).
  Value operator[](std::string_view key) const;
  Value operator[](const char* key) const { return (*this)[std::string_view(key)]; }
  // Returns an item of a list. Null past the end.
  Value at(std::size_t index) const;
  // Returns a member, also one that is null. nullptr: it is missing.
  const Value* Find(std::string_view key) const;

  // Compares deeply and without recursion. The order of a map's members does not matter; 1 and 1.0
  // differ.
  friend bool operator==(const Value& a, const Value& b);

 private:
  Type type_ = Type::kNull;
  std::uint32_t size_ = 0;
  union {
    bool bool_;
    std::int64_t int_ = 0;
    double double_;
    const char* text_;
    const Value* items_;
    const Member* members_;
  };
};
static_assert(sizeof(Value) == 16);

// A key and value of a map.
struct Member {
  std::string_view key;
  Value value;
};

// Copies `value` deeply into `arena`, including text. Does not recurse.
Value Copy(Value value, Arena& arena);

// Return a copy of `map` in which `key` is set (replaced in place or appended), or removed. A null
// `map` counts as empty. The text of `key` is copied; `value` must live as long as `arena`.
Value With(Value map, std::string_view key, Value value, Arena& arena);
Value Without(Value map, std::string_view key, Arena& arena);

// Collects members, then puts them into an arena in one piece.
class MapBuilder {
 public:
  // `expected`: how many members are to be added, if the caller knows; any number may be.
  explicit MapBuilder(Arena& arena, std::size_t expected = 0) : arena_(arena) {
    members_.reserve(expected);
  }
  // Adds a member. The key is borrowed; the caller must add each key only once.
  void Add(std::string_view key, Value value) { members_.push_back({key, value}); }
  std::size_t size() const { return members_.size(); }
  Value Build();

 private:
  Arena& arena_;
  std::vector<Member> members_;
};
// Collects items, then puts them into an arena in one piece.
class ListBuilder {
 public:
  explicit ListBuilder(Arena& arena) : arena_(arena) {}
  void Add(Value value) { items_.push_back(value); }  // Adds an item, which is borrowed.
  std::size_t size() const { return items_.size(); }
  Value Build();  // Copies the items into the arena.

 private:
  Arena& arena_;
  std::vector<Value> items_;
};

}  // namespace apiserver::inline v0::runtime
