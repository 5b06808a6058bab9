#include "apiserver/http/websocket.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "apiserver/base/sync.h"
#include "http/tokens.h"
#include "http/websocket_frame.h"
#include "text/base64.h"

namespace apiserver::v0::http {
namespace {

constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::string_view kVersion = "13";
// 16 bytes in base64.
constexpr std::size_t kKeyBytes = 24;
constexpr std::size_t kFrameBytesMax = 10;
// A peer that does not take the answers to its messages is not read while so many wait.
constexpr std::size_t kAnswerBytesMax = 256 << 10;

// Returns the answer to Sec-WebSocket-Key. SHA-1 is the protocol's; it protects nothing.
std::string AcceptOf(std::string_view key) {
  const std::string text = std::string(key).append(kGuid);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  std::string base64;
  text::AppendBase64({reinterpret_cast<const char*>(digest.data()), size}, base64);
  return base64;
}

bool IsKey(std::string_view key) {
  if (key.size() != kKeyBytes || !key.ends_with("==")) return false;
  return std::all_of(key.begin(), key.end() - 2, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
  });
}

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
  return "[" + joined + "]";
}

// Follows k8s.io/apimachinery's wsstream: a client that offers no protocol is as one that offers
// "".
Result<std::string> AgreeOnProtocol(const Request& request,
                                    const std::vector<std::string>& protocols) {
  if (protocols.empty()) return std::string();
  std::vector<std::string> offered = OfferedWebSocketProtocols(request);
  if (offered.empty()) offered.emplace_back();
  for (const std::string& each : offered) {
    if (std::find(protocols.begin(), protocols.end(), each) != protocols.end()) return each;
  }
  return Status(Reason::kForbidden, "requested protocol(s) are not supported: " + Joined(offered) +
                                        "; supports " + Joined(protocols));
}

struct Setup {
  WebSocketOptions options;
  std::string protocol;
  Executor* loop = nullptr;
  Context ctx;
};

// Both directions of one WebSocket. Everything but the public methods runs on the loop.
class OpenSocket final : public WebSocket,
                         public WebSocketReader::Sink,
                         public std::enable_shared_from_this<OpenSocket> {
 public:
  OpenSocket(Setup setup, std::unique_ptr<WebSocketHandler> handler)
      : options_(std::move(setup.options)),
        protocol_(std::move(setup.protocol)),
        loop_(*setup.loop),
        ctx_(std::move(setup.ctx)),
        reader_(options_.message_bytes_max),
        handler_(std::move(handler)) {}

  // --- WebSocket, any thread.
  void Send(WebSocketMessage message) override;
  void Close(int code, std::string reason) override;
  void Pause() override { HoldLater(true); }
  void Resume() override { HoldLater(false); }
  const std::string& protocol() const override { return protocol_; }

  // --- For the tunnel, on the loop.
  void Open(std::unique_ptr<Tunnel> tunnel);
  Pull Produce(ChunkWriter& out, const Waker& waker);

 private:
  class Incoming;
  class Body;
  class Writer;

  void Receive(std::string_view bytes);
  void OnPeerEnd();
  void OnData(WebSocketMessage message) override;
  void OnPing(std::string_view payload) override;
  void OnCloseFrame(int code, std::string_view reason) override;
  void Queue(WebSocketOpcode opcode, std::string_view payload);
  void BeginClose(int code, const std::string& reason);
  void HoldLater(bool hold);
  // Reads the peer or not, as the host and the answers that wait want it. After a Close nothing is
  // told any more, so that only the peer's Close, or its end, is left to be read.
  void Hold();
  // Ends the socket once the queued bytes are out, or at once if `cut`.
  void End(bool cut);
  void Closed(int code, const std::string& reason);
  void OnCancelled();
  int EndCode() const;
  void PingLater();
  void Ping();
  void Wake();

  const WebSocketOptions options_;
  const std::string protocol_;
  Executor& loop_;
  const Context ctx_;
  Context::Registration cancelled_;
  WebSocketReader reader_;
  std::unique_ptr<WebSocketHandler> handler_;
  std::unique_ptr<Tunnel> tunnel_;
  std::string out_;
  Waker waker_;
  bool close_sent_ = false;
  bool told_ = false;  // OnClose has been called.
  bool ended_ = false;
  bool cut_ = false;
  bool heard_ = true;  // Something came since the last ping.
  int silent_pings_ = 0;
  bool receiving_ = false;
  bool held_by_host_ = false;
  bool held_by_answers_ = false;
  bool paused_ = false;
  Executor::Cancel ping_timer_;
  Executor::Cancel close_timer_;
};

