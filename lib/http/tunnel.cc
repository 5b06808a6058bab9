#include "http/tunnel.h"

#include <utility>

namespace apiserver::v0::http {
namespace {

// The handle of a tunnel. Every call that changes the connection is posted, also on the loop, so
// that the order of calls from several threads is kept. Only Pause acts at once: the piece that is
// being told is the last.
class LinkedTunnel final : public Tunnel {
 public:
  explicit LinkedTunnel(std::shared_ptr<TunnelLink> link) : link_(std::move(link)) {}
  ~LinkedTunnel() override { Close(); }

  void Start(std::shared_ptr<StreamSink> sink) override {
    link_->loop()->Post([link = link_, sink = std::move(sink)]() mutable {
      link->Start(std::move(sink));
      Read(*link);
    });
  }
  void Pause() override { link_->Pause(); }
  void Resume() override {
    if (!link_->Resume()) return;
    link_->loop()->Post([link = link_] { Read(*link); });
  }
  bool Write(std::string bytes) override {
    const bool room = link_->Promise(bytes.size());
    link_->loop()->Post([link = link_, bytes = std::move(bytes)]() mutable {
      // Nothing will be sent any more, but the promised room must be given back.
      if (link->end() == nullptr) return link->Sent(bytes.size());
      link->end()->OnTunnelWrite(std::move(bytes));
    });
    return room;
  }
  void Pour(std::unique_ptr<BodySource> body) override {
    link_->loop()->Post([link = link_, body = std::move(body)]() mutable {
      if (link->end() != nullptr) link->end()->OnTunnelPour(std::move(body));
    });
  }
  void CloseWrite() override {
    link_->loop()->Post([link = link_] {
      if (link->end() != nullptr) link->end()->OnTunnelCloseWrite();
    });
  }
  void Close() override {
    link_->loop()->Post([link = link_] {
      link->End(Status(Reason::kTimeout, "the tunnel was closed"));
      if (link->end() != nullptr) link->end()->OnTunnelClose();
    });
  }
  void Cancel() override {
    link_->loop()->Post([link = link_] {
      link->End(Status(Reason::kTimeout, "cancelled"));
      if (link->end() != nullptr) link->end()->OnTunnelCancel();
    });
  }

 private:
  static void Read(TunnelLink& link) {
    if (link.end() != nullptr) return link.end()->OnTunnelRead();
    link.TellRest();
  }

  std::shared_ptr<TunnelLink> link_;
};

}  // namespace

void TunnelLink::Start(std::shared_ptr<StreamSink> sink) {
  sink_ = std::move(sink);
  if (room_due_) TellRoom();
}

// The sink is held during the call, which may end the stream and drop it.
void TunnelLink::TellData(std::string_view bytes) {
  const auto sink = sink_;
  sink->OnData(bytes);
}

void TunnelLink::TellEnd() {
  if (std::exchange(end_told_, true)) return;
  const auto sink = sink_;
  sink->OnEnd(Status::Ok());
}

void TunnelLink::Sent(std::size_t bytes) {
  if (room_.Release(bytes)) TellRoom();
}

void TunnelLink::TellRoom() {
  room_due_ = sink_ == nullptr;
  if (const auto sink = sink_) sink->OnRoom();
}

// A stream that was given up tells its end at once, so that a pause must not hold that back.
void TunnelLink::End(Status why) {
  paused_.store(false);
  if (!over_) over_ = std::move(why);
  unread_.clear();
  if (end_ == nullptr) TellRest();
}

// Bytes that came before the connection went are still told, once the sink reads again; the end
// comes after them.
void TunnelLink::Gone(std::string unread, const Status& why) {
  end_ = nullptr;
  if (!over_) {
    over_ = why;
    unread_ = std::move(unread);
  }
  TellRest();
}

// The sink may pause during each call, which ends the loop until it resumes.
void TunnelLink::TellRest() {
  while (reading()) {
    if (unread_.empty()) {
      const auto sink = std::exchange(sink_, nullptr);
      loop_->StopsWaiting(shared_from_this());
      if (!std::exchange(end_told_, true)) sink->OnEnd(*over_);
      return;
    }
    TellData(std::exchange(unread_, {}));
  }
  if (sink_ != nullptr) loop_->Waits(shared_from_this());
}

void TunnelQueue::Push(std::string bytes) {
  bytes_.Push(std::move(bytes));
  charge_.Resize(bytes_.size());
}

std::size_t TunnelQueue::TakePieceTo(std::string& out, std::size_t limit) {
  const std::size_t taken = bytes_.TakePieceTo(out, limit);
  charge_.Resize(bytes_.size());
  return taken;
}

std::unique_ptr<Tunnel> NewTunnel(std::shared_ptr<TunnelLink> link) {
  return std::make_unique<LinkedTunnel>(std::move(link));
}

}  // namespace apiserver::v0::http
