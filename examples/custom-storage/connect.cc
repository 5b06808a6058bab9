#include <string>
#include <utility>
#include <vector>

#include "apiserver/http/websocket.h"
#include "threads.h"

namespace threads {

using apiserver::Context;
using apiserver::Result;
namespace http = apiserver::http;
namespace meta = apiserver::meta;
namespace registry = apiserver::registry;
namespace rest = apiserver::rest;
namespace runtime = apiserver::runtime;

namespace {

std::string Answer(const runtime::Object& thread, const std::string& question) {
  const runtime::Value status = thread["status"];
  if (question == "command") return std::string(status["command"].AsString());
  if (question == "state") return std::string(status["state"].AsString());
  if (question == "cpu") return std::to_string(status["cpuMilliseconds"].AsInt());
  return "ask for command, state or cpu";
}

class ThreadConnect final : public rest::Storage, public rest::Connecter {
 public:
  explicit ThreadConnect(std::shared_ptr<registry::PollingStore> store)
      : store_(std::move(store)) {}

  std::unique_ptr<runtime::Object> New() const override { return store_->New(); }
  std::vector<std::string> ConnectMethods() const override { return {"GET"}; }

  Result<http::Handler> Connect(const Context& ctx, const rest::ConnectRequest& request) override {
    const auto thread = store_->Get(ctx, request.name, {});
    if (!thread.ok()) return thread.status();
    return http::Handler(
        [store = store_, name = std::string(request.name)](http::Exchange& exchange) {
          return http::AcceptWebSocket(
              exchange, {},
              [store, name](http::WebSocket& socket, const http::WebSocketMessage& message) {
                // On a loop, where nothing may wait; the last poll is in memory.
                const auto now = store->Get(Context::Background().WithMayBlock(false), name,
                                            {.resource_version = "0"});
                if (!now.ok()) return socket.Close(http::kWebSocketNormal, "the thread is gone");
                socket.Send({.data = Answer(**now, message.data)});
              });
        });
  }

 private:
  std::shared_ptr<registry::PollingStore> store_;
};

}  // namespace

std::shared_ptr<rest::Storage> NewThreadConnect(std::shared_ptr<registry::PollingStore> store) {
  return std::make_shared<ThreadConnect>(std::move(store));
}

}  // namespace threads
