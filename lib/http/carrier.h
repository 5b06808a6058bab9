#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/function.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/status.h"
#include "http/fd_watch.h"
#include "http/loop.h"
#include "http/protocol.h"
#include "http/socket.h"
#include "http/timers.h"

namespace apiserver::inline v0::http {

// Carries a protocol's bytes over a socket: handshake, reads, one write per turn, time limits,
// close. Keeps itself alive while it waits for the socket. Used on its loop only.
class Carrier final : public Wire,
                      public Flushable,
                      public FdEvents,
                      public std::enable_shared_from_this<Carrier> {
 public:
  struct Setup {
    std::shared_ptr<Loop> loop;
    int fd = -1;  // Owned from now on.
    // The context of the handshake that comes before the first byte. Null: no TLS.
    SslContext tls = {};
    bool server = true;
    bool connecting = false;       // The socket is not connected yet.
    std::string server_name = {};  // The name that a client verifies under TLS.
    // The time for connecting and the handshake together.
    std::chrono::milliseconds handshake_timeout{};
    // A peer that takes no bytes for this long while some wait is disconnected.
    std::chrono::milliseconds write_stall_timeout{};
    // Counts output that the socket has not taken. Null: it is not counted.
    std::shared_ptr<MemoryBudget> memory = {};
    // Called once, when the handshake is done. Null result: the connection is closed.
    UniqueFunction<std::unique_ptr<Protocol>(Carrier&)> make_protocol = {};
    // Called when the handshake fails or does not come, but not when this side ends it.
    UniqueFunction<void(const Status&)> on_handshake_error = {};
    // Called once, last.
    UniqueFunction<void(Carrier&, const Status&)> on_closed = {};
  };
  explicit Carrier(Setup setup);
  ~Carrier() override;

  // Begins the handshake, or to connect.
  void Start();
  // Lets the protocol finish its requests; a handshake in progress ends.
  void Drain();
  // Closes at once. Must not be called from within a call of the protocol.
  void Close(const Status& why);
  // Replaces the protocol by `next`, which receives `received` first. Called from within a call of
  // the protocol, which is destroyed when that call is over.
  void ReplaceProtocol(std::unique_ptr<Protocol> next, std::string received);

  Socket& socket() { return socket_; }
  bool closed() const { return phase_ == Phase::kClosed; }
  // Returns whether TCP has connected. The handshake may still be going on.
  bool connected() const { return !setup_.connecting; }

  void MarkDirty() override;
  void MarkNews() override;
  const std::shared_ptr<Loop>& loop() override { return setup_.loop; }
  void Flush() override;
  void FlushTurn() override;
  void OnReadable() override;
  void OnWritable() override;

 private:
  // kLingering: the output is out, and input is dropped until the peer closes.
  enum class Phase { kHandshake, kOpen, kLingering, kClosed };
  // One timer for all time limits, armed for the earliest.
  struct Timer final : Timers::Entry {
    explicit Timer(Carrier& c) : carrier(c) {}
    void Fire() override { carrier.OnTimer(); }
    Carrier& carrier;
  };

  // Runs `call`; an exception closes this connection alone.
  template <class Call>
  void Guard(const Call& call);
  // The bodies of the public calls, under Guard.
  void StartNow();
  void FlushNow();
  void ReadNow();
  void WriteNow();
  // Goes on with connecting and the handshake.
  void Handshake();
  void FailHandshake(const Status& why);
  // The error of a broken socket.
  Status Lost() const;
  // Read for as long as the protocol wants, one turn's share at the most.
  void ReadSome();
  void ReadAndDrop();
  // Writes what the protocol produces, one turn's share at the most.
  void WriteSome();
  // Notes that the peer takes no more bytes. What it has sent is read before the connection closes.
  void LoseOutput();
  // Notes the result of a write. False: the socket takes no more, or is lost.
  bool Wrote(const IoResult& written);
  // Charges `bytes` for output that the socket has not taken, instead of what was charged before.
  void ChargeUnsent(std::size_t bytes);
  // Looks at the protocol's state after a turn: closes, ends a direction, or reads again.
  void SettleTurn();
  void Linger();
  // Begin a wait for the socket, unless one is going on.
  void AwaitReadable();
  void AwaitWritable();
  void UpdateTimer();
  std::optional<Clock::Monotonic> NextDeadline();
  void OnTimer();

  Setup setup_;
  Socket socket_;
  Timer timer_;
  std::unique_ptr<Protocol> protocol_;
  std::unique_ptr<Protocol> next_protocol_;  // Set by ReplaceProtocol.
  std::string replayed_;                     // Its first input.
  Phase phase_ = Phase::kHandshake;
  std::size_t charged_ = 0;  // For output that the socket has not taken.
  bool dirty_ = false;       // Flush() is due at the end of the turn.
  bool news_ = false;        // The same, when its turn comes.
  bool has_turn_ = false;    // FlushTurn() comes, whether it is due or not.
  bool awaits_readable_ = false;
  bool awaits_writable_ = false;
  bool read_again_ = false;  // There may be input that the kernel does not know of.
  bool drain_ = false;
  bool read_ended_ = false;      // The peer has ended its direction.
  bool write_shut_ = false;      // This side has.
  Status write_lost_;            // Not OK: a write has failed, and the rest of the input is read.
  bool blocked_before_ = false;  // The protocol was blocked when the timer fired last.
  Clock::Monotonic armed_for_;
  Clock::Monotonic begun_;
  Clock::Monotonic phase_deadline_;
  std::size_t lingered_bytes_ = 0;
  Clock::Monotonic progress_;  // When the peer last took bytes, or had none to take.
};

}  // namespace apiserver::inline v0::http
