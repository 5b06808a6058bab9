#pragma once

#include "apiserver/base/status.h"
#include "apiserver/server/server.h"

namespace apiserver::inline v0::server {

// What is wrong with the settings of how a server is operated, naming field and flag.
Status CheckOperations(const Config& config);

}  // namespace apiserver::inline v0::server
