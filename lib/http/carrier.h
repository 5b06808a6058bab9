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
// close. On its loop only.
class Carrier final : public Wire,
                      public Flushable,
                      public FdEvents,
                      public std::enable_shared_from_this<Carrier> {
 public:
  struct Setup {
    std::shared_ptr<Loop> loop;
    int fd = -1;
    // Before the first byte: a client, or a server without TLS. Null: no TLS.
    SslContext tls = {};
    bool server = true;
    bool connecting = false;       // The socket is not connected yet.
    std::string server_name = {};  // Of a client under TLS.
    std::chrono::milliseconds handshake_timeout{};
    std::chrono::milliseconds write_stall_timeout{};
    // Where output counts that the socket has not taken; null: nowhere.
    std::shared_ptr<MemoryBudget> memory = {};
    // Called when the handshake is done.
    UniqueFunction<std::unique_ptr<Protocol>(Carrier&)> make_protocol = {};
    // Called when the handshake fails, or does not come; not when we end it.
    UniqueFunction<void(const Status&)> on_handshake_error = {};
    // Called once, last.
    UniqueFunction<void(Carrier&, const Status&)> on_closed = {};
  };
  explicit Carrier(Setup setup);
  ~Carrier() override;

  void Start();
  void Drain();
  // Not from within a call of the protocol's.
  void Close(const Status& why);
  // From within a call of the protocol's; it is destroyed when that is over.
  void ReplaceProtocol(std::unique_ptr<Protocol> next, std::string received);

  Socket& socket() { return socket_; }
  bool closed() const { return phase_ == Phase::kClosed; }
  bool connected() const { return !setup_.connecting; }

  void MarkDirty() override;
  const std::shared_ptr<Loop>& loop() override { return setup_.loop; }
  void Flush() override;
  void OnReadable() override;
  void OnWritable() override;

 private:
  enum class Phase { kHandshake, kOpen, kLingering, kClosed };
  struct Timer final : Timers::Entry {
    explicit Timer(Carrier& c) : carrier(c) {}
    void Fire() override { carrier.OnTimer(); }
    Carrier& carrier;
  };

  template <class Call>
  void Guard(const Call& call);
  void StartNow();
  void FlushNow();
  void ReadNow();
  void WriteNow();
  void Handshake();
  void FailHandshake(const Status& why);
  Status Lost() const;
  void ReadSome();
  void ReadAndDrop();
  void WriteSome();
  bool WritePending();
  void ChargePending(std::size_t bytes);
  bool WriteOut(std::string_view& bytes);
  void SettleTurn();
  void Linger();
  void AwaitReadable();
  void AwaitWritable();
  void UpdateTimer();
  std::optional<Clock::Monotonic> NextDeadline();
  void OnTimer();

  Setup setup_;
  Socket socket_;
  Timer timer_;
  std::unique_ptr<Protocol> protocol_;
  std::unique_ptr<Protocol> next_protocol_;
  std::string replayed_;
  Phase phase_ = Phase::kHandshake;
  std::string pending_;  // Output that the socket has not taken.
  std::size_t pending_at_ = 0;
  bool dirty_ = false;
  bool awaits_readable_ = false;
  bool awaits_writable_ = false;
  bool read_again_ = false;
  bool drain_ = false;
  bool read_ended_ = false;
  bool write_shut_ = false;
  bool blocked_before_ = false;
  Clock::Monotonic armed_for_;
  Clock::Monotonic phase_deadline_;
  std::size_t lingered_bytes_ = 0;
  Clock::Monotonic progress_;  // When the peer last took bytes, or had none to take.
};

}  // namespace apiserver::inline v0::http
