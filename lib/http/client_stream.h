#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/http/dialer.h"

namespace apiserver::inline v0::http {

// What a transport tells about one response. On its loop, in this order; OnEnd exactly once, last.
class ClientSink {
 public:
  virtual ~ClientSink() = default;
  virtual void OnHead(ResponseHead head) = 0;
  // Returns how much of it is consumed at once; the rest is announced by ClientControl::Consume.
  virtual std::size_t OnData(std::string_view bytes) = 0;
  virtual void OnEnd(const Status& status) = 0;
};

// What the reader of a response may ask of the transport. Any thread; harmless after the end.
class ClientControl {
 public:
  virtual ~ClientControl() = default;
  virtual void Cancel() = 0;
  virtual void Consume(std::size_t bytes) = 0;
  virtual void Write(std::string bytes) = 0;
};

std::shared_ptr<ClientSink> NewObserverSink(std::shared_ptr<StreamObserver> observer);

// A response kept for a thread that waits for it: the two ends of ClientStream.
class StreamBuffer;
std::shared_ptr<StreamBuffer> NewStreamBuffer(std::size_t bytes_max);
std::shared_ptr<ClientSink> SinkOf(const std::shared_ptr<StreamBuffer>& buffer);
std::unique_ptr<ClientStream> NewBufferedStream(std::shared_ptr<StreamBuffer> buffer,
                                                std::unique_ptr<ClientControl> control);

// Opens, reads all, closes.
Result<ClientResponse> CallOver(Connection& connection, const Context& ctx,
                                const ClientRequest& request);

}  // namespace apiserver::inline v0::http
