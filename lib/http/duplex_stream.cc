#include "http/duplex_stream.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "http/http1_head.h"
#include "http/kept_bytes.h"
#include "http/tokens.h"

namespace apiserver::v0::http {
namespace {

// The state of a stream that its handle and its call share; each may go first. It keeps what has
// come while the reader pauses, and the transport waits for it to be consumed.
class DuplexState final : public ClientSink,
                          public LoopWaiter,
                          public std::enable_shared_from_this<DuplexState> {
 public:
  DuplexState(const std::shared_ptr<ClientLink>& link, const Tenant& tenant)
      : link_(link),
        unread_kept_(link->memory, &MemoryBudget::output, tenant),
        unsent_kept_(link->memory, &MemoryBudget::bodies, tenant) {}

  // --- Any thread.
  void Pause() { paused_.store(true); }
  // Returns whether it was paused.
  bool Resume() { return paused_.exchange(false); }
  bool Promise(std::size_t bytes) {
    unsent_kept_.Add(bytes);
    return room_.Promise(bytes);
  }
  // Returns whether both directions have ended and everything was told, so that there is nothing to
  // cancel.
  bool over() const { return all_told_.load(); }

  // --- The rest on the loop only.
  void SetCall(std::weak_ptr<ClientCall> call) { call_ = std::move(call); }
  void Start(std::shared_ptr<StreamSink> sink);
  // Tells the sink what waits, as far as it takes it. Returns how many bytes it has consumed.
  std::size_t TellMore();
  // Drops what waits to be read, so that nothing stands before the end.
  void GiveUp();

  void OnHead(ResponseHead head) override {
    head_ = std::move(head);
    TellHead();
  }
  std::size_t OnData(std::string_view bytes) override;
  void OnTrailers(Headers trailers) override { trailers_ = std::move(trailers); }
  void OnEnd(const Status& status) override;
  void OnSent(std::size_t bytes) override {
    unsent_kept_.Release(bytes);
    if (room_.Release(bytes)) TellRoom();
  }
  void OnWriteEnd() override {
    write_ended_ = true;
    LetGo();
  }
  void OnLoopStop() override {
    GiveUp();
    (void)TellMore();
  }

 private:
  bool reading() const { return sink_ != nullptr && !paused_.load(); }
  void TellHead();
  void TellRoom();
  void TellEnd();
  // Notes whether there is an end that waits for the sink to go on.
  void AwaitSink();
  // Forgets a sink that is told nothing more.
  void LetGo() {
    if (!end_told_ || !write_ended_) return;
    all_told_.store(true);
    sink_.reset();
  }
  template <class Call>
  void Guard(const Call& call);

  const std::weak_ptr<ClientLink> link_;
  std::weak_ptr<ClientCall> call_;
  std::atomic<bool> paused_{false};
  std::atomic<bool> all_told_{false};
  WriteRoom room_;
  KeptBytes unread_kept_;
  KeptBytes unsent_kept_;
  std::shared_ptr<StreamSink> sink_;
  std::optional<ResponseHead> head_;  // Until it is told.
  std::string unread_;
  Headers trailers_;  // Until the end is told.
  std::optional<Status> over_;
  bool end_told_ = false;
  bool write_ended_ = false;
  bool room_due_ = false;
};

// The sink is the host's. What it throws must not reach the protocol, whose connection serves other
// streams: this stream ends alone.
template <class Call>
void DuplexState::Guard(const Call& call) {
  const std::shared_ptr<StreamSink> sink = sink_;
  try {
    call(*sink);
  } catch (...) {
    sink_.reset();
    const auto link = link_.lock();
    if (!link) return;
    link->loop->LogCaught("the sink of a client's stream");
    link->loop->Post([link, weak = call_] {
      const auto failed = weak.lock();
      if (failed) link->Abort(failed, Status(Reason::kInternalError, "exception in a sink"));
    });
  }
}

void DuplexState::Start(std::shared_ptr<StreamSink> sink) {
  sink_ = std::move(sink);
  TellHead();
  if (room_due_ && sink_) TellRoom();
}

void DuplexState::TellHead() {
  if (!sink_ || !head_) return;
  const ResponseHead head = *std::exchange(head_, std::nullopt);
  Guard([&](StreamSink& sink) { sink.OnHead(head); });
}

void DuplexState::TellRoom() {
  room_due_ = sink_ == nullptr;
  if (sink_) Guard([](StreamSink& sink) { sink.OnRoom(); });
}

std::size_t DuplexState::TellMore() {
  std::size_t consumed = 0;
  while (reading() && !unread_.empty()) {
    const std::string bytes = std::exchange(unread_, {});
    consumed += bytes.size();
    unread_kept_.Release(bytes.size());
    Guard([&](StreamSink& sink) { sink.OnData(bytes); });
  }
  if (over_ && unread_.empty() && reading()) TellEnd();
  AwaitSink();
  return consumed;
}

void DuplexState::AwaitSink() {
  const auto link = link_.lock();
  if (!over_ || !link) return;
  if (sink_ && !end_told_) {
    link->loop->Waits(shared_from_this());
  } else {
    link->loop->StopsWaiting(shared_from_this());
  }
}

void DuplexState::TellEnd() {
  if (std::exchange(end_told_, true)) return;
  // After a failure there is nothing to write either, so that room is not told.
  write_ended_ |= !over_->ok();
  Guard([this](StreamSink& sink) {
    if (over_->ok() && !trailers_.empty()) sink.OnTrailers(std::exchange(trailers_, {}));
    sink.OnEnd(*over_);
  });
  LetGo();
}

std::size_t DuplexState::OnData(std::string_view bytes) {
  if (!reading() || !unread_.empty()) {
    unread_.append(bytes);
    unread_kept_.Add(bytes.size());
    return 0;
  }
  Guard([&](StreamSink& sink) { sink.OnData(bytes); });
  return bytes.size();
}

void DuplexState::OnEnd(const Status& status) {
  if (!over_) over_ = status;
  TellMore();
}

void DuplexState::GiveUp() {
  paused_.store(false);
  head_.reset();
  // Without the bytes that are dropped here the response is not complete, whatever its end says.
  if (!unread_.empty()) over_ = Status(Reason::kTimeout, "cancelled");
  unread_kept_.Release(unread_.size());
  unread_.clear();
}

// The handle. Calls that change the connection are posted, also on the loop, so that the order of
// calls from several threads is kept. Pause alone acts at once: the piece that is being told is the
// last.
class DuplexStream final : public Stream {
 public:
  DuplexStream(std::shared_ptr<ClientLink> link, std::shared_ptr<ClientCall> call,
               std::shared_ptr<DuplexState> state)
      : link_(std::move(link)), call_(std::move(call)), state_(std::move(state)) {}
  // One that is over does not wake its loop.
  ~DuplexStream() override {
    if (state_->over()) return;
    try {
      Cancel();
    } catch (...) {  // NOLINT(bugprone-empty-catch): for want of memory; the connection ends it
    }
  }

