// Answers each message of a WebSocket at /echo with the same message. One of more than 64 KiB is
// too big; the text "close" closes with 4001, "bye". The file "closed" has a line for each
// WebSocket that has ended: the code that its host was told.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/status_macros.h"
#include "apiserver/http/websocket.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/server/standalone.h"

namespace {

using namespace apiserver;  // NOLINT(google-build-using-namespace): a test's main.

constexpr std::size_t kMessageBytesMax = 64 << 10;
constexpr int kCloseCode = 4001;

class Echo final : public http::WebSocketHandler {
 public:
  void OnMessage(http::WebSocket& socket, http::WebSocketMessage message) override {
    if (message.data == "close") return socket.Close(kCloseCode, "bye");
    socket.Send(std::move(message));
  }
  void OnClose(int code, const std::string& /*reason*/) override {
    std::FILE* const file = std::fopen("closed", "a");
    if (file == nullptr) return;
    std::fprintf(file, "%d\n", code);
    std::fclose(file);
  }
};

Result<int> Run() {
  APISERVER_ASSIGN_OR_RETURN(const auto standalone, server::NewStandalone({}));
  APISERVER_ASSIGN_OR_RETURN(const auto server, standalone.NewServer());
  const auto echo = [](http::Exchange& exchange) {
    return http::AcceptWebSocket(
        exchange, {.protocols = {"", "echo.example.com"}, .message_bytes_max = kMessageBytesMax},
        std::make_unique<Echo>());
  };
  APISERVER_RETURN_IF_ERROR(server->HandlePath("/echo", echo, /*listed=*/false));
  APISERVER_RETURN_IF_ERROR(server->PrepareRun());
  return program::RunUntilSignal(*server, [&] {
    const Status written = standalone.WriteKubeconfig("echo.kubeconfig", server->port());
    if (!written.ok()) program::Fail(written);
  });
}

}  // namespace

int main() {
  program::BlockSignals();
  const auto code = Run();
  return code.ok() ? *code : program::Fail(code.status());
}