// The receiver of the tunnel's bytes.
class OpenSocket::Incoming final : public StreamSink {
 public:
  explicit Incoming(std::shared_ptr<OpenSocket> socket) : socket_(std::move(socket)) {}
  void OnData(std::string_view bytes) override { socket_->Receive(bytes); }
  void OnEnd(const Status& /*status*/) override { socket_->OnPeerEnd(); }

 private:
  std::shared_ptr<OpenSocket> socket_;
};

// The source that the tunnel pulls. It keeps the socket alive as long as the connection is.
class OpenSocket::Body final : public BodySource {
 public:
  explicit Body(std::shared_ptr<OpenSocket> socket) : socket_(std::move(socket)) {}
  Pull Next(ChunkWriter& out, const Waker& waker) override { return socket_->Produce(out, waker); }

 private:
  std::shared_ptr<OpenSocket> socket_;
};

class OpenSocket::Writer final : public WebSocketWriter {
 public:
  explicit Writer(ChunkWriter& out) : out_(out) {}
  std::size_t room() const override {
    const std::size_t room = out_.room();
    return room > kFrameBytesMax ? room - kFrameBytesMax : 1;
  }
  void Write(std::string_view data, bool binary) override {
    std::string frame;
    frame.reserve(data.size() + kFrameBytesMax);
    AppendWebSocketFrame(binary ? WebSocketOpcode::kBinary : WebSocketOpcode::kText, data, frame);
    out_.Take(std::move(frame));
  }

 private:
  ChunkWriter& out_;
};

// On the loop a message is queued at once, so that an answer sent from OnMessage counts against the
// limit at which the peer is no longer read.
void OpenSocket::Send(WebSocketMessage message) {
  const auto opcode = message.binary ? WebSocketOpcode::kBinary : WebSocketOpcode::kText;
  if (loop_.Inside()) {
    if (!close_sent_) Queue(opcode, message.data);
    return;
  }
  loop_.Post([self = shared_from_this(), opcode, data = std::move(message.data)] {
    if (!self->close_sent_) self->Queue(opcode, data);
  });
}

void OpenSocket::Close(int code, std::string reason) {
  if (loop_.Inside()) return BeginClose(code, reason);
  loop_.Post([self = shared_from_this(), code, reason = std::move(reason)] {
    self->BeginClose(code, reason);
  });
}

void OpenSocket::Open(std::unique_ptr<Tunnel> tunnel) {
  tunnel_ = std::move(tunnel);
  tunnel_->Pour(std::make_unique<Body>(shared_from_this()));
  tunnel_->Start(std::make_shared<Incoming>(shared_from_this()));
  cancelled_ = ctx_.OnDone([weak = weak_from_this(), &loop = loop_] {
    loop.Post([weak] {
      if (const auto self = weak.lock()) self->OnCancelled();
    });
  });
  PingLater();
  handler_->OnOpen(shared_from_this());
}

void OpenSocket::OnPeerEnd() {
  End(/*cut=*/false);
  Closed(kWebSocketAbnormal, "");
}

void OpenSocket::Receive(std::string_view bytes) {
  heard_ = true;
  if (ended_) return;
  receiving_ = true;
  const auto failure = reader_.Receive(bytes, *this);
  receiving_ = false;
  if (failure) {
    BeginClose(failure->code, std::string(failure->reason));
    End(/*cut=*/false);
    Closed(failure->code, std::string(failure->reason));
  }
}

