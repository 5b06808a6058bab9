#pragma once

#include <functional>
#include <memory>
#include <string>

#include "http/carrier.h"
#include "http/protocol.h"

namespace apiserver::inline v0::http {

// A plain connection before its first bytes have told HTTP/2 with prior knowledge from HTTP/1.1.
// `make` is called once with the answer.
std::unique_ptr<Protocol> NewPrefaceSniffer(
    Carrier& carrier, Clock::Monotonic deadline,
    std::function<std::unique_ptr<Protocol>(bool http2)> make);

}  // namespace apiserver::inline v0::http
