#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"

// Bytes that are read and written while they come and go, with back-pressure in both directions:
// tunnels after an upgrade, bodies of requests, a client's requests and their answers.
namespace apiserver::inline v0::http {

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
  // Called exactly once, after the last OnData. OK: the peer has sent all that it had to send, and
  // may still be written to; any other status: the stream is over, and says why.
  virtual void OnEnd(const Status& status) = 0;
  // Called after Stream::Write returned false, when there is room again, or none is needed because
  // the connection has gone.
  virtual void OnRoom() {}
};

// The direction of a stream that is read. Methods may be called from any thread and do not wait.
// Destroying it cancels.
class ReadStream {
 public:
  virtual ~ReadStream() = default;
  // Begins to read. Called once. `sink` is kept until the stream is over.
  virtual void Start(std::shared_ptr<StreamSink> sink) = 0;
  // Stops reading: the peer is held back by its transport, and at most one window of bytes (about
  // 128 KiB, 256 KiB over HTTP/2) is kept here. On the loop no OnData follows; elsewhere a call in
  // progress may still end. The last of Pause and Resume counts.
  virtual void Pause() = 0;
  virtual void Resume() = 0;
  // Gives up what has not been read. The sink's OnEnd follows, unless it was called before.
  virtual void Cancel() = 0;
};

// A stream that is written too. Bytes are sent in the order of the calls.
class Stream : public ReadStream {
 public:
  // Takes all of `bytes` to be sent. False: as much waits as should (256 KiB); the writer stops,
  // and the sink's OnRoom tells it when to go on. A peer that takes no bytes for the connection's
  // write_stall_timeout is disconnected.
  virtual bool Write(std::string bytes) = 0;
  // Sends what was written and then the end of this direction; reading goes on. Nothing may be
  // written after it. The stream is over when both directions have ended.
  virtual void CloseWrite() = 0;
};

}  // namespace apiserver::inline v0::http
