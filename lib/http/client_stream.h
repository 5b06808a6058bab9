#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/http/dialer.h"

namespace apiserver::inline v0::http {

// Receives what a transport has to tell about one call. Called on the transport's loop.
class ClientSink {
 public:
  virtual ~ClientSink() = default;
  // The response: OnHead, any number of OnData, perhaps OnTrailers, and OnEnd exactly once. OnEnd
  // may come at any time.
  virtual void OnHead(ResponseHead head) = 0;
  // Returns how many of the bytes are consumed; the rest is reported by ClientControl::Consume.
  virtual std::size_t OnData(std::string_view bytes) = 0;
  // NOLINTNEXTLINE(performance-unnecessary-value-param): sinks that keep them move them
  virtual void OnTrailers(Headers /*trailers*/) {}
  virtual void OnEnd(const Status& status) = 0;
  // The request: bytes of its body were handed to the connection, or dropped.
  virtual void OnSent(std::size_t /*bytes*/) {}
  // The body was sent to its end, or the rest of it was dropped. Exactly once.
  virtual void OnWriteEnd() {}
};

// Tells the transport what the reader of a response wants. Thread-safe; without effect after the
// end of the call.
class ClientControl {
 public:
  virtual ~ClientControl() = default;
  // Gives the call up.
  virtual void Cancel() = 0;
  // Reports bytes as read that OnData did not count as consumed.
  virtual void Consume(std::size_t bytes) = 0;
  // Sends raw bytes after a 101.
  virtual void Write(std::string bytes) = 0;
};

// Makes a sink that consumes everything at once and tells `observer`.
std::shared_ptr<ClientSink> NewObserverSink(std::shared_ptr<StreamObserver> observer);

// A response that is kept for a thread that waits for it: the two ends of a ClientStream. `memory`
// counts what is kept, see DialOptions::memory.
class StreamBuffer;
std::shared_ptr<StreamBuffer> NewStreamBuffer(std::size_t bytes_max,
                                              std::shared_ptr<MemoryBudget> memory = nullptr);
std::shared_ptr<ClientSink> SinkOf(const std::shared_ptr<StreamBuffer>& buffer);
std::unique_ptr<ClientStream> NewBufferedStream(std::shared_ptr<StreamBuffer> buffer,
                                                std::unique_ptr<ClientControl> control);

// Opens a stream for `request`, reads its response to the end and closes it.
Result<ClientResponse> CallOver(Connection& connection, const Context& ctx,
                                const ClientRequest& request);

}  // namespace apiserver::inline v0::http
