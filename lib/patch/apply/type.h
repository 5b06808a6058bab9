#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/patch/apply/typed.h"

namespace apiserver::inline v0::patch::apply {

// Finds a struct's field by name.
class FieldTable {
 public:
  // `fields` must have different names, which are borrowed.
  void Set(std::vector<std::pair<std::string_view, const Type*>> fields);
  // Null: there is no such field.
  const Type* Find(std::string_view name) const;
  const std::vector<std::pair<std::string_view, const Type*>>& all() const { return fields_; }

 private:
  std::vector<std::pair<std::string_view, const Type*>> fields_;
  std::vector<std::uint32_t> slots_;  // Index + 1 of a field; 0: free. A power of two.
};

// The kinds of values that a place may have, and how each is owned: upstream's schema.Atom.
struct Type {
  enum class Scalar : std::uint8_t { kNone, kNumeric, kString, kBoolean, kUntyped };
  // A key of a list of type map.
  struct Key {
    std::string_view name;
    // Used for an item that lacks the key. Null: there is none.
    const runtime::Value* fallback = nullptr;
  };

  // The shape of a value; upstream's order of precedence if the value alone does not tell.
  enum class Shape : std::uint8_t { kMap, kScalar, kList, kInvalid };
  // `certain`: the type has the value's kind, or has only one.
  struct Deduced {
    Shape shape = Shape::kInvalid;
    bool certain = false;
    friend bool operator==(const Deduced&, const Deduced&) = default;
  };
  Deduced Deduce(const runtime::Value& value) const;

  // Null when the type is unknown.
  const Type* FieldType(std::string_view name, bool& declared) const {
    const Type* const field = fields.Find(name);
    declared = field != nullptr;
    return declared ? field : values;
  }

  Scalar scalar = Scalar::kNone;

  bool list = false;
  bool list_atomic = true;
  const Type* items = nullptr;
  std::vector<Key> keys;    // Sorted by name. Empty: the list is a set.
  std::string keys_quoted;  // As %q prints them, in the order of the schema.

  bool map = false;
  bool map_atomic = false;
  FieldTable fields;
  const Type* values = nullptr;  // The type of members that are no fields; null: there may be none.
  // A map of any content, which takes no part in changes between atomic and granular.
  bool untyped_deduced_map = false;

  // Accepts any value, so that nothing in it can be invalid.
  bool anything = false;
  // It, or a type below it, is an atomic map or list, which an older set may not know as one.
  bool has_atomic = false;
};

// The types made from a Schema, each schema's once.
class TypeGraph {
 public:
  TypeGraph() = default;
  TypeGraph(const TypeGraph&) = delete;
  TypeGraph& operator=(const TypeGraph&) = delete;

  // `object`: with apiVersion and kind at the top.
  static std::shared_ptr<const TypeGraph> Of(runtime::SchemaPtr schema, bool object);
  const Type& root() const { return *root_; }

  static const Type& Deduced();
  static const Type& UntypedAtomic();
  static const Type& Invalid();

 private:
  friend class TypeBuilder;

  std::vector<runtime::SchemaPtr> schemas_;  // Owners of the borrowed text and default values.
  std::deque<Type> types_;
  std::deque<runtime::Value> defaults_;
  const Type* root_ = nullptr;
};

}  // namespace apiserver::inline v0::patch::apply
