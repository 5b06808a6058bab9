#pragma once

#include "apiserver/base/status.h"
#include "apiserver/server/server.h"

namespace apiserver::inline v0::server {

// Checks the settings of how a server is operated; errors name field and flag.
Status CheckOperations(const Config& config);

}  // namespace apiserver::inline v0::server
