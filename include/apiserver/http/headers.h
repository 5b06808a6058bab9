#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apiserver::inline v0::http {

// Header fields in the order in which they came or were added. Names keep their case, and compare
// without regard to it. Holds few fields, so that searches are linear.
class Headers {
 public:
  // One field. The value has no spaces at its ends if it was read from a message.
  struct Field {
    std::string name;
    std::string value;
  };

  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  // Returns the first value of `name`. Empty: it is absent, or its value is empty; see Has.
  std::string_view Get(std::string_view name) const;
  bool Has(std::string_view name) const;
  // Returns all values of `name` in order.
  std::vector<std::string_view> GetAll(std::string_view name) const;
  // Appends a field.
  void Add(std::string name, std::string value);
  // Makes room for so many fields without moving them.
  void Reserve(std::size_t count) { fields_.reserve(count); }
  // Replaces all values of `name`.
  void Set(std::string name, std::string value);
  // Removes every field `name`; returns how many there were.
  std::size_t Remove(std::string_view name);
  // Gives back unused room, for headers that are kept long.
  void ShrinkToFit() { fields_.shrink_to_fit(); }
  // Removes every field whose name begins with `prefix`.
  std::size_t RemovePrefix(std::string_view prefix);

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }

 private:
  std::vector<Field> fields_;
};

// Returns whether two header names, or two tokens of a header's value, are the same.
bool EqualIgnoreCase(std::string_view a, std::string_view b);

}  // namespace apiserver::inline v0::http
