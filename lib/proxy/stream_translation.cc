#include "proxy/stream_translation.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/idle_watch.h"
#include "proxy/remote_command_outcome.h"
#include "proxy/spdy_session.h"
#include "proxy/web_socket_inbox.h"
#include "proxy/web_socket_outbox.h"

namespace apiserver::v0::proxy {

namespace {

// Channels of v5.channel.k8s.io.
constexpr std::size_t kStdin = 0;
constexpr std::size_t kStdout = 1;
constexpr std::size_t kStderr = 2;
constexpr std::size_t kError = 3;
constexpr std::size_t kResize = 4;
constexpr std::size_t kChannels = 5;
constexpr unsigned char kCloseChannel = 255;
// The names of their streams, and the order in which a kubelet is asked for them.
constexpr std::array<std::string_view, kChannels> kTypes = {"stdin", "stdout", "stderr", "error",
                                                            "resize"};
constexpr std::array<std::size_t, kChannels> kOrder = {kError, kStdin, kStdout, kStderr, kResize};

// The longest message to the client.
constexpr std::size_t kMessageBytesMax = std::size_t{32} << 10;
// The longest text of the error stream: a Status.
constexpr std::size_t kErrorBytesMax = std::size_t{64} << 10;
// The code of a command whose client went, or sent nonsense, before the outcome was known.
constexpr int kClientGone = 500;
constexpr std::chrono::milliseconds kPingInterval = std::chrono::seconds(5);

constexpr std::string_view kV3 = "v3.channel.k8s.io";

// Returns whether outcomes are Statuses in this subprotocol.
bool TellsStatus(std::string_view protocol) {
  return protocol == "v4.channel.k8s.io" || protocol == "v5.channel.k8s.io";
}

// Everything belongs to the loop of the kubelet's connection, except where a comment says
// otherwise.
class Translation final : public std::enable_shared_from_this<Translation> {
 public:
  explicit Translation(StreamTranslation setup)
      : setup_(std::move(setup)), outbox_([this] { ResumeKubelet(); }) {}

  // --- The client's side, on its loop.
  void Open(const std::shared_ptr<http::WebSocket>& socket);
  void FromClient(http::WebSocketMessage message);
  void ClientGone();
  http::Pull Next(http::WebSocketWriter& out, const Waker& waker) {
    return outbox_.Next(out, waker);
  }

  // --- The kubelet's streams.
  void OnReply();
  void OnBytes(std::size_t channel, std::string_view bytes);
  void OnStreamEnd(std::size_t channel, const Status& status);

 private:
  bool Wants(std::size_t channel) const;
  void Start();
  void Receive(const std::string& message);
  void CloseChannel(std::size_t channel);
  void Drained();
  void ResumeKubelet();
  void CloseWithOthers();
  void Finish(const RemoteCommandOutcome& outcome);
  void Fail(std::string_view why) { Finish(InternalOutcome(why)); }
  void LetGo(int code = kClientGone);

  StreamTranslation setup_;
  WebSocketOutbox outbox_;  // Any thread.
  WebSocketInbox inbox_;    // Any thread.
  std::shared_ptr<SpdySession> session_;
  std::array<std::optional<SpdyStream>, kChannels> streams_;
  std::size_t replies_wanted_ = 0;
  std::size_t ends_wanted_ = 0;      // Of the outputs and of the error stream.
  std::deque<std::string> waiting_;  // The client's messages, until the kubelet takes data.
  std::size_t written_full_ = 0;     // Bytes that the kubelet's connection had no room for.
  std::string error_;
  Executor::Cancel cancel_timer_;
  IdleWatch idle_;
  bool over_ = false;
};

class ChannelSink final : public SpdyStreamSink {
 public:
  ChannelSink(std::shared_ptr<Translation> translation, std::size_t channel)
      : translation_(std::move(translation)), channel_(channel) {}
  void OnReply() override { translation_->OnReply(); }
  void OnData(std::string_view bytes) override { translation_->OnBytes(channel_, bytes); }
  void OnEnd(const Status& status) override { translation_->OnStreamEnd(channel_, status); }

