#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/function.h"
#include "apiserver/http/exchange.h"

// The server's side of a WebSocket (RFC 6455) on a request that asks for one: messages in and out.
// Fragments, masks, pings and the closing handshake are handled here. Extensions (compression) are
// not offered. HTTP/1.1 only.
namespace apiserver::inline v0::http {

// One message, put together from its fragments.
struct WebSocketMessage {
  std::string data;
  bool binary = false;  // Else text, which must be UTF-8.
};

// Close codes of RFC 6455, 7.4.1, that a host may want to send.
inline constexpr int kWebSocketNormal = 1000;
inline constexpr int kWebSocketGoingAway = 1001;
inline constexpr int kWebSocketPolicyViolation = 1008;
inline constexpr int kWebSocketInternalError = 1011;

// One open WebSocket. Thread-safe; no method blocks. It may be kept longer than its connection
// lives; its methods do nothing then.
class WebSocket {
 public:
  virtual ~WebSocket() = default;
  // Sends a message. It is dropped if either side has begun to close.
  virtual void Send(WebSocketMessage message) = 0;
  // Closes, after everything that was sent before. Only the first call counts. A `reason` is cut to
  // 123 bytes.
  virtual void Close(int code, std::string reason) = 0;
  // Stops taking the peer's messages, and holds the peer back. Called in OnMessage, the messages
  // that have come together with this one still follow: at most one read of the socket. While it
  // lasts, a silent peer is not cut off, and its Close is not seen. The last of Pause and Resume
  // counts.
  virtual void Pause() = 0;
  virtual void Resume() = 0;
  // Returns the subprotocol that was agreed on. Empty: none.
  virtual const std::string& protocol() const = 0;
};

// Takes the messages of WebSocketHandler::Next, on the same thread; no method blocks. room() says
// how many bytes are welcome now.
class WebSocketWriter {
 public:
  virtual ~WebSocketWriter() = default;
  virtual std::size_t room() const = 0;
  virtual void Write(std::string_view data, bool binary) = 0;  // Sends a message.
};

// A host's side of a WebSocket. All methods are called on the exchange's loop, one at a time, and
// must not wait. Destroyed there, after OnClose.
class WebSocketHandler {
 public:
  virtual ~WebSocketHandler() = default;
  // Called first. `socket` may be kept, to send later and from other threads.
  virtual void OnOpen(const std::shared_ptr<WebSocket>& /*socket*/) {}
  // Takes one message of the peer.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is the host's to keep
  virtual void OnMessage(WebSocket& /*socket*/, WebSocketMessage /*message*/) {}
  // Makes the messages of a stream, as BodySource::Next does. It is asked only while the peer takes
  // what it is sent, so that nothing piles up. kEnd closes with kWebSocketNormal, kAbort cuts the
  // connection.
  virtual Pull Next(WebSocketWriter& /*out*/, const Waker& /*waker*/) { return Pull::kWait; }
  // Called once, last, if OnOpen was called. 1005: the peer gave no code; 1006: the connection
  // broke.
  virtual void OnClose(int /*code*/, const std::string& /*reason*/) {}
};

// Limits and subprotocols of a WebSocket.
struct WebSocketOptions {
  // The subprotocols that the host speaks. The first that the client offers and that is listed here
  // is agreed on; a client that offers only others is answered 403. "" stands for a client that
  // offers none. Empty: offers are ignored, and none is agreed on.
  std::vector<std::string> protocols = {};
  // The longest message that is accepted. A longer one closes with 1009.
  std::size_t message_bytes_max = std::size_t{1} << 20;
  // Limits what Send() piles up while the peer does not read. More cuts the connection. Answers to
  // messages pile up less: while 256 KiB wait, the peer's messages are not read.
  std::size_t unsent_bytes_max = std::size_t{16} << 20;
  // The interval of pings. A peer that sends nothing, not even the answers to pings, is cut
  // off after two intervals. Zero: there are no pings.
  std::chrono::milliseconds ping_interval = std::chrono::milliseconds(0);
  // The time to wait for the peer's Close before the connection is cut.
  std::chrono::milliseconds close_timeout = std::chrono::seconds(5);
};

// Returns whether this is a GET with `Connection: Upgrade` and `Upgrade: websocket`. Follows
// k8s.io/apimachinery wsstream.IsWebSocketRequest.
bool IsWebSocketRequest(const Request& request);
// Returns the subprotocols that Sec-WebSocket-Protocol lists, in order.
std::vector<std::string> OfferedWebSocketProtocols(const Request& request);

// Tells how AcceptWebSocket would refuse the request, for a host that has something to do before it
// accepts. OK: it would not. `protocols` are those of WebSocketOptions.
Status CheckWebSocketRequest(const Request& request, const std::vector<std::string>& protocols);

// Answers the request with a WebSocket that `handler` serves until either side closes it, or the
// exchange's Context is cancelled (1001 when the server stops, else 1000). kBadRequest: the request
// asks for no WebSocket, or not in the words of RFC 6455; kForbidden: see `protocols`.
Step AcceptWebSocket(Exchange& exchange, WebSocketOptions options,
                     std::unique_ptr<WebSocketHandler> handler);
// Does the same for a host that only answers messages; `on_message` is called as
// WebSocketHandler::OnMessage is, on the loop, and must not block.
Step AcceptWebSocket(Exchange& exchange, WebSocketOptions options,
                     UniqueFunction<void(WebSocket&, WebSocketMessage)> on_message);

}  // namespace apiserver::inline v0::http
