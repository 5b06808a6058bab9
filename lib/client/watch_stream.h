#pragma once

#include <memory>

#include "apiserver/client/client.h"

namespace apiserver::inline v0::client {

// Reads the events of a response whose head has been read: one JSON document a line. `scheme` is
// that of ClientOptions.
std::unique_ptr<WatchStream> NewWatchStream(std::unique_ptr<http::ClientStream> stream,
                                            const runtime::Scheme* scheme);

}  // namespace apiserver::inline v0::client
