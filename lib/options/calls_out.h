#pragma once

#include "apiserver/client/http_client.h"
#include "apiserver/server/server.h"

namespace apiserver::inline v0::options {

// Returns the factory for calls to other servers. Calls are counted in the metrics of `config`,
// which are made if there are none.
client::HttpClientFactory CallsOut(server::Config& config);

}  // namespace apiserver::inline v0::options
