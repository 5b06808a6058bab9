#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "apiserver/runtime/object.h"
#include "apiserver/runtime/schema_node.h"
#include "apiserver/runtime/value.h"

// Reads an object's content by its Schema, so that a misspelt path is found by the first test that
// reads it. A Value reads a path that does not exist as null, and cannot know better: in 16 bytes
// there is no room for its Schema.
namespace apiserver::inline v0::runtime {

// A place in a Schema: what a checked view carries besides its Value.
class SchemaPlace {
 public:
  // The root of an object. The place is valid as long as the object's kind.
  explicit SchemaPlace(const Object& object);
  // Return the place of a member and of a list's items. Throw std::logic_error if the Schema has no
  // such place, with the kind, the path and the fields that there are.
  SchemaPlace Member(std::string_view name) const;
  SchemaPlace Item() const;

 private:
  SchemaPlace(const Schema* schema, const Object* object, std::string path)
      : schema_(schema), object_(object), path_(std::move(path)) {}

  const Schema* schema_;  // Null: anything may be here and below.
  const Object* object_;  // Named in messages.
  std::string path_;
};

// A view of an object's content, or of a part of it, for reading: it has the reading methods of
// Value. Valid as long as the object, and until the object is changed. One thread at a time.
//
//   const runtime::View pet(object);
//   if (pet["spec"]["replicas"].AsInt() > 9) …
//
// Use it under the name View: a checked one in builds with assertions, and otherwise one that is
// nothing but a Value. The checked one throws std::logic_error when it is asked for a member that
// no object of the kind has: reading Pet zoo.example.com/v1: spec.replica: there is no field
// "replica" (there are species, replicas). Thrown by a strategy or a handler, that is answered 500
// and logged. An absent member that the Schema has reads as null in both.
template <bool kChecked>
class BasicView {
 public:
  explicit BasicView(const Object& object) : value_(object.root()), place_(object) {}

  // Returns a member of a map, or an item of a list. Null views as in Value.
  BasicView operator[](std::string_view name) const {
    return BasicView(value_[name], place_.Member(name));
  }
  BasicView operator[](const char* name) const { return (*this)[std::string_view(name)]; }
  BasicView at(std::size_t index) const { return BasicView(value_.at(index), place_.Item()); }

  // Returns what is viewed, without its Schema.
  Value value() const { return value_; }
  bool is_null() const { return value_.is_null(); }
  std::size_t size() const { return value_.size(); }
  bool AsBool(bool fallback = false) const { return value_.AsBool(fallback); }
  std::int64_t AsInt(std::int64_t fallback = 0) const { return value_.AsInt(fallback); }
  double AsDouble(double fallback = 0) const { return value_.AsDouble(fallback); }
  std::string_view AsString() const { return value_.AsString(); }

 private:
  // Stands for a SchemaPlace where nothing is checked.
  struct NoPlace {
    NoPlace() = default;
    explicit NoPlace(const Object& /*object*/) {}
    NoPlace Member(std::string_view /*name*/) const { return {}; }
    NoPlace Item() const { return {}; }
  };
  using Place = std::conditional_t<kChecked, SchemaPlace, NoPlace>;

  BasicView(Value value, Place place) : value_(value), place_(std::move(place)) {}

  Value value_;
  [[no_unique_address]] Place place_;
};

#ifdef NDEBUG
using View = BasicView<false>;
#else
using View = BasicView<true>;
#endif

}  // namespace apiserver::inline v0::runtime
