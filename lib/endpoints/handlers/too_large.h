#pragma once

#include "apiserver/base/status.h"

namespace apiserver::inline v0::endpoints {

// Returns the result of `write(true)`; if that is too large for the storage, of `write(false)`,
// which keeps no owners of fields: without them the object may be small enough. Follows create.go,
// update.go and patch.go of k8s.io/apiserver/pkg/endpoints/handlers.
template <class Write>
auto WriteWithoutOwnersIfTooLarge(Write write) -> decltype(write(true)) {
  auto result = write(true);
  if (result.ok() || result.status().reason() != Reason::kRequestEntityTooLarge) return result;
  return write(false);
}

}  // namespace apiserver::inline v0::endpoints
