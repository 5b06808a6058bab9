#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "http/support.h"
#include "proxy/spdy_session.h"

// A server that speaks SPDY/3.1 as a kubelet does, with a script for its streams.
namespace proxy_test {

using namespace apiserver;  // NOLINT: tests only.

class FakeKubelet {
 public:
  // One command, used on the kubelet's loop.
  struct Command {
    Executor* loop = nullptr;
    std::shared_ptr<proxy::SpdySession> session;
    std::map<std::string, proxy::SpdyStream> streams;  // By streamtype.

    // False: enough waits.
    bool Write(const std::string& stream, std::string_view bytes) {
      const auto found = streams.find(stream);
      return found == streams.end() || found->second.Write(bytes);
    }
    // Ends as a kubelet does: the outcome, a reset of every stream, GOAWAY.
    void Exit(std::string_view outcome) {
      (void)Write("error", outcome);
      for (auto& [type, stream] : streams) stream.Reset();
      session->Close();
    }
  };
  using CommandPtr = std::shared_ptr<Command>;
  struct Script {
    // Called when a stream was opened; the answer to its SYN_STREAM follows.
    std::function<void(Command&, const std::string& stream)> opened = {};
    std::function<void(Command&, const std::string& stream, std::string_view bytes)> data = {};
    std::function<void(Command&, const std::string& stream)> ended = {};
    // Called when there is room again after a write that had none.
    std::function<void(Command&)> room = {};
    // The subprotocol that is chosen.
    std::string protocol = "v4.channel.k8s.io";
    // Accepts no stream.
    bool refuses_streams = false;
  };

  explicit FakeKubelet(Script script, http_test::Wire wire = http_test::Wire::kHttp1)
      : script_(std::move(script)),
        service_([this](http::Exchange& exchange) { return Serve(exchange); }),
        server_(service_.service, wire) {}

  int port() { return server_.listener().port(); }
  std::string host() { return "127.0.0.1:" + std::to_string(port()); }
  // The lines "POST /exec?x=y", "open stdin", "end stdin", "over".
  http_test::Journal& journal() { return journal_; }
  std::vector<http::Request> requests() { return *requests_.Lock(); }

 private:
  class Sink final : public proxy::SpdyStreamSink {
   public:
    Sink(FakeKubelet& kubelet, CommandPtr command, std::string type)
        : kubelet_(kubelet), command_(std::move(command)), type_(std::move(type)) {}
    void OnData(std::string_view bytes) override {
      if (kubelet_.script_.data) kubelet_.script_.data(*command_, type_, bytes);
    }
    void OnEnd(const Status& status) override {
      kubelet_.journal_.Add((status.ok() ? "end " : "lost ") + type_);
      if (kubelet_.script_.ended) kubelet_.script_.ended(*command_, type_);
    }

   private:
    FakeKubelet& kubelet_;
    const CommandPtr command_;
    const std::string type_;
  };

  http::Step Serve(http::Exchange& exchange) {
    journal_.Add(exchange.request().method + " " + exchange.request().target);
    requests_.Lock()->push_back(exchange.request());
    Executor& loop = exchange.loop();
    http::ResponseHead head{.code = 101,
                            .headers = {{"Connection", "Upgrade"},
                                        {"Upgrade", "SPDY/3.1"},
                                        {"X-Stream-Protocol-Version", script_.protocol}}};
    const Status status = exchange.writer().Upgrade(
        std::move(head),
        [this, &loop](std::unique_ptr<http::Tunnel> tunnel) { Begin(loop, std::move(tunnel)); });
    if (!status.ok()) return status;
    return http::Step::Done();
  }

  void Begin(Executor& loop, std::unique_ptr<http::Tunnel> tunnel) {
    const auto command = std::make_shared<Command>();
    command->loop = &loop;
    command->session = proxy::SpdySession::Start(
        {.connection = std::move(tunnel),
         .loop = &loop,
         .side = proxy::SpdySession::Side::kServer,
         .on_stream =
             [this, weak = std::weak_ptr(command)](const http::Headers& headers,
                                                   proxy::SpdyStream stream) {
               return Open(weak.lock(), std::string(headers.Get("streamtype")), stream);
             },
         .on_room =
             [this, weak = std::weak_ptr(command)] {
               if (const auto kept = weak.lock(); kept && script_.room) script_.room(*kept);
             },
         .on_end =
             [this, command](const Status& /*status*/) {
               command->streams.clear();
               command->session.reset();
               journal_.Add("over");
             }});
  }

  std::shared_ptr<proxy::SpdyStreamSink> Open(const CommandPtr& command, const std::string& type,
                                              const proxy::SpdyStream& stream) {
    command->streams.emplace(type, stream);
    if (script_.opened) script_.opened(*command, type);
    journal_.Add("open " + type);
    if (script_.refuses_streams) return nullptr;
    return std::make_shared<Sink>(*this, command, type);
  }

  Script script_;
  http_test::Journal journal_;
  Guarded<std::vector<http::Request>> requests_;
  http_test::TestService service_;
  http_test::TestServer server_;
};

}  // namespace proxy_test
