#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apiserver/patch/apply/field_set.h"

namespace apiserver::inline v0::patch::apply {

// A path of which nullopt stands for every element in its place: spec, containers, any, resources.
using FieldPattern = std::vector<std::optional<PathElement>>;

// Keeps fields out of sets: those that a strategy resets, whatever clients write to them. Owns what
// it needs; immutable, cheap to copy, safe on any thread.
class FieldFilter {
 public:
  // Takes the members of `fields` out, and what is below them.
  static FieldFilter Exclude(FieldSet fields);
  // Leaves what is on the way to one of `patterns`, and what is below it; without patterns
  // everything. Where one pattern has any element and another one a certain element in the same
  // place, the first one counts alone.
  static FieldFilter Include(std::span<const FieldPattern> patterns);

  FieldSet Filter(FieldSet set, runtime::Arena& arena) const;
  // Whether this takes out whole parts, never a field but not what is below it.
  bool excludes() const { return !include_; }

 private:
  struct Node;
  struct Rep;
  class Includer;

  FieldFilter(std::shared_ptr<const Rep> rep, bool include);

  std::shared_ptr<const Rep> rep_;
  bool include_;
};

// By API version ("apps/v1").
using FieldFilters = std::map<std::string, FieldFilter, std::less<>>;

}  // namespace apiserver::inline v0::patch::apply
