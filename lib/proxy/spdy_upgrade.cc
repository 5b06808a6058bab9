#include "proxy/spdy_upgrade.h"

#include <optional>
#include <string>
#include <utility>

namespace apiserver::v0::proxy {

namespace {

// A refusal is a Status or a line of text.
constexpr std::size_t kBodyBytesMax = std::size_t{64} << 10;

Status UpgradeError(std::string_view what, const Status& why) {
  return {Reason::kUnknown, std::string(what).append(why.message())};
}

// The sink of the connection's stream: of the answer at first, then of whoever has the stream.
class Relay final : public http::StreamSink {
 public:
  struct Reader {
    virtual ~Reader() = default;
    virtual void OnHead(const http::ResponseHead& head) = 0;
    virtual void OnBody(std::string_view bytes) = 0;
    virtual void OnBodyEnd(const Status& status) = 0;
  };
  explicit Relay(std::weak_ptr<Reader> reader) : reader_(std::move(reader)) {}

  // Tells the reader of the answer no more.
  void Switch() { switched_ = true; }
  // Gives what follows to `sink`. On the loop, while the stream is paused.
  void HandOver(std::shared_ptr<http::StreamSink> sink) {
    if (early_end_) return sink->OnEnd(*early_end_);
    sink_ = std::move(sink);
  }

  void OnHead(const http::ResponseHead& head) override {
    if (const auto reader = reader_.lock()) reader->OnHead(head);
  }
  void OnData(std::string_view bytes) override {
    if (sink_) return sink_->OnData(bytes);
    if (const auto reader = reader_.lock()) reader->OnBody(bytes);
  }
  void OnEnd(const Status& status) override {
    if (const auto sink = std::exchange(sink_, nullptr)) return sink->OnEnd(status);
    if (switched_) {
      early_end_ = status;
      return;
    }
    if (const auto reader = reader_.lock()) reader->OnBodyEnd(status);
  }
  void OnRoom() override {
    if (sink_) sink_->OnRoom();
  }

 private:
  const std::weak_ptr<Reader> reader_;
  std::shared_ptr<http::StreamSink> sink_;
  bool switched_ = false;
  std::optional<Status> early_end_;  // The connection was lost before anybody took it.
};

// The connection after its 101, paused until it is started, on the loop.
class SwitchedStream final : public http::Stream {
 public:
  SwitchedStream(Executor& loop, std::unique_ptr<http::Connection> connection,
                 std::unique_ptr<http::Stream> stream, std::shared_ptr<Relay> relay)
      : loop_(loop),
        connection_(std::move(connection)),
        stream_(std::move(stream)),
        relay_(std::move(relay)) {}
  // It may be let go of within a call of its own sink's.
  ~SwitchedStream() override {
    stream_->Cancel();
    loop_.Post([stream = std::move(stream_), connection = std::move(connection_)]() mutable {
      stream.reset();
      connection.reset();
    });
  }
  void Start(std::shared_ptr<http::StreamSink> sink) override {
    relay_->HandOver(std::move(sink));
    stream_->Resume();
  }
  void Pause() override { stream_->Pause(); }
  void Resume() override { stream_->Resume(); }
  void Cancel() override { stream_->Cancel(); }
  bool Write(std::string bytes) override { return stream_->Write(std::move(bytes)); }
  void CloseWrite() override { stream_->CloseWrite(); }

