#pragma once  // Library-internal: other rooms include this header.

#include <algorithm>

#include "apiserver/http/dialer.h"

namespace apiserver::inline v0::http {

// Returns whether an error of a call says that the server has certainly not begun to work on it.
inline bool HasNotBegun(const Status& error) {
  const StatusDetails* const details = error.details();
  return details != nullptr &&
         std::any_of(details->causes.begin(), details->causes.end(),
                     [](const StatusCause& cause) { return cause.reason == kNotBegunCause; });
}

}  // namespace apiserver::inline v0::http
