#pragma once

#include <string>
#include <utility>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::storage::kms {

// Returns the error for a failure of the plugin, or of the way to it.
inline Status NewPluginError(std::string message) {
  return Status(Reason::kInternalError, std::move(message));
}

}  // namespace apiserver::inline v0::storage::kms
