#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/fair_share.h"
#include "apiserver/http/exchange.h"
#include "http/byte_queue.h"
#include "http/loop.h"

namespace apiserver::inline v0::http {

// The transport's half of a Tunnel. Each call passes on the Tunnel's method of that name. Used on
// the loop only.
class TunnelEnd {
 public:
  // Called when reading begins, or goes on after a pause.
  virtual void OnTunnelRead() = 0;
  virtual void OnTunnelWrite(std::string bytes) = 0;
  virtual void OnTunnelPour(std::unique_ptr<BodySource> body) = 0;
  virtual void OnTunnelCloseWrite() = 0;
  virtual void OnTunnelClose() = 0;
  virtual void OnTunnelCancel() = 0;

 protected:
  ~TunnelEnd() = default;
};

// The state that a Tunnel and its connection share. Each may go first.
class TunnelLink final : public LoopWaiter, public std::enable_shared_from_this<TunnelLink> {
 public:
  // `end` is called until Gone().
  TunnelLink(std::shared_ptr<Loop> loop, TunnelEnd& end) : loop_(std::move(loop)), end_(&end) {}

  // --- Any thread.
  const std::shared_ptr<Loop>& loop() const { return loop_; }
  void Pause() { paused_.store(true); }
  // Returns whether it was paused, so that reading must be set going again.
  bool Resume() { return paused_.exchange(false); }
  // Counts bytes that are to be sent. False: the writer should stop.
  bool Promise(std::size_t bytes) { return room_.Promise(bytes); }

  // --- The rest on the loop only.
  // Null once the connection has gone.
  TunnelEnd* end() const { return end_; }
  bool started() const { return sink_ != nullptr; }
  bool end_told() const { return end_told_; }
  bool reading() const { return sink_ != nullptr && !paused_.load(); }
  // Sets the sink; reading may begin.
  void Start(std::shared_ptr<StreamSink> sink);
  void TellData(std::string_view bytes);
  // Tells the sink once that the peer has ended its direction.
  void TellEnd();
  // Takes off promised bytes that are sent, or never will be.
  void Sent(std::size_t bytes);
  // Ends the stream from this side, so that nothing more is read.
  void End(Status why);
  // Notes that the connection has gone. `unread` came before that.
  void Gone(std::string unread, const Status& why);
  // Tells the sink what is left after Gone(), as far as it does not pause.
  void TellRest();
  // Ends the stream although its sink pauses.
  void OnLoopStop() override { End(Status(Reason::kServiceUnavailable, "the server has stopped")); }

 private:
  void TellRoom();

  const std::shared_ptr<Loop> loop_;
  std::atomic<bool> paused_{false};
  WriteRoom room_;
  TunnelEnd* end_;
  std::shared_ptr<StreamSink> sink_;
  std::string unread_;          // Kept from Gone() on.
  std::optional<Status> over_;  // The end that is told once unread_ has been.
  bool end_told_ = false;
  bool room_due_ = false;  // There was no sink yet to be told of room.
};

// The bytes that were written into a tunnel and are not sent yet, charged to its tenant. On the
// loop only.
class TunnelQueue final {
 public:
  TunnelQueue(FairShare& output, const Tenant& tenant) : charge_(output) {
    charge_.SetTenant(tenant);
  }
  void Push(std::string bytes);
  // Appends what is left of the first piece to `out`, until that holds `limit` bytes; returns how
  // many were appended.
  std::size_t TakePieceTo(std::string& out, std::size_t limit);
  std::size_t size() const { return bytes_.size(); }

 private:
  FairShare::Charge charge_;
  ByteQueue bytes_;
};

// Makes the handle of a tunnel.
std::unique_ptr<Tunnel> NewTunnel(std::shared_ptr<TunnelLink> link);

}  // namespace apiserver::inline v0::http
