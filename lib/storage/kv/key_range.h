#pragma once  // Library-internal: other rooms include this header.

#include <string>

#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::storage::kv {

// The keys a RangeRequest means, as one half-open range.
struct KeyRange {
  std::string begin;
  std::string end;
  bool unbounded = false;  // `end` does not count.

  explicit KeyRange(const RangeRequest& request) : begin(request.key) {
    if (request.end.empty()) {
      end = request.key + '\0';
    } else if (request.end == std::string_view("\0", 1)) {
      unbounded = true;
    } else {
      end = request.end;
    }
  }

  // Of a key that is not below `begin`.
  bool Contains(std::string_view key) const { return unbounded || key < end; }
};

}  // namespace apiserver::inline v0::storage::kv