 private:
  const std::shared_ptr<Translation> translation_;
  const std::size_t channel_;
};

// ------------------------------------------------------------------------------ the client

void Translation::Open(const std::shared_ptr<http::WebSocket>& socket) {
  inbox_.Open(socket);
  idle_.Touch();
  // Clients write nothing before they have heard of an output.
  const std::size_t first = Wants(kStdout) ? kStdout : Wants(kStderr) ? kStderr : kError;
  (void)outbox_.Push(std::string(1, static_cast<char>(first)));
  setup_.loop->Post([self = shared_from_this()] { self->Start(); });
}

void Translation::FromClient(http::WebSocketMessage message) {
  if (!message.binary || message.data.empty()) return;
  idle_.Touch();
  inbox_.Add(message.data.size());
  setup_.loop->Post([self = shared_from_this(), data = std::move(message.data)]() mutable {
    if (self->over_) return;
    if (self->replies_wanted_ > 0) return self->waiting_.push_back(std::move(data));
    self->Receive(data);
  });
}

void Translation::ClientGone() {
  outbox_.Close();
  inbox_.Close();
  setup_.loop->Post([self = shared_from_this()] { self->LetGo(); });
}

// ------------------------------------------------------------------------------ the kubelet

bool Translation::Wants(std::size_t channel) const {
  switch (channel) {
    case kStdin:
      return setup_.streams.stdin_open;
    case kStdout:
      return setup_.streams.stdout_open;
    case kStderr:
      return setup_.streams.stderr_open && !setup_.streams.tty;
    case kResize:
      return setup_.streams.tty && (TellsStatus(setup_.protocol) || setup_.protocol == kV3);
    default:
      return true;
  }
}

void Translation::Start() {
  if (over_) return;
  session_ = SpdySession::Start({.connection = std::move(setup_.kubelet),
                                 .loop = setup_.loop,
                                 .on_room =
                                     [weak = weak_from_this()] {
                                       if (const auto self = weak.lock()) self->Drained();
                                     },
                                 .ping_interval = kPingInterval});
  CloseWithOthers();
  replies_wanted_ = kChannels;
  for (const std::size_t channel : kOrder) {
    if (over_) return;
    if (!Wants(channel)) {
      --replies_wanted_;
      continue;
    }
    if (channel != kStdin && channel != kResize) ++ends_wanted_;
    auto opened = session_->Open({{"streamtype", std::string(kTypes.at(channel))}},
                                 std::make_shared<ChannelSink>(shared_from_this(), channel));
    if (!opened.ok()) return Fail(opened.status().message());
    streams_.at(channel).emplace(*opened);
  }
  cancel_timer_ = setup_.loop->PostAfter(setup_.streams_timeout, [self = shared_from_this()] {
    self->cancel_timer_ = nullptr;
    self->Fail("timed out waiting for the kubelet to accept the streams");
  });
}

// Kubelets drop data that comes before they have accepted its stream.
void Translation::OnReply() {
  if (over_ || --replies_wanted_ > 0) return;
  if (cancel_timer_) std::exchange(cancel_timer_, nullptr)();
  idle_.Start(*setup_.loop, setup_.idle_timeout, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Fail("the streams were idle for too long");
  });
  for (const std::string& message : std::exchange(waiting_, {})) Receive(message);
}

void Translation::OnBytes(std::size_t channel, std::string_view bytes) {
  if (over_) return;
  idle_.Touch();
  if (channel == kError) {
    if (error_.size() + bytes.size() > kErrorBytesMax) return Fail("the error stream is too long");
    error_ += bytes;
    return;
  }
  if (channel != kStdout && channel != kStderr) return;
  bool room = true;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMessageBytesMax);
    bytes.remove_prefix(piece.size());
    room = outbox_.Push(std::string(1, static_cast<char>(channel)).append(piece));
  }
  if (!room) session_->Pause();
}

