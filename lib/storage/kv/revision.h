#pragma once  // Library-internal: other rooms include this header.

#include <limits>

#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::storage::kv {

// Returns the next revision. The largest one, which a client may send, is its own next: a watch
// from there waits, as any watch from the future does.
constexpr Revision After(Revision revision) {
  return revision < std::numeric_limits<Revision>::max() ? revision + 1 : revision;
}

}  // namespace apiserver::inline v0::storage::kv
