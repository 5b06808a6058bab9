#pragma once

#include <string>
#include <utility>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::storage::kms {

// What a plugin did wrong, or what went wrong on the way to it.
inline Status NewPluginError(std::string message) {
  return Status(Reason::kInternalError, std::move(message));
}

}  // namespace apiserver::inline v0::storage::kms
