#include "proxy/pipe.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "proxy/body_transfer.h"
#include "proxy/idle_watch.h"
#include "proxy/valve.h"

namespace apiserver::v0::proxy {
namespace {

Status Failed(std::string_view what, const Status& why) {
  return Status(Reason::kUnknown, std::string(what) + std::string(why.message()));
}

// The bytes of one direction, at a limited rate. Used on the loop of the side that sends them.
struct Rate {
  Valve valve;
  Clock::Monotonic due = {};  // When the bytes so far may have been sent.
};

// A pause that is shorter is not worth a timer.
constexpr auto kAheadMin = std::chrono::milliseconds(10);

// Everything belongs to the pool's loop, except where a comment says otherwise.
class JoinedPipe final : public Pipe,
                         public http::StreamSink,
                         public std::enable_shared_from_this<JoinedPipe> {
 public:
  explicit JoinedPipe(Setup setup)
      : setup_(std::move(setup)), transfer_(setup_.memory, setup_.head.tenant) {}

  void Start(Answered answered) override;
  void Join(std::unique_ptr<http::Tunnel> client) override;
  std::unique_ptr<http::BodySource> Body() override;
  void Cancel() override {
    setup_.pool->loop().Post([self = shared_from_this()] { self->GiveUp(); });
  }

  // --- The backend's stream.
  void OnHead(const http::ResponseHead& head) override;
  void OnData(std::string_view bytes) override;
  void OnEnd(const Status& status) override;
  void OnRoom() override {
    if (client_) to_backend_.valve.OnRoom(*client_);
  }

  // --- The client's tunnel, on its loop.
  void OnClientData(std::string_view bytes) {
    idle_.Touch();
    Send(bytes, to_backend_, *client_, *backend_);
  }
  void OnClientEnd(const Status& status);
  // Called when the transport has let go of the tunnel: everything is sent, or lost.
  void OnClientOver();
  void OnClientRoom() { to_client_.valve.OnRoom(*backend_); }

  // --- The body of a refusal, on the client's loop.
  http::Pull Next(http::ChunkWriter& out, const Waker& waker) {
    return transfer_.Next(out, waker, *backend_);
  }

 private:
  void Dial();
  void Ask(Result<std::unique_ptr<http::Connection>> dialed);
  Result<std::unique_ptr<http::Stream>> Open();
  void Answer(Result<http::ResponseHead> head);
  void Limit(std::chrono::milliseconds time, const char* why);
  void CloseWithOthers();
  void Send(std::string_view bytes, Rate& rate, http::ReadStream& from, http::Stream& to);
  void CloseGently();
  void Flush();
  void GiveUp();

  Setup setup_;
  Answered answered_;  // Empty: it was called, or is not wanted any more.
  Executor::Cancel cancel_dial_;
  Executor::Cancel cancel_timer_;
  std::unique_ptr<http::Connection> connection_;
  // Set before the client's loop learns of them, and kept until the end.
  std::unique_ptr<http::Stream> backend_;
  std::unique_ptr<http::Tunnel> client_;
  bool given_up_ = false;
  bool backend_over_ = false;
  bool client_over_ = false;
  bool flushing_ = false;
  IdleWatch idle_;
  Rate to_backend_;
  Rate to_client_;
  BodyTransfer transfer_;
};

// The client's end of a pipe.
class ClientSide final : public http::StreamSink {
 public:
  explicit ClientSide(std::shared_ptr<JoinedPipe> pipe) : pipe_(std::move(pipe)) {}
  ~ClientSide() override { pipe_->OnClientOver(); }
  void OnData(std::string_view bytes) override { pipe_->OnClientData(bytes); }
  void OnEnd(const Status& status) override { pipe_->OnClientEnd(status); }
  void OnRoom() override { pipe_->OnClientRoom(); }

