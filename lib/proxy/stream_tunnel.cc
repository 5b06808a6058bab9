#include "apiserver/proxy/stream_tunnel.h"

#include <atomic>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/http/websocket.h"
#include "proxy/forward_headers.h"
#include "proxy/idle_watch.h"
#include "proxy/spdy_request.h"
#include "proxy/web_socket_inbox.h"
#include "proxy/web_socket_outbox.h"

namespace apiserver::v0::proxy {

namespace {

constexpr std::string_view kPrefix = "SPDY/3.1+";
constexpr std::string_view kSuffix = ".k8s.io";
// The longest message to the client.
constexpr std::size_t kTunnelMessageBytesMax = std::size_t{64} << 10;

// Returns the SPDY subprotocols of a WebSocket's, without their prefix.
std::vector<std::string> TunnelledProtocols(const http::Request& request) {
  std::vector<std::string> protocols;
  for (const std::string& offered : http::OfferedWebSocketProtocols(request)) {
    if (offered.starts_with(kPrefix) && offered.ends_with(kSuffix)) {
      protocols.push_back(offered.substr(kPrefix.size()));
    }
  }
  return protocols;
}

// One port-forward: a client's WebSocket and a kubelet's connection.
class TunnelledStream final : public http::StreamSink,
                              public std::enable_shared_from_this<TunnelledStream> {
 public:
  TunnelledStream(SpdyAnswer answer, Executor& loop)
      : answer_(std::move(answer)),
        kubelet_(std::move(answer_.outcome.switched->stream)),
        loop_(loop),
        outbox_([this] { kubelet_->Resume(); }) {}

  // --- The client's side, on its loop.
  void Open(const std::shared_ptr<http::WebSocket>& socket) {
    inbox_.Open(socket);
    loop_.Post([self = shared_from_this()] { self->Start(); });
  }
  void FromClient(http::WebSocket& socket, http::WebSocketMessage message);
  void ClientGone() {
    outbox_.Close();
    inbox_.Close();
    CloseLater();
  }
  http::Pull Next(http::WebSocketWriter& out, const Waker& waker) {
    return outbox_.Next(out, waker);
  }

  // --- The kubelet's side, on its loop.
  void OnData(std::string_view bytes) override;
  void OnEnd(const Status& status) override;
  void OnRoom() override { inbox_.Remove(unsent_.exchange(0)); }

 private:
  void Start();
  void CloseLater() {
    loop_.Post([self = shared_from_this()] { self->CloseGently(); });
  }
  // Ends both sides after what was read from each is sent.
  void CloseGently();

  SpdyAnswer answer_;
  const std::unique_ptr<http::Stream> kubelet_;
  Executor& loop_;
  WebSocketOutbox outbox_;
  WebSocketInbox inbox_;
  IdleWatch idle_;
  std::atomic<std::size_t> unsent_{0};  // Bytes that the kubelet's connection had no room for.
  Executor::Cancel cancel_timer_;
  bool started_ = false;
  bool closing_ = false;
  bool over_ = false;
};

void TunnelledStream::Start() {
  if (over_ || closing_) return;
  if (answer_.place) {
    answer_.place->OnClose([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->CloseLater();
    });
  }
  idle_.Start(loop_, answer_.limits.idle_timeout, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->CloseGently();
  });
  started_ = true;
  kubelet_->Start(shared_from_this());
}

void TunnelledStream::FromClient(http::WebSocket& socket, http::WebSocketMessage message) {
  if (!message.binary) return socket.Close(http::kWebSocketNormal, "");
  idle_.Touch();
  const std::size_t bytes = message.data.size();
  inbox_.Add(bytes);
  // The kubelet's loop may tell of room before Write has returned.
  unsent_ += bytes;
  if (kubelet_->Write(std::move(message.data))) OnRoom();
}

void TunnelledStream::OnData(std::string_view bytes) {
  idle_.Touch();
  bool room = true;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kTunnelMessageBytesMax);
    bytes.remove_prefix(piece.size());
    room = outbox_.Push(std::string(piece));
  }
  if (!room) kubelet_->Pause();
}

void TunnelledStream::OnEnd(const Status& /*status*/) {
  over_ = true;
  outbox_.End();
  inbox_.Stop();
  idle_.Stop();
  if (cancel_timer_) std::exchange(cancel_timer_, nullptr)();
  kubelet_->Cancel();
  answer_.place.reset();
}

