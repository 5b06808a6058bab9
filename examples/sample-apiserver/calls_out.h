#pragma once

#include "apiserver/client/http_client.h"
#include "apiserver/server/server.h"

namespace sample {

// How the server calls other servers; it counts the calls in `config`'s metrics, which are made if
// there are none.
apiserver::client::HttpClientFactory CallsOut(apiserver::server::Config& config);

}  // namespace sample
