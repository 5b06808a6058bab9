#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"
#include "http/loop.h"

namespace apiserver::inline v0::http {

// What a protocol may ask of whatever carries its bytes: a Carrier, or a fuzzer's buffer.
class Wire {
 public:
  // There is output, or something else to look at: Produce() comes at the end of the turn.
  virtual void MarkDirty() = 0;
  virtual const std::shared_ptr<Loop>& loop() = 0;

 protected:
  ~Wire() = default;
};

// HTTP/1.1 or HTTP/2, server or client, as a machine from bytes to bytes. On the loop only.
class Protocol {
 public:
  enum class State : std::uint8_t {
    kOpen,
    kFinished,  // Closes once the output is out.
    kBroken,    // Closes at once.
  };

  virtual ~Protocol() = default;
  virtual void Receive(std::string_view bytes) = 0;
  // Appends output to `out` until that holds `limit` bytes or more, or there is nothing to say.
  virtual void Produce(std::string& out, std::size_t limit) = 0;
  virtual State state() const = 0;
  // False: what arrives is left in the socket.
  virtual bool wants_read() const = 0;
  // Whether a close by us waits for the peer's, so that unread input does not undo our last words.
  virtual bool linger() const { return false; }
  // The peer has sent its last byte. True: it may still be written to, and the connection ends with
  // state(). False: the connection is closed.
  virtual bool OnReadEnd() { return false; }
  // Whether the peer is to be told, once all output is out, that no more comes.
  virtual bool write_ended() const { return false; }
  // The connection is closed when this passes; nullopt: not because of time.
  virtual std::optional<Clock::Monotonic> deadline() const = 0;
  // When Produce() is to be called although nothing has happened.
  virtual std::optional<Clock::Monotonic> wake_at() const { return std::nullopt; }
  // Whether somebody waits for the peer to take bytes; asked rarely, may look at every stream.
  virtual bool output_blocked() const { return false; }
  // No new requests; finishes when those in progress are answered.
  virtual void Drain() = 0;
  // The connection is gone. The last call.
  virtual void OnClosed(const Status& why) = 0;
};

}  // namespace apiserver::inline v0::http
