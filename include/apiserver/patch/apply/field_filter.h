#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apiserver/patch/apply/field_set.h"

namespace apiserver::inline v0::patch::apply {

// A path in which nullopt matches every element: spec, containers, any, resources.
using FieldPattern = std::vector<std::optional<PathElement>>;

// Removes fields from sets: those that a strategy resets, whatever clients write to them. Owns its
// data; immutable, cheap to copy, safe on any thread.
class FieldFilter {
 public:
  // Removes the members of `fields` and everything below them.
  static FieldFilter Exclude(FieldSet fields);
  // Keeps only fields that lie on the way to one of `patterns`, or below it; without patterns
  // everything. If one pattern has any element where another has a certain one, only the first of
  // the two counts.
  static FieldFilter Include(std::span<const FieldPattern> patterns);

  // Returns the filtered set. It shares what it can with `set` and otherwise lives in `arena`.
  FieldSet Filter(FieldSet set, runtime::Arena& arena) const;
  // True for Exclude(): such a filter removes a field only together with everything below it.
  bool excludes() const { return !include_; }

 private:
  struct Node;
  struct Rep;
  class Includer;

  FieldFilter(std::shared_ptr<const Rep> rep, bool include);

  std::shared_ptr<const Rep> rep_;
  bool include_;
};

// Filters by API version ("apps/v1").
using FieldFilters = std::map<std::string, FieldFilter, std::less<>>;

}  // namespace apiserver::inline v0::patch::apply