 private:
  Executor& loop_;
  std::unique_ptr<http::Connection> connection_;
  std::unique_ptr<http::Stream> stream_;
  const std::shared_ptr<Relay> relay_;
};

// Everything belongs to the pool's loop.
class Asking final : public SpdyUpgrade,
                     public Relay::Reader,
                     public std::enable_shared_from_this<Asking> {
 public:
  explicit Asking(Setup setup) : setup_(std::move(setup)) {}

  void Start(Done done) override {
    setup_.pool->loop().Post([self = shared_from_this(), done = std::move(done)]() mutable {
      if (self->over_) return;
      self->done_ = std::move(done);
      self->self_ = self;
      self->cancel_dial_ = self->setup_.pool->DialForUpgrade(
          self->setup_.endpoint, [self](auto dialed) { self->Ask(std::move(dialed)); });
    });
  }
  void Cancel() override {
    setup_.pool->loop().Post([self = shared_from_this()] { self->End(); });
  }

  void OnHead(const http::ResponseHead& head) override;
  void OnBody(std::string_view bytes) override;
  void OnBodyEnd(const Status& status) override;

 private:
  void Ask(Result<std::unique_ptr<http::Connection>> dialed);
  void Tell(Outcome outcome);
  void TellRefusal() { Tell({.refused = Refused{std::move(head_), std::move(body_)}}); }
  void End();

  Setup setup_;
  Done done_;
  std::shared_ptr<Asking> self_;  // Until it is over.
  Executor::Cancel cancel_dial_;
  Executor::Cancel cancel_timer_;
  std::unique_ptr<http::Connection> connection_;
  std::unique_ptr<http::Stream> stream_;
  std::shared_ptr<Relay> relay_;
  http::ResponseHead head_;
  std::string body_;
  bool over_ = false;
};

void Asking::Ask(Result<std::unique_ptr<http::Connection>> dialed) {
  if (over_) return;
  cancel_dial_ = nullptr;
  if (!dialed.ok())
    return Tell({.error = UpgradeError("error dialing backend: ", dialed.status())});
  connection_ = *std::move(dialed);
  auto opened = connection_->OpenUpgrade(std::exchange(setup_.head, {}));
  if (!opened.ok())
    return Tell({.error = UpgradeError("error sending request: ", opened.status())});
  stream_ = *std::move(opened);
  relay_ = std::make_shared<Relay>(weak_from_this());
  cancel_timer_ = setup_.pool->loop().PostAfter(setup_.head_timeout, [self = shared_from_this()] {
    self->cancel_timer_ = nullptr;
    self->Tell({.error = Status(Reason::kTimeout,
                                "timed out waiting for the backend to answer the upgrade")});
  });
  stream_->Start(relay_);
}

void Asking::OnHead(const http::ResponseHead& head) {
  if (over_) return;
  head_ = head;
  if (head.code != 101) return;
  stream_->Pause();
  relay_->Switch();
  auto stream = std::make_unique<SwitchedStream>(setup_.pool->loop(), std::move(connection_),
                                                 std::move(stream_), std::move(relay_));
  Tell({.switched = Switched{head, std::move(stream)}});
}

void Asking::OnBody(std::string_view bytes) {
  if (over_) return;
  body_ += bytes.substr(0, kBodyBytesMax - body_.size());
  if (body_.size() == kBodyBytesMax) TellRefusal();
}

void Asking::OnBodyEnd(const Status& status) {
  if (over_) return;
  if (head_.code > 101) return TellRefusal();
  Tell({.error = UpgradeError("error sending request: ",
                              status.ok() ? Status(Reason::kUnknown, "EOF") : status)});
}

void Asking::Tell(Outcome outcome) {
  const auto self = shared_from_this();
  Done done = std::exchange(done_, nullptr);
  End();
  if (done) done(std::move(outcome));
}

void Asking::End() {
  if (std::exchange(over_, true)) return;
  if (cancel_timer_) std::exchange(cancel_timer_, nullptr)();
  if (cancel_dial_) std::exchange(cancel_dial_, nullptr)();
  done_ = nullptr;
  if (stream_) stream_->Cancel();
  // The stream may be calling this.
  setup_.pool->loop().Post([self = std::move(self_)]() mutable { self.reset(); });
}

}  // namespace

std::shared_ptr<SpdyUpgrade> NewSpdyUpgrade(SpdyUpgrade::Setup setup) {
  return std::make_shared<Asking>(std::move(setup));
}

}  // namespace apiserver::v0::proxy
