#pragma once

#include <memory>

#include "apiserver/http/dialer.h"
#include "apiserver/http/stream.h"
#include "http/client_link.h"

namespace apiserver::inline v0::http {

// The bytes that follow a request's head.
enum class DuplexKind : std::uint8_t {
  kBody,     // The request's body, framed as the head says.
  kUpgrade,  // Raw bytes, once the server has switched protocols.
};

// Checks `head`, begins a call with it on the connection of `link`, and returns the call's handle.
// kInvalid: the head cannot be sent as it is. kMethodNotAllowed: an upgrade over HTTP/2.
Result<std::unique_ptr<Stream>> OpenDuplex(std::shared_ptr<ClientLink> link, ClientRequestHead head,
                                           DuplexKind kind);

}  // namespace apiserver::inline v0::http
