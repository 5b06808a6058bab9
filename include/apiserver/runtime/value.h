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
  // The views are borrowed, at most 4 GiB long.
  static Value String(std::string_view text);
  static Value Raw(std::string_view json);
  static Value Bytes(std::string_view bytes);
  static Value List(std::span<const Value> items);
  // `members` keep their order; a key stands at most once.
  static Value Map(std::span<const Member> members);

  Type type() const { return type_; }
  bool is_null() const { return type_ == Type::kNull; }
  bool is_string() const { return type_ == Type::kString; }
  bool is_list() const { return type_ == Type::kList; }
  bool is_map() const { return type_ == Type::kMap; }
  bool is_number() const { return type_ == Type::kInt || type_ == Type::kDouble; }

  // Of another type: the fallback.
  bool AsBool(bool fallback = false) const;
  std::int64_t AsInt(std::int64_t fallback = 0) const;  // A double that is whole counts too.
  double AsDouble(double fallback = 0) const;
  // Of kString, kRaw and kBytes; empty otherwise.
  std::string_view AsString() const;

  // Empty unless a list, or a map.
  std::span<const Value> items() const;
  std::span<const Member> members() const;
  // Items, members, or bytes of text.
  std::size_t size() const { return size_; }

  // Null when this is no map or has no such key; a null member reads the same. Reading a missing
  // path therefore yields null: value["spec"]["replicas"].AsInt(1).
  Value operator[](std::string_view key) const;
  Value operator[](const char* key) const { return (*this)[std::string_view(key)]; }
  // Null past the end.
  Value at(std::size_t index) const;
  // Tells a missing member (nullptr) from a null one.
  const Value* Find(std::string_view key) const;

  // Deep; the order of a map's members does not matter, 1 and 1.0 differ. Iterative.
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

struct Member {
  std::string_view key;
  Value value;
};

// A deep copy in `arena`; text included. Iterative.
Value Copy(Value value, Arena& arena);

// `map` (or null, which counts as an empty map) with `key` set, replaced in place or appended; and
// without it. Text of `key` is copied, `value` must live in `arena` or longer.
Value With(Value map, std::string_view key, Value value, Arena& arena);
Value Without(Value map, std::string_view key, Arena& arena);

// Collects members or items and puts them into an arena in one piece.
class MapBuilder {
 public:
  explicit MapBuilder(Arena& arena) : arena_(arena) {}
  // Keys are borrowed; the caller sees to it that each is added once.
  void Add(std::string_view key, Value value) { members_.push_back({key, value}); }
  std::size_t size() const { return members_.size(); }
  Value Build();

 private:
  Arena& arena_;
  std::vector<Member> members_;
};
class ListBuilder {
 public:
  explicit ListBuilder(Arena& arena) : arena_(arena) {}
  void Add(Value value) { items_.push_back(value); }
  std::size_t size() const { return items_.size(); }
  Value Build();

 private:
  Arena& arena_;
  std::vector<Value> items_;
};

}  // namespace apiserver::inline v0::runtime
