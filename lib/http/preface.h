#pragma once

#include <functional>
#include <memory>
#include <string>

#include "http/carrier.h"
#include "http/protocol.h"

namespace apiserver::inline v0::http {

// The protocol of a plain connection until its first bytes tell HTTP/2 with prior knowledge from
// HTTP/1.1. Calls `make` once with the answer and replaces itself by the result. The connection is
// closed at `deadline` if the bytes have not come.
std::unique_ptr<Protocol> NewPrefaceSniffer(
    Carrier& carrier, Clock::Monotonic deadline,
    std::function<std::unique_ptr<Protocol>(bool http2)> make);

}  // namespace apiserver::inline v0::http
