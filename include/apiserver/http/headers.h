#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apiserver::inline v0::http {

// Header fields in the order they came or were added; names compare without regard to case.
class Headers {
 public:
  struct Field {
    std::string name;
    std::string value;
  };

  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  // The first value; empty when absent (see Has).
  std::string_view Get(std::string_view name) const;
  bool Has(std::string_view name) const;
  std::vector<std::string_view> GetAll(std::string_view name) const;
  void Add(std::string name, std::string value);
  // Room for so many without moving.
  void Reserve(std::size_t count) { fields_.reserve(count); }
  // Replaces all values of `name`.
  void Set(std::string name, std::string value);
  // Returns how many there were.
  std::size_t Remove(std::string_view name);
  // Gives back the room for fields that were not added: for what is kept long.
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

// Whether two header names, or two tokens of a header's value, are the same.
bool EqualIgnoreCase(std::string_view a, std::string_view b);

}  // namespace apiserver::inline v0::http
