#pragma once

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

class RewritePass {
 public:
  virtual ~RewritePass() = default;
  // Appends what the list or map `source` shall consist of to `slots`; sets `changed` unless that
  // is what it consists of. False ends the rewriting.
  virtual bool Open(const Schema& schema, Value source, std::vector<Slot>& slots,
                    bool& changed) = 0;
};

// False when the pass ended it; `root` is unchanged then. Iterative.
bool Rewrite(const Schema& schema, RewritePass& pass, Arena& arena, Value& root);

}  // namespace apiserver::inline v0::runtime