void OpenSocket::OnData(WebSocketMessage message) {
  if (!close_sent_) handler_->OnMessage(*this, std::move(message));
}

void OpenSocket::OnPing(std::string_view payload) {
  if (!close_sent_) Queue(WebSocketOpcode::kPong, payload);
}

void OpenSocket::OnCloseFrame(int code, std::string_view reason) {
  BeginClose(code, "");
  End(/*cut=*/false);
  Closed(code, std::string(reason));
}

void OpenSocket::Queue(WebSocketOpcode opcode, std::string_view payload) {
  if (ended_) return;
  AppendWebSocketFrame(opcode, payload, out_);
  if (out_.size() > options_.unsent_bytes_max) End(/*cut=*/true);
  // Only for answers: a host that sends of its own accord still hears the peer.
  if (receiving_ && out_.size() >= kAnswerBytesMax) {
    held_by_answers_ = true;
    Hold();
  }
  Wake();
}

void OpenSocket::HoldLater(bool hold) {
  if (!loop_.Inside()) {
    loop_.Post([self = shared_from_this(), hold] { self->HoldLater(hold); });
    return;
  }
  held_by_host_ = hold;
  Hold();
}

void OpenSocket::Hold() {
  const bool hold = !close_sent_ && !ended_ && (held_by_host_ || held_by_answers_);
  if (std::exchange(paused_, hold) == hold) return;
  if (hold) {
    tunnel_->Pause();
  } else {
    tunnel_->Resume();
  }
}

void OpenSocket::BeginClose(int code, const std::string& reason) {
  if (close_sent_ || ended_) return;
  Queue(WebSocketOpcode::kClose, WebSocketClosePayload(code, reason));
  close_sent_ = true;
  Hold();
  // A peer that never answers the Close is cut off.
  close_timer_ = loop_.PostAfter(options_.close_timeout, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->End(/*cut=*/true);
  });
}

void OpenSocket::End(bool cut) {
  cut_ |= cut;
  ended_ = true;
  Hold();
  if (ping_timer_) std::exchange(ping_timer_, nullptr)();
  // A peer that reads nothing does not take its Close either.
  if (cut && close_timer_) std::exchange(close_timer_, nullptr)();
  Wake();
}

void OpenSocket::Closed(int code, const std::string& reason) {
  if (std::exchange(told_, true)) return;
  handler_->OnClose(code, reason);
  // The tunnel calls this through what it holds: it is let go of afterwards.
  loop_.Post([self = shared_from_this()] {
    self->handler_.reset();
    self->cancelled_.Reset();
  });
}

void OpenSocket::OnCancelled() { BeginClose(EndCode(), ""); }

// Clients reconnect after 1001, and take 1000 for the end of what they asked for.
int OpenSocket::EndCode() const {
  const bool stopping = ctx_.Err().reason() == Reason::kServiceUnavailable;
  return stopping ? kWebSocketGoingAway : kWebSocketNormal;
}

void OpenSocket::PingLater() {
  if (options_.ping_interval.count() <= 0 || ended_) return;
  ping_timer_ = loop_.PostAfter(options_.ping_interval, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Ping();
  });
}

// A peer that this side does not read at the moment cannot be heard, so that its silence does not
// count.
void OpenSocket::Ping() {
  const bool heard = std::exchange(heard_, false) || paused_;
  silent_pings_ = heard ? 0 : silent_pings_ + 1;
  if (silent_pings_ >= 2) return End(/*cut=*/true);
  if (!close_sent_) Queue(WebSocketOpcode::kPing, "");
  PingLater();
}

void OpenSocket::Wake() { waker_.Wake(); }

