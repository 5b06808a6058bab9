#pragma once

#include <cstddef>
#include <optional>

#include "apiserver/base/status.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

// metav1.Status as content: the form of errors and of some successes on the wire.
namespace apiserver::inline v0::meta {

// An approximate limit of the JSON of every error response. The sources of errors have their own
// limits; this is the last one.
inline constexpr std::size_t kStatusBytesMax = std::size_t{320} << 10;

// Returns `status`, cut to kStatusBytesMax if it is larger: the front of its texts, the first
// causes, and "and 7 more".
Status Bounded(const Status& status);

// Returns the whole object, kind and apiVersion included, its members in Go's order. `status` must
// be an error. Text is copied into `arena`, as much of it as Bounded() lets pass.
runtime::Value StatusToValue(const Status& status, runtime::Arena& arena);
// Returns `status: Success`, the answer of a delete. A code of 0 is left out, as are details that
// are null or empty.
runtime::Value SuccessToValue(const StatusDetails* details, int code, runtime::Arena& arena);

// Returns the error in `content` (kind and apiVersion included). nullopt: it is no Status, or not
// one of a failure.
std::optional<Status> StatusFromValue(runtime::Value content);

}  // namespace apiserver::inline v0::meta
