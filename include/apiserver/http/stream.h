#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"

// Streams of bytes with back-pressure in both directions: tunnels after an upgrade, bodies of
// requests, and a client's requests with their responses.
namespace apiserver::inline v0::http {

class Headers;
struct ResponseHead;

// Receives the events of a stream. Called on the stream's loop, one call at a time; must not wait.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  // Takes the head of the response. Called first, and only on a client's stream: see
  // Connection::OpenStream. A paused stream tells it too.
  virtual void OnHead(const ResponseHead& /*head*/) {}
  // Takes the next bytes; never empty, and valid only during the call.
  virtual void OnData(std::string_view bytes) = 0;
  // Takes the trailers of the response, after the last OnData. Only on a client's stream over
  // HTTP/2, and only if there are any.
  virtual void OnTrailers(const Headers& /*trailers*/) {}
  // Called exactly once, after the last OnData. OK: the peer has ended its direction, and may still
  // be written to. Any other status: the stream is over, for this reason.
  virtual void OnEnd(const Status& status) = 0;
  // Called after Stream::Write returned false, when there is room again, or when the connection has
  // gone and needs none.
  virtual void OnRoom() {}
};

// The direction of a stream that is read. Thread-safe; no method waits. Destroying it cancels.
class ReadStream {
 public:
  virtual ~ReadStream() = default;
  // Begins to read. Called once. `sink` is kept until the stream is over.
  virtual void Start(std::shared_ptr<StreamSink> sink) = 0;
  // Stops reading: the transport holds the peer back, and at most one window of bytes (about 128
  // KiB, or 256 KiB over HTTP/2; for a client DialOptions::window_bytes) is kept here. No OnData
  // follows on the loop; on another thread a call in progress may still end. The last of Pause and
  // Resume counts.
  virtual void Pause() = 0;
  virtual void Resume() = 0;
  // Drops the bytes that were not read and ends the stream. The sink's OnEnd follows, unless it was
  // called before.
  virtual void Cancel() = 0;
};

// A stream that is written as well as read. Bytes are sent in the order of the calls. Thread-safe;
// no method waits.
class Stream : public ReadStream {
 public:
  // Takes all of `bytes` to be sent. False: enough waits already (256 KiB); the writer should stop,
  // and the sink's OnRoom tells when to go on. A peer that takes no bytes for the connection's
  // write_stall_timeout is disconnected.
  virtual bool Write(std::string bytes) = 0;
  // Sends the bytes written so far and then the end of this direction. Reading goes on; nothing may
  // be written after it. The stream is over when both directions have ended.
  virtual void CloseWrite() = 0;
};

}  // namespace apiserver::inline v0::http
