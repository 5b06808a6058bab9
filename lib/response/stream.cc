#include <memory>
#include <string>
#include <utility>

#include "apiserver/http/websocket.h"
#include "apiserver/response/response.h"
#include "response/end_signal.h"
#include "text/base64.h"

namespace apiserver::v0::response {

namespace {

constexpr std::string_view kBinaryProtocol = "binary.k8s.io";
constexpr std::string_view kBase64Protocol = "base64.binary.k8s.io";

// Collects the output of a body for one message.
class MessageBytes final : public http::ChunkWriter {
 public:
  explicit MessageBytes(std::size_t room) : room_(room) {}
  std::size_t room() const override { return room_; }
  void Write(std::string_view copied) override { bytes += copied; }
  void Take(std::string owned) override { bytes += owned; }
  void Write(std::shared_ptr<const void>, std::string_view shared) override { bytes += shared; }
  std::string bytes;

 private:
  std::size_t room_;
};

// Ends with the request's Context, whatever the body waits for.
class EndedBody final : public http::BodySource {
 public:
  EndedBody(Context ctx, std::unique_ptr<http::BodySource> body)
      : ctx_(std::move(ctx)), body_(std::move(body)) {}

  http::Pull Next(http::ChunkWriter& out, const Waker& waker) override {
    end_.Arm(ctx_, waker);
    if (ctx_.done()) return http::Pull::kEnd;
    return body_->Next(out, waker);
  }

 private:
  Context ctx_;
  std::unique_ptr<http::BodySource> body_;
  EndSignal end_;
};

class StreamSocket final : public http::WebSocketHandler {
 public:
  explicit StreamSocket(std::unique_ptr<http::BodySource> body) : body_(std::move(body)) {}

  // The subprotocol has been chosen by now.
  void OnOpen(const std::shared_ptr<http::WebSocket>& socket) override {
    base64_ = socket->protocol() == kBase64Protocol;
    // An empty first message, as Kubernetes' wsstream sends it, tells the client that the stream
    // works.
    socket->Send({.data = "", .binary = !base64_});
  }

  http::Pull Next(http::WebSocketWriter& out, const Waker& waker) override {
    MessageBytes message(out.room());
    const http::Pull pulled = body_->Next(message, waker);
    if (message.bytes.empty()) return pulled;
    if (base64_) {
      std::string text;
      text::AppendBase64(message.bytes, text);
      out.Write(text, /*binary=*/false);
    } else {
      out.Write(message.bytes, /*binary=*/true);
    }
    return pulled;
  }

 private:
  std::unique_ptr<http::BodySource> body_;
  bool base64_ = false;
};

}  // namespace

// 204 for a streamer that has nothing to send, as upstream's StreamObject.
http::Step WriteStream(http::Exchange& exchange, std::unique_ptr<http::BodySource> body,
                       std::string media_type) {
  if (!body) {
    exchange.writer().Send({.code = 204, .headers = {}}, {});
    return http::Step::Done();
  }
  if (http::IsWebSocketRequest(exchange.request())) {
    return http::AcceptWebSocket(
        exchange, {.protocols = {"", std::string(kBinaryProtocol), std::string(kBase64Protocol)}},
        std::make_unique<StreamSocket>(std::move(body)));
  }
  if (media_type.empty()) media_type = "application/octet-stream";
  exchange.writer().Stream({.code = 200, .headers = {{"Content-Type", std::move(media_type)}}},
                           std::make_unique<EndedBody>(exchange.ctx(), std::move(body)));
  return http::Step::Done();
}

}  // namespace apiserver::v0::response
