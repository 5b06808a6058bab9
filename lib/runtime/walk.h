#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::runtime {

// Walks a tree of values along its schema in document order. Iterative.
class Walk {
 public:
  struct Frame {
    const Schema* schema;
    Value value;
    std::size_t next = 0;  // One past the child that is being visited.
  };

  // `visit(parent schema, key, child)` (the key is empty in a list) returns the schema by which to
  // go down into the child, null to pass it by. It may call Path() and frames().
  template <class Visit>
  void Run(const Schema& schema, Value root, Visit visit) {
    frames_.push_back({&schema, root});
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.next == frame.value.members().size() + frame.value.items().size()) {
        frames_.pop_back();
        continue;
      }
      const std::size_t at = frame.next++;
      const bool map = frame.value.is_map();
      const Value child = map ? frame.value.members()[at].value : frame.value.items()[at];
      const Schema* const down =
          visit(*frame.schema, map ? frame.value.members()[at].key : std::string_view(), child);
      if (down != nullptr && (child.is_map() || child.is_list())) frames_.push_back({down, child});
    }
  }

  // Returns the path of the visited child: "spec.ports[0].name".
  std::string Path() const;
  const std::vector<Frame>& frames() const { return frames_; }

 private:
  std::vector<Frame> frames_;
};

}  // namespace apiserver::inline v0::runtime
