#pragma once  // Library-internal: other rooms include this header.

#include <string>

#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::storage::kv {

// The keys that a RangeRequest asks for, as one half-open range.
struct KeyRange {
  std::string begin;
  std::string end;
  bool unbounded = false;  // If set, `end` is ignored.

  explicit KeyRange(const RangeRequest& request) : begin(request.key) {
    if (request.end.empty()) {
      end = request.key + '\0';
    } else if (request.end == std::string_view("\0", 1)) {
      unbounded = true;
    } else {
      end = request.end;
    }
  }

  // True if `key`, which must not be below `begin`, is in the range.
  bool Contains(std::string_view key) const { return unbounded || key < end; }
};

}  // namespace apiserver::inline v0::storage::kv
