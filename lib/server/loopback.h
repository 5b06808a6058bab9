#pragma once

#include <memory>
#include <string>

#include "apiserver/http/dialer.h"

namespace apiserver::inline v0::server {

// Returns `inner` with the server's own bearer token on every request.
std::unique_ptr<http::Connection> NewLoopbackConnection(std::unique_ptr<http::Connection> inner,
                                                        std::string token);

}  // namespace apiserver::inline v0::server