 private:
  const std::shared_ptr<JoinedPipe> pipe_;
};

class RefusalBody final : public http::BodySource {
 public:
  explicit RefusalBody(std::shared_ptr<JoinedPipe> pipe) : pipe_(std::move(pipe)) {}
  ~RefusalBody() override { pipe_->Cancel(); }
  http::Pull Next(http::ChunkWriter& out, const Waker& waker) override {
    return pipe_->Next(out, waker);
  }

 private:
  const std::shared_ptr<JoinedPipe> pipe_;
};

// ------------------------------------------------------------------------------ asking

void JoinedPipe::Start(Answered answered) {
  setup_.pool->loop().Post([self = shared_from_this(), answered = std::move(answered)]() mutable {
    if (self->given_up_) return;
    self->answered_ = std::move(answered);
    self->Dial();
  });
}

void JoinedPipe::Dial() {
  cancel_dial_ = setup_.pool->DialForUpgrade(
      setup_.endpoint, [self = shared_from_this()](auto dialed) { self->Ask(std::move(dialed)); });
}

void JoinedPipe::Ask(Result<std::unique_ptr<http::Connection>> dialed) {
  if (given_up_) return;
  cancel_dial_ = nullptr;
  if (!dialed.ok()) return Answer(Failed("error dialing backend: ", dialed.status()));
  connection_ = *std::move(dialed);
  auto opened = Open();
  if (!opened.ok()) {
    Answer(Failed("error sending request: ", opened.status()));
    return GiveUp();
  }
  backend_ = *std::move(opened);
  Limit(setup_.limits.head_timeout, "timed out waiting for the backend to answer the upgrade");
  backend_->Start(shared_from_this());
}

// Upstream sends a request without an Upgrade header, too. Such a request is an ordinary one on a
// connection of its own.
Result<std::unique_ptr<http::Stream>> JoinedPipe::Open() {
  http::ClientRequestHead head = std::exchange(setup_.head, {});
  if (head.headers.Has("Upgrade")) return connection_->OpenUpgrade(std::move(head));
  return connection_->OpenStream(std::move(head));
}

void JoinedPipe::Answer(Result<http::ResponseHead> head) {
  if (cancel_timer_) std::exchange(cancel_timer_, nullptr)();
  if (auto answered = std::exchange(answered_, nullptr)) answered(std::move(head));
}

// Gives up after `time`, unless something else is told before.
void JoinedPipe::Limit(std::chrono::milliseconds time, const char* why) {
  if (cancel_timer_) std::exchange(cancel_timer_, nullptr)();
  cancel_timer_ = setup_.pool->loop().PostAfter(time, [self = shared_from_this(), why] {
    self->cancel_timer_ = nullptr;
    self->Answer(Status(Reason::kTimeout, why));
    self->GiveUp();
  });
}

// A pipe is paused until the client's side is there. A refusal below 400 has no readers.
void JoinedPipe::OnHead(const http::ResponseHead& head) {
  if (given_up_) return;
  if (head.code == 101) {
    backend_->Pause();
    return Answer(head);
  }
  if (head.code < 400 || head.code > 999) {
    Answer(Status(Reason::kUnknown,
                  "invalid upgrade response: status code " + std::to_string(head.code)));
    return GiveUp();
  }
  Answer(head);
  Limit(setup_.limits.flush_timeout, "timed out reading the backend's answer");
}

// ------------------------------------------------------------------------------ joined

// The backend's stream is paused, so that nothing of it is told before both sides are there.
void JoinedPipe::Join(std::unique_ptr<http::Tunnel> client) {
  setup_.pool->loop().Post([self = shared_from_this(), client = std::move(client)]() mutable {
    if (self->given_up_) return;
    self->client_ = std::move(client);
    self->client_->Start(std::make_shared<ClientSide>(self));
    self->idle_.Start(self->setup_.pool->loop(), self->setup_.limits.idle_timeout,
                      [weak = self->weak_from_this()] {
                        if (const auto pipe = weak.lock()) pipe->CloseGently();
                      });
    self->CloseWithOthers();
    self->backend_->Resume();
  });
}

void JoinedPipe::CloseWithOthers() {
  if (!setup_.place) return;
  setup_.place->OnClose([weak = weak_from_this()] {
    const auto pipe = weak.lock();
    if (!pipe) return;
    pipe->setup_.pool->loop().Post([pipe] { pipe->CloseGently(); });
  });
}

void JoinedPipe::OnData(std::string_view bytes) {
  if (!client_) return transfer_.Push(bytes, *backend_);
  idle_.Touch();
  Send(bytes, to_client_, *backend_, *client_);
}

// On the loop of `from`.
void JoinedPipe::Send(std::string_view bytes, Rate& rate, http::ReadStream& from,
                      http::Stream& to) {
  rate.valve.Pass(bytes, from, to);
  if (setup_.bytes_per_second_max == 0) return;
  const Clock::Monotonic now = RealClock().Now();
  const std::chrono::duration<double> takes(static_cast<double>(bytes.size()) /
                                            static_cast<double>(setup_.bytes_per_second_max));
  rate.due =
      std::max(rate.due, now) + std::chrono::duration_cast<Clock::Monotonic::duration>(takes);
  if (rate.due - now < kAheadMin) return;
  rate.valve.SetAhead(true, from);
  (void)setup_.pool->loop().PostAfter(rate.due - now, [self = shared_from_this(), &rate, &from] {
    rate.valve.SetAhead(false, from);
  });
}

// Upstream closes both connections when one direction ends, and loses what was on its way. Here the
// other side is sent the rest first.
void JoinedPipe::OnEnd(const Status& status) {
  backend_over_ = true;
  if (answered_) {
    Answer(status.ok() ? Status(Reason::kUnknown, "EOF") : Failed("", status));
    return GiveUp();
  }
  transfer_.End(status);
  if (!client_) return;
  if (client_over_) return GiveUp();
  if (status.ok()) backend_->CloseWrite();
  client_->Close();
  Flush();
}

// On the client's loop. A tunnel that this side has closed tells its end, too.
void JoinedPipe::OnClientEnd(const Status& status) {
  if (status.ok()) backend_->CloseWrite();
  setup_.pool->loop().Post([self = shared_from_this(), lost = !status.ok()] {
    if (self->backend_over_ || (lost && !self->flushing_)) return self->GiveUp();
    self->Flush();
  });
}

// On the client's loop.
void JoinedPipe::OnClientOver() {
  setup_.pool->loop().Post([self = shared_from_this()] {
    self->client_over_ = true;
    if (self->backend_over_) self->GiveUp();
  });
}

// Gives the other side some time to take what is left.
void JoinedPipe::Flush() {
  if (given_up_ || std::exchange(flushing_, true)) return;
  idle_.Stop();
  Limit(setup_.limits.flush_timeout, "");
}

// Ends both sides after what was read from each is sent.
void JoinedPipe::CloseGently() {
  if (given_up_) return;
  client_->Close();
  backend_->CloseWrite();
  Flush();
}

void JoinedPipe::GiveUp() {
  if (std::exchange(given_up_, true)) return;
  idle_.Stop();
  if (cancel_timer_) std::exchange(cancel_timer_, nullptr)();
  if (cancel_dial_) std::exchange(cancel_dial_, nullptr)();
  answered_ = nullptr;
  if (backend_) backend_->Cancel();
  if (client_) client_->Cancel();
  setup_.place.reset();
}

std::unique_ptr<http::BodySource> JoinedPipe::Body() {
  return std::make_unique<RefusalBody>(shared_from_this());
}

}  // namespace

std::shared_ptr<Pipe> NewPipe(Pipe::Setup setup) {
  return std::make_shared<JoinedPipe>(std::move(setup));
}

}  // namespace apiserver::v0::proxy
