#pragma once  // Library-internal: other rooms include this header.

#include <utility>

#include "apiserver/base/status.h"
#include "text/read.h"

namespace apiserver::inline v0 {

// Makes a Result of what reading a text gave: Go's words become an error for `reason`.
template <class T>
Result<T> FromText(text::Read<T> read, Reason reason) {
  if (read.ok()) return *std::move(read);
  return Status(reason, read.error().message());
}

}  // namespace apiserver::inline v0
