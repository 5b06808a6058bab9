// What a WebSocket client sends, read whole and byte by byte: both must say the same, and nothing
// may be longer than allowed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/websocket_frame.h"

namespace {

using namespace apiserver::http;  // NOLINT: a fuzz target.

constexpr std::size_t kMessageBytesMax = 300;

class Sink final : public WebSocketReader::Sink {
 public:
  void OnData(WebSocketMessage message) override {
    if (message.data.size() > kMessageBytesMax) std::abort();
    said += (message.binary ? 'b' : 't') + message.data;
  }
  void OnPing(std::string_view payload) override {
    if (payload.size() > 125) std::abort();
    said.append("p").append(payload);
  }
  void OnCloseFrame(int code, std::string_view reason) override {
    if (WebSocketClosePayload(code, reason).size() > 125) std::abort();
    said.append("c").append(std::to_string(code)).append(reason);
  }
  std::string said;
};

std::string ReadInPieces(std::string_view bytes, std::size_t piece) {
  WebSocketReader reader(kMessageBytesMax);
  Sink sink;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    if (const auto failure = reader.Receive(bytes.substr(at, piece), sink)) {
      sink.said.append("f").append(std::to_string(failure->code));
    }
  }
  return sink.said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size > 0 && ReadInPieces(bytes, size) != ReadInPieces(bytes, 1)) std::abort();
  return 0;
}
