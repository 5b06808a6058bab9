#pragma once  // Library-internal: other rooms include this header.

#include <utility>

#include "apiserver/base/status.h"
#include "text/read.h"

namespace apiserver::inline v0 {

// Converts the result of a parser in text to a Result; its error gets `reason`.
template <class T>
Result<T> FromText(text::Read<T> read, Reason reason) {
  if (read.ok()) return *std::move(read);
  return Status(reason, read.error().message());
}

}  // namespace apiserver::inline v0
