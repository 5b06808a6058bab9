#pragma once

#include <cstddef>
#include <string_view>

#include "apiserver/base/field_path.h"

namespace apiserver::inline v0::apiextensions {

// A path that is written only if there is an error: a chain of steps, each on the stack of the
// function that took it. A Place refers to the one that it was made from, which must outlive it.
class Place {
 public:
  // The place of a path. `root` must outlive it.
  explicit Place(const field::Path& root) : root_(&root) {}

  // Appends a field: "spec" becomes "spec.name".
  Place Child(std::string_view name) const { return {*this, Step::kChild, name, 0}; }
  // Appends a map's key.
  Place Key(std::string_view key) const { return {*this, Step::kKey, key, 0}; }
  // Appends a list's index.
  Place Index(std::size_t index) const { return {*this, Step::kIndex, {}, index}; }

  field::Path ToPath() const;

 private:
  enum class Step { kRoot, kChild, kKey, kIndex };

  Place(const Place& parent, Step step, std::string_view name, std::size_t index)
      : parent_(&parent), step_(step), name_(name), index_(index) {}

  const field::Path* root_ = nullptr;  // Set in the root alone.
  const Place* parent_ = nullptr;
  Step step_ = Step::kRoot;
  std::string_view name_;
  std::size_t index_ = 0;
};

}  // namespace apiserver::inline v0::apiextensions
