#pragma once

#include <cstddef>
#include <optional>

#include "apiserver/base/status.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

// metav1.Status as content: what errors and some successes look like on the wire.
namespace apiserver::inline v0::meta {

// No error's answer has more JSON than about that: what makes errors has limits of its own, and
// this is the last of them.
inline constexpr std::size_t kStatusBytesMax = std::size_t{320} << 10;

// `status`, or what is left of it when it is cut to kStatusBytesMax: the front of its texts, the
// first causes, and "and 7 more".
Status Bounded(const Status& status);

// The whole object, kind and apiVersion included, members in Go's order. `status` must be an error.
// Text is copied into `arena`, no more of it than Bounded() lets pass.
runtime::Value StatusToValue(const Status& status, runtime::Arena& arena);
// `status: Success`, as a delete answers. A code of 0 and details that are null are left out.
runtime::Value SuccessToValue(const StatusDetails* details, int code, runtime::Arena& arena);

// The error that `content` (kind and apiVersion included) tells; nullopt: it is no Status, or none
// of a failure.
std::optional<Status> StatusFromValue(runtime::Value content);

}  // namespace apiserver::inline v0::meta
