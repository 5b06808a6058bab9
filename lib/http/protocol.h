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

// A protocol's view of its transport: a Carrier, or a fuzzer's buffer.
class Wire {
 public:
  // Asks for Produce() at the end of the turn, because there is output or the state has changed.
  virtual void MarkDirty() = 0;
  // Asks for Produce() behind the connections that have asked before, as there may be thousands:
  // for bodies that have something new.
  virtual void MarkNews() { MarkDirty(); }
  virtual const std::shared_ptr<Loop>& loop() = 0;

 protected:
  ~Wire() = default;
};

// HTTP/1.1 or HTTP/2, server or client, as a machine from bytes to bytes: it knows no socket, so
// that fuzzers drive it from memory. Used on the loop only.
class Protocol {
 public:
  enum class State : std::uint8_t {
    kOpen,
    kFinished,  // Closes once the output is out.
    kBroken,    // Closes at once.
  };

  virtual ~Protocol() = default;
  // Takes the next bytes of the peer.
  virtual void Receive(std::string_view bytes) = 0;
  // Appends output to `out` until that holds `limit` bytes or more, there is none, or what follows
  // must be a write of its own. There is none if nothing was appended.
  virtual void Produce(std::string& out, std::size_t limit) = 0;
  virtual State state() const = 0;
  // Returns false if bytes that arrive should stay in the socket.
  virtual bool wants_read() const = 0;
  // Returns whether a close by this side waits for the peer's. Unread input would make the kernel
  // send a reset, which destroys output that the peer has not read.
  virtual bool linger() const { return false; }
  // Called when the peer has ended its direction. True: it may still be written to, and the
  // connection ends with state(). False: the connection is closed.
  virtual bool OnReadEnd() { return false; }
  // Returns whether this side's direction ends once all output is out.
  virtual bool write_ended() const { return false; }
  // Returns when the connection is closed for taking too long. nullopt: there is no limit now.
  virtual std::optional<Clock::Monotonic> deadline() const = 0;
  // Returns when Produce() should be called although nothing has happened. nullopt: never.
  virtual std::optional<Clock::Monotonic> wake_at() const { return std::nullopt; }
  // Returns whether bytes wait for the peer's window. Called rarely; may look at every stream.
  virtual bool output_blocked() const { return false; }
  // Takes no new requests, and finishes when those in progress are answered.
  virtual void Drain() = 0;
  // Called last, when the connection has gone.
  virtual void OnClosed(const Status& why) = 0;
};

}  // namespace apiserver::inline v0::http
