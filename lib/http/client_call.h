#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "apiserver/http/dialer.h"
#include "http/byte_queue.h"
#include "http/client_stream.h"

namespace apiserver::inline v0::http {

// One request of a client and its response, for as long as a protocol works on it. On the loop
// only.
struct ClientCall {
  // Makes a call whose body is complete.
  ClientCall(ClientRequest request, std::shared_ptr<ClientSink> told);
  // A call whose body is pushed while it is sent. `asks_for_upgrade`: the head is sent as it is,
  // and the pushed bytes follow once the server has answered 101.
  ClientCall(ClientRequestHead request, bool asks_for_upgrade, std::shared_ptr<ClientSink> told);

  // Adds to the body. kInvalid: it is longer than was announced, and the call must be given up.
  Status Push(std::string bytes);
  // Ends the body. kInvalid: it is shorter than was announced, and the call must be given up.
  Status CloseBody();
  // Tells the sink that bytes of the body have left.
  void Sent(std::size_t bytes) {
    if (bytes > 0 && sink) sink->OnSent(bytes);
  }
  // Ends the request's direction, and drops what was not sent.
  void EndWrite();
  // Ends the response's direction.
  void End(const Status& status);
  // Ends both.
  void Finish(const Status& status) {
    End(status);
    EndWrite();
  }

  ClientRequestHead head;
  const bool streamed;
  const bool upgrade;
  ByteQueue body;            // Bytes that are not sent yet.
  std::uint64_t pushed = 0;  // Bytes of the body so far.
  bool body_ended = false;   // Nothing more is pushed.
  bool write_ended = false;  // All was sent, or the rest was dropped.
  bool ended = false;        // The sink was told the end of the response.
  bool raw = false;          // After a 101: bytes go both ways as they are.
  bool cancelled = false;
  std::int32_t stream = -1;  // The HTTP/2 stream; -1: none yet, or none any more.
  // Null after the end of a call that is not streamed.
  std::shared_ptr<ClientSink> sink;
};

}  // namespace apiserver::inline v0::http