// The outcome is known when the outputs and the error stream have ended. A kubelet tells it last,
// and its connection may be reset before the ends of all streams have come.
void Translation::OnStreamEnd(std::size_t channel, const Status& status) {
  if (over_) return;
  if (!status.ok() && error_.empty()) {
    return Fail("error reading from " + std::string(kTypes.at(channel)) +
                " stream: " + std::string(status.message()));
  }
  const bool output = channel != kStdin && channel != kResize;
  if (status.ok() && (!output || --ends_wanted_ > 0)) return;
  Finish(TellsStatus(setup_.protocol) ? OutcomeOf(error_) : OutcomeOfText(error_));
}

// Upstream ends the connection upon a close that it does not understand.
void Translation::Receive(const std::string& message) {
  if (over_) return inbox_.Remove(message.size());
  const auto channel = static_cast<unsigned char>(message.front());
  if (channel == kCloseChannel) {
    inbox_.Remove(message.size());
    const std::size_t closed =
        message.size() == 2 ? static_cast<unsigned char>(message[1]) : kChannels;
    if (closed >= kChannels) return LetGo();
    return CloseChannel(closed);
  }
  bool room = true;
  if ((channel == kStdin || channel == kResize) && streams_.at(channel) && message.size() > 1) {
    std::string text = message.substr(1);
    // Documents of JSON, a line each.
    if (channel == kResize) text += '\n';
    room = streams_.at(channel)->Write(text);
  }
  if (room) return inbox_.Remove(message.size());
  written_full_ += message.size();
}

void Translation::CloseChannel(std::size_t channel) {
  if ((channel == kStdin || channel == kResize) && streams_.at(channel)) {
    streams_.at(channel)->CloseWrite();
  }
}

void Translation::Drained() { inbox_.Remove(std::exchange(written_full_, 0)); }

// On the client's loop.
void Translation::ResumeKubelet() {
  setup_.loop->Post([self = shared_from_this()] {
    if (!self->over_) self->session_->Resume();
  });
}

// ------------------------------------------------------------------------------ the end

void Translation::CloseWithOthers() {
  if (!setup_.place) return;
  setup_.place->OnClose([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->setup_.loop->Post([self] { self->Fail("the server is shutting down"); });
  });
}

// Tells the client, which is then closed.
void Translation::Finish(const RemoteCommandOutcome& outcome) {
  if (over_) return;
  (void)outbox_.Push(std::string(1, static_cast<char>(kError)) + outcome.json);
  LetGo(outcome.code);
}

// Ends the kubelet's side. A kubelet ends the command when its streams are reset.
void Translation::LetGo(int code) {
  if (std::exchange(over_, true)) return;
  if (setup_.on_outcome) setup_.on_outcome(code);
  outbox_.End();
  inbox_.Stop();
  idle_.Stop();
  if (cancel_timer_) std::exchange(cancel_timer_, nullptr)();
  for (auto& stream : streams_) {
    if (stream) stream->Reset();
  }
  if (session_) session_->Close();
  setup_.kubelet.reset();
  setup_.place.reset();
  waiting_.clear();
}

// The client's end. Destroyed on its loop.
class TranslationHandler final : public http::WebSocketHandler {
 public:
  explicit TranslationHandler(StreamTranslation setup)
      : translation_(std::make_shared<Translation>(std::move(setup))) {}
  ~TranslationHandler() override { translation_->ClientGone(); }
  void OnOpen(const std::shared_ptr<http::WebSocket>& socket) override {
    translation_->Open(socket);
  }
  void OnMessage(http::WebSocket& /*socket*/, http::WebSocketMessage message) override {
    translation_->FromClient(std::move(message));
  }
  http::Pull Next(http::WebSocketWriter& out, const Waker& waker) override {
    return translation_->Next(out, waker);
  }
  void OnClose(int /*code*/, const std::string& /*reason*/) override { translation_->ClientGone(); }

 private:
  const std::shared_ptr<Translation> translation_;
};

}  // namespace

std::unique_ptr<http::WebSocketHandler> NewStreamTranslation(StreamTranslation setup) {
  return std::make_unique<TranslationHandler>(std::move(setup));
}

}  // namespace apiserver::v0::proxy
