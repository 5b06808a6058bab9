#pragma once

#include <cstddef>
#include <limits>
#include <memory_resource>
#include <string_view>
#include <vector>

#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

// Rewriting a tree of values along its schema: what a pass leaves alone stays the same value, so
// that an object which is already right costs a walk and no memory.
namespace apiserver::inline v0::runtime {

// One member or item of the container that is being rewritten.
struct Slot {
  std::string_view key;  // Empty in a list.
  Value value;
  // If set and `value` is a list or a map, it is rewritten in turn.
  const Schema* schema = nullptr;
};

using Slots = std::pmr::vector<Slot>;

// Content that is settled: the root of an object whose version has `schema`.
struct SettledRoot {
  const Schema* schema = nullptr;  // Null: nothing is known to be settled.
  Value root;
  // Returns true if the member `key` of the root is the container `value`, under the same schema.
  bool Has(std::string_view key, const Schema& member_schema, const Value& value) const;
};

// A pass must treat equal containers below the root equally: their results are shared.
class RewritePass {
 public:
  virtual ~RewritePass() = default;
  // Appends what the list or map `source` shall consist of to `slots`; sets `changed` unless that
  // is what it consists of. False ends the rewriting.
  virtual bool Open(const Schema& schema, Value source, Slots& slots, bool& changed) = 0;
};

enum class Rewritten {
  kWhole,
  kEndedByPass,  // `root` is unchanged.
  kTooLarge,     // The arena came to hold more than `arena_max` bytes; `root` is unchanged.
};
// The options of Rewrite().
struct RewriteRules {
  std::size_t arena_max = std::numeric_limits<std::size_t>::max();
  // Members of the root that this has are left as they are; the pass must be one that leaves
  // settled content untouched.
  SettledRoot settled = {};
};
// Iterative. Equal items that follow each other come to share one result, which counts as often as
// it is shared.
Rewritten Rewrite(const Schema& schema, RewritePass& pass, Arena& arena, Value& root,
                  const RewriteRules& rules = {});

}  // namespace apiserver::inline v0::runtime