void TunnelledStream::CloseGently() {
  if (over_ || std::exchange(closing_, true)) return;
  outbox_.End();
  inbox_.Stop();
  idle_.Stop();
  // The client's side never came.
  if (!started_) return kubelet_->Cancel();
  kubelet_->CloseWrite();
  kubelet_->Resume();
  cancel_timer_ = loop_.PostAfter(answer_.limits.flush_timeout, [self = shared_from_this()] {
    self->cancel_timer_ = nullptr;
    self->kubelet_->Cancel();
    self->answer_.place.reset();
  });
}

// The client's end. Destroyed on its loop.
class TunnelHandler final : public http::WebSocketHandler {
 public:
  TunnelHandler(SpdyAnswer answer, Executor& loop)
      : stream_(std::make_shared<TunnelledStream>(std::move(answer), loop)) {}
  ~TunnelHandler() override { stream_->ClientGone(); }
  void OnOpen(const std::shared_ptr<http::WebSocket>& socket) override { stream_->Open(socket); }
  void OnMessage(http::WebSocket& socket, http::WebSocketMessage message) override {
    stream_->FromClient(socket, std::move(message));
  }
  http::Pull Next(http::WebSocketWriter& out, const Waker& waker) override {
    return stream_->Next(out, waker);
  }
  void OnClose(int /*code*/, const std::string& /*reason*/) override { stream_->ClientGone(); }

 private:
  const std::shared_ptr<TunnelledStream> stream_;
};

// Passes on an answer that does not switch protocols.
http::Step PassOn(http::Exchange& exchange, SpdyUpgrade::Refused refused) {
  RemoveHopByHop(refused.head.headers);
  (void)refused.head.headers.Remove("Content-Length");
  refused.head.close_connection = true;
  exchange.writer().Send(std::move(refused.head), std::move(refused.body));
  return http::Step::Done();
}

http::Step Accept(const TunnelingHandler& rules, http::Exchange& exchange, SpdyAnswer answer) {
  const http::ResponseHead& head = answer.outcome.switched->head;
  const std::string_view chosen = head.headers.Get("X-Stream-Protocol-Version");
  http::WebSocketOptions options;
  if (!chosen.empty()) options.protocols = {std::string(kPrefix).append(chosen)};
  return http::AcceptWebSocket(
      exchange, std::move(options),
      std::make_unique<TunnelHandler>(std::move(answer), rules.pool->loop()));
}

}  // namespace

bool AsksForSpdyTunnel(const http::Request& request) {
  return http::IsWebSocketRequest(request) && !TunnelledProtocols(request).empty();
}

http::Step TunnelingHandler::ServeHTTP(http::Exchange& exchange) const {
  auto protocols = TunnelledProtocols(exchange.request());
  Status bad = http::CheckWebSocketRequest(exchange.request(), {});
  if (bad.ok() && protocols.empty()) {
    bad = Status(Reason::kBadRequest, "unable to upgrade: no tunneling spdy protocols provided");
  }
  if (!bad.ok()) {
    if (on_request) on_request(400);
    return bad;
  }
  http::Headers headers =
      UpgradeRequestHeaders(exchange.request(), std::string(exchange.request().host));
  (void)headers.RemovePrefix("Sec-WebSocket-");
  SpdyRequest request{.location = location,
                      .pool = pool,
                      .endpoint = endpoint,
                      .pipes = pipes,
                      .user = user,
                      .protocols = std::move(protocols),
                      .headers = std::move(headers)};
  return AskForSpdy(exchange, std::move(request),
                    [rules = *this](http::Exchange& asked, SpdyAnswer answer) -> http::Step {
                      SpdyUpgrade::Outcome& outcome = answer.outcome;
                      Status error = outcome.error;
                      if (outcome.switched && !SwitchesToSpdy(outcome.switched->head)) {
                        error =
                            InternalError("unable to upgrade: missing upgrade headers in response");
                      }
                      const int code = !error.ok()       ? error.code()
                                       : outcome.refused ? outcome.refused->head.code
                                                         : 101;
                      if (rules.on_request) rules.on_request(code);
                      if (!error.ok()) return error;
                      if (outcome.refused) return PassOn(asked, *std::move(outcome.refused));
                      return Accept(rules, asked, std::move(answer));
                    });
}

}  // namespace apiserver::v0::proxy
