#pragma once  // Library-internal: other rooms include this header.

#include <functional>
#include <string>

#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::server::debug {

// Serves `handler` at a path, which is a prefix if it ends in '/'. `reads_body`: the handler looks
// at the request's body. kConflict: the path is taken.
using Place = std::function<Status(std::string path, http::Handler handler, bool reads_body)>;

}  // namespace apiserver::inline v0::server::debug