Pull OpenSocket::Produce(ChunkWriter& out, const Waker& waker) {
  waker_ = waker;
  if (cut_) return Pull::kAbort;
  if (!out_.empty()) {
    out.Take(std::exchange(out_, {}));
    held_by_answers_ = false;
    Hold();
    return Pull::kMore;
  }
  if (ended_) return Pull::kEnd;
  if (close_sent_ || !handler_) return Pull::kWait;
  Writer writer(out);
  const Pull pulled = handler_->Next(writer, waker);
  if (pulled != Pull::kEnd) return pulled;
  // It may have heard of the server's end first.
  BeginClose(EndCode(), "");
  return Pull::kMore;
}

class Callback final : public WebSocketHandler {
 public:
  explicit Callback(UniqueFunction<void(WebSocket&, WebSocketMessage)> on_message)
      : on_message_(std::move(on_message)) {}
  void OnMessage(WebSocket& socket, WebSocketMessage message) override {
    on_message_(socket, std::move(message));
  }

 private:
  UniqueFunction<void(WebSocket&, WebSocketMessage)> on_message_;
};

}  // namespace

bool IsWebSocketRequest(const Request& request) {
  return request.method == "GET" && request.IsUpgrade() &&
         EqualIgnoreCase(request.headers.Get("Upgrade"), "websocket");
}

std::vector<std::string> OfferedWebSocketProtocols(const Request& request) {
  std::vector<std::string> offered;
  for (std::string_view value : request.headers.GetAll("Sec-WebSocket-Protocol")) {
    while (!value.empty()) {
      const std::size_t comma = value.find(',');
      const std::string_view word = Trim(value.substr(0, comma));
      if (!word.empty()) offered.emplace_back(word);
      value = comma == std::string_view::npos ? "" : value.substr(comma + 1);
    }
  }
  return offered;
}

Status CheckWebSocketRequest(const Request& request, const std::vector<std::string>& protocols) {
  if (!IsWebSocketRequest(request)) {
    return {Reason::kBadRequest, "the request does not ask for a WebSocket"};
  }
  if (request.headers.Get("Sec-WebSocket-Version") != kVersion) {
    return {Reason::kBadRequest, "missing or bad WebSocket Version"};
  }
  if (!IsKey(request.headers.Get("Sec-WebSocket-Key"))) {
    return {Reason::kBadRequest, "missing or bad Sec-WebSocket-Key"};
  }
  return AgreeOnProtocol(request, protocols).status();
}

Step AcceptWebSocket(Exchange& exchange, WebSocketOptions options,
                     std::unique_ptr<WebSocketHandler> handler) {
  const Request& request = exchange.request();
  if (IsWebSocketRequest(request) && request.headers.Get("Sec-WebSocket-Version") != kVersion) {
    // A Status has no room for the header that RFC 6455, 4.4 demands.
    exchange.writer().Send({.code = 400,
                            .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                                        {"Sec-WebSocket-Version", "13"}}},
                           "missing or bad WebSocket Version\n");
    return Step::Done();
  }
  if (Status bad = CheckWebSocketRequest(request, options.protocols); !bad.ok()) return bad;
  auto protocol = AgreeOnProtocol(request, options.protocols);
  const std::string_view key = request.headers.Get("Sec-WebSocket-Key");
  ResponseHead head{.code = 101,
                    .headers = {{"Upgrade", "websocket"}, {"Sec-WebSocket-Accept", AcceptOf(key)}}};
  if (!protocol->empty()) head.headers.Add("Sec-WebSocket-Protocol", *protocol);
  const auto socket = std::make_shared<OpenSocket>(
      Setup{std::move(options), *std::move(protocol), &exchange.loop(), exchange.ctx()},
      std::move(handler));
  const Status status = exchange.writer().Upgrade(
      std::move(head),
      [socket](std::unique_ptr<Tunnel> tunnel) { socket->Open(std::move(tunnel)); });
  if (!status.ok()) return status;
  return Step::Done();
}

Step AcceptWebSocket(Exchange& exchange, WebSocketOptions options,
                     UniqueFunction<void(WebSocket&, WebSocketMessage)> on_message) {
  return AcceptWebSocket(exchange, std::move(options),
                         std::make_unique<Callback>(std::move(on_message)));
}

}  // namespace apiserver::v0::http