  void Start(std::shared_ptr<StreamSink> sink) override {
    Post([sink = std::move(sink)](ClientLink& link, const auto& call, DuplexState& state) mutable {
      state.Start(std::move(sink));
      link.Consume(call, state.TellMore());
    });
  }
  void Pause() override { state_->Pause(); }
  void Resume() override {
    if (!state_->Resume()) return;
    Post([](ClientLink& link, const auto& call, DuplexState& state) {
      link.Consume(call, state.TellMore());
    });
  }
  void Cancel() override {
    Post([](ClientLink& link, const auto& call, DuplexState& state) {
      state.GiveUp();
      link.Abort(call, Status(Reason::kTimeout, "cancelled"));
      (void)state.TellMore();
    });
  }
  bool Write(std::string bytes) override {
    const bool room = state_->Promise(bytes.size());
    Post([bytes = std::move(bytes)](ClientLink& link, const auto& call, DuplexState&) mutable {
      link.Write(call, std::move(bytes));
    });
    return room;
  }
  void CloseWrite() override {
    Post([](ClientLink& link, const auto& call, DuplexState&) { link.CloseWrite(call); });
  }

 private:
  template <class Task>
  void Post(Task task) {
    link_->loop->Post([link = link_, call = call_, state = state_,
                       task = std::move(task)]() mutable { task(*link, call, *state); });
  }

  const std::shared_ptr<ClientLink> link_;
  const std::shared_ptr<ClientCall> call_;
  const std::shared_ptr<DuplexState> state_;
};

Status BadHead(const std::string& what) {
  return Status(Reason::kInvalid, "the head of the request: " + what);
}

bool IsTarget(std::string_view target) {
  return !target.empty() && std::none_of(target.begin(), target.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
  });
}

// A value that ends its line early would let the caller's client add headers, or a second request,
// so that nothing is repaired here.
Status CheckHead(const ClientRequestHead& head) {
  if (!IsToken(head.method) || head.method == "CONNECT") return BadHead("invalid method");
  if (!IsTarget(head.target)) return BadHead("invalid target");
  if (!ValidFields(head.headers)) return BadHead("invalid header");
  if (head.headers.GetAll("Host").size() > 1) return BadHead("more than one Host");
  return Status::Ok();
}

// The head is sent as it is, so it must be complete, and must not announce a body: the server could
// take what is meant for the new protocol for a second request.
Status CheckUpgradeHead(const ClientRequestHead& head) {
  const Headers& headers = head.headers;
  const auto connections = headers.GetAll("Connection");
  const bool asks = std::any_of(connections.begin(), connections.end(),
                                [](auto value) { return HasToken(value, "upgrade"); });
  if (!asks || !headers.Has("Upgrade")) return BadHead("it does not ask for an upgrade");
  if (!headers.Has("Host")) return BadHead("no Host");
  const auto lengths = headers.GetAll("Content-Length");
  const bool bodiless = lengths.empty() || (lengths.size() == 1 && lengths.front() == "0");
  if (!bodiless || headers.Has("Transfer-Encoding")) return BadHead("an upgrade has no body");
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<Stream>> OpenDuplex(std::shared_ptr<ClientLink> link, ClientRequestHead head,
                                           DuplexKind kind) {
  const bool upgrade = kind == DuplexKind::kUpgrade;
  RETURN_IF_ERROR(CheckHead(head));
  if (upgrade) RETURN_IF_ERROR(CheckUpgradeHead(head));
  if (upgrade && link->multiplexed.load()) {
    return Status(Reason::kMethodNotAllowed, "HTTP/2 has no upgrade");
  }
  const auto state = std::make_shared<DuplexState>(link, head.tenant);
  const auto call = std::make_shared<ClientCall>(std::move(head), upgrade, state);
  link->loop->Post([link, call, state] {
    state->SetCall(call);
    link->Start(call);
  });
  return std::unique_ptr<Stream>(std::make_unique<DuplexStream>(std::move(link), call, state));
}

}  // namespace apiserver::v0::http
