#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/http/websocket.h"
#include "apiserver/meta/errors.h"
#include "dialled.h"
#include "widget_server.h"

// A server of widgets with subresources that a host brings: objects of their own, connections,
// streams.
namespace subresource_test {

using namespace apiserver;  // NOLINT: tests only.
using apiserver::testing::Contains;
using apiserver::testing::Dialled;
using apiserver::testing::kWidgets;
using apiserver::testing::ServerFrame;
using apiserver::testing::TestServer;
using apiserver::testing::TestServerOptions;
using apiserver::testing::WebSocketClient;
using apiserver::testing::Widget;

class Subresource : public rest::Storage {
 public:
  explicit Subresource(runtime::KindPtr kind) : kind_(std::move(kind)) {}
  std::unique_ptr<runtime::Object> New() const override {
    return std::make_unique<runtime::Object>(kind_, "v1");
  }

 protected:
  // A widget that says what the storage was told.
  std::unique_ptr<runtime::Object> Says(std::string_view name, const std::string& what) const {
    auto object = New();
    object->Edit("metadata", "name") = name;
    object->Edit("spec", "color") = what;
    return object;
  }

 private:
  runtime::KindPtr kind_;
};

inline std::string JoinedQuery(const meta::QueryValues& query) {
  std::string text;
  for (const auto& [key, value] : query) text += key + "=" + value + ";";
  return text;
}

class Options final : public Subresource, public rest::GetterWithOptions {
 public:
  using Subresource::Subresource;
  bool TakesSubpath() const override { return true; }
  Result<runtime::ObjectPtr> Get(const Context&, std::string_view name,
                                 const meta::QueryValues& query,
                                 std::string_view subpath) override {
    return runtime::ObjectPtr(Says(name, JoinedQuery(query) + std::string(subpath)));
  }
};

// As pods/binding: POST with the name in the URL.
class Binding final : public Subresource, public rest::NamedCreater {
 public:
  using Subresource::Subresource;
  Result<runtime::ObjectPtr> Create(const Context& ctx, std::string_view name,
                                    std::unique_ptr<runtime::Object> object,
                                    const rest::ValidateObject& validate,
                                    const meta::CreateOptions&) override {
    if (Status status = validate(ctx, *object); !status.ok()) return status;
    const std::string color((*object)["spec"]["color"].AsString());
    return runtime::ObjectPtr(Says(name, "bound to " + color));
  }
};

// GET and PUT of something that is kept nowhere else.
class Lock final : public Subresource, public rest::Getter, public rest::Updater {
 public:
  explicit Lock(runtime::KindPtr kind) : Subresource(std::move(kind)) {
    *kept_.Lock() = Says("a", "open");
  }
  Result<runtime::ObjectPtr> Get(const Context&, std::string_view,
                                 const meta::GetOptions&) override {
    return *kept_.Lock();
  }
  Result<rest::UpdateResult> Update(const Context& ctx, std::string_view,
                                    const rest::UpdateRequest& request) override {
    auto kept = kept_.Lock();
    auto made = request.info.UpdatedObject(ctx, *kept);
    if (!made.ok()) return made.status();
    *kept = std::move(*made);
    return rest::UpdateResult{.object = *kept};
  }

 private:
  Guarded<runtime::ObjectPtr> kept_;
};

// Answers plainly.
class ProxySubresource final : public Subresource, public rest::Connecter {
 public:
  explicit ProxySubresource(runtime::KindPtr kind, bool websocket_needs_create = true)
      : Subresource(std::move(kind)), websocket_needs_create_(websocket_needs_create) {}
  std::vector<std::string> ConnectMethods() const override { return {"GET", "POST", "DELETE"}; }
  bool TakesSubpath() const override { return true; }
  bool WebSocketNeedsCreate() const override { return websocket_needs_create_; }
  Result<http::Handler> Connect(const Context&, const rest::ConnectRequest& request) override {
    if (request.name == "gone") return meta::NewNotFound({"example.com", "widgets"}, "gone");
    return http::Handler([answer = std::string(request.name) + " " + JoinedQuery(request.query) +
                                   " " + std::string(request.subpath)](http::Exchange& exchange) {
      exchange.writer().Send({}, exchange.request().method + " " + answer + " " + *exchange.body());
      return http::Step::Done();
    });
  }

 private:
  const bool websocket_needs_create_;
};

// A Connecter in ten lines.
class Echo final : public Subresource, public rest::Connecter {
 public:
  using Subresource::Subresource;
  std::vector<std::string> ConnectMethods() const override { return {"GET"}; }
  Result<http::Handler> Connect(const Context&, const rest::ConnectRequest&) override {
    return http::Handler([](http::Exchange& exchange) {
      return http::AcceptWebSocket(exchange, {}, [](http::WebSocket& socket, auto message) {
        socket.Send(std::move(message));
      });
    });
  }
};

// Sends back what comes through a raw connection.
struct EchoSink final : public http::StreamSink {
  void OnData(std::string_view bytes) override { tunnel->Write("<" + std::string(bytes) + ">"); }
  void OnEnd(const Status& /*status*/) override { tunnel.reset(); }
  std::unique_ptr<http::Tunnel> tunnel;
};

// Takes the raw connection.
class RawSubresource final : public Subresource, public rest::Connecter {
 public:
  using Subresource::Subresource;
  std::vector<std::string> ConnectMethods() const override { return {"POST"}; }
  Result<http::Handler> Connect(const Context&, const rest::ConnectRequest&) override {
    return http::Handler([](http::Exchange& exchange) -> http::Step {
      const auto echo = std::make_shared<EchoSink>();
      const Status status =
          exchange.writer().Upgrade({.code = 101, .headers = {{"Upgrade", "SPDY/3.1"}}},
                                    [echo](std::unique_ptr<http::Tunnel> tunnel) {
                                      echo->tunnel = std::move(tunnel);
                                      echo->tunnel->Start(echo);
                                    });
      return status.ok() ? http::Step::Done() : http::Step(status);
    });
  }
};

// Counts a body as it comes and answers with the number.
struct Counter final : public http::StreamSink {
  explicit Counter(http::Exchange& from) : exchange(from.Share()) {}
  void OnData(std::string_view bytes) override { count += bytes.size(); }
  void OnEnd(const Status& status) override {
    body.reset();
    if (!status.ok()) return (*std::exchange(resume, std::nullopt))(status);
    exchange->writer().Send({}, std::to_string(count));
    (*std::exchange(resume, std::nullopt))(http::Step::Done());
  }
  std::shared_ptr<http::Exchange> exchange;
  std::unique_ptr<http::ReadStream> body;
  std::optional<http::Resume> resume;
  std::size_t count = 0;
};

// Takes bodies of any length.
class Upload final : public Subresource, public rest::Connecter {
 public:
  using Subresource::Subresource;
  std::vector<std::string> ConnectMethods() const override { return {"POST"}; }
  bool StreamsBody() const override { return true; }
  Result<http::Handler> Connect(const Context&, const rest::ConnectRequest&) override {
    return http::Handler([](http::Exchange& exchange) -> http::Step {
      const auto counter = std::make_shared<Counter>(exchange);
      auto opened = exchange.OpenBody({});
      if (!opened.ok()) return opened.status();
      counter->body = *std::move(opened);
      return http::Step::Later([counter](http::Resume resume) {
        counter->resume.emplace(std::move(resume));
        counter->body->Start(counter);
      });
    });
  }
};

// Lines that a test writes; ends when the test says so, or the client goes.
struct Log {
  struct State {
    std::vector<std::string> lines;
    Waker waker;
    bool ended = false;
    int open = 0;
  };
  Guarded<State> state;

  void Add(const std::string& line) {
    state.Lock()->lines.push_back(line);
    Wake();
  }
  void End() {
    state.Lock()->ended = true;
    Wake();
  }
  void Wake() {
    const Waker waker = state.Lock()->waker;
    waker.Wake();
  }
  bool AwaitOpen(int count) {
    auto locked = state.Lock();
    return locked.WaitUntil(RealClock().Now() + std::chrono::seconds(60),
                            [&] { return locked->open == count; });
  }
};

class LogBody final : public http::BodySource {
 public:
  explicit LogBody(std::shared_ptr<Log> log) : log_(std::move(log)) { Count(1); }
  ~LogBody() override { Count(-1); }
  http::Pull Next(http::ChunkWriter& out, const Waker& waker) override {
    std::string line;
    {
      auto state = log_->state.Lock();
      state->waker = waker;
      if (next_ == state->lines.size()) {
        return state->ended ? http::Pull::kEnd : http::Pull::kWait;
      }
      line = state->lines[next_++];
    }
    out.Write(line);
    return http::Pull::kMore;
  }

 private:
  void Count(int by) {
    log_->state.Lock()->open += by;
    log_->state.NotifyAll();
  }
  std::shared_ptr<Log> log_;
  std::size_t next_ = 0;
};

class LogStorage final : public Subresource, public rest::ResourceStreamer {
 public:
  LogStorage(runtime::KindPtr kind, std::shared_ptr<Log> log)
      : Subresource(std::move(kind)), log_(std::move(log)) {}
  Result<Input> InputStream(const Context&, std::string_view name,
                            const meta::QueryValues&) override {
    if (name == "gone") return meta::NewNotFound({"example.com", "widgets"}, "gone");
    if (name == "silent") return Input{};
    if (name == "bytes") return Input{.body = std::make_unique<LogBody>(log_)};
    return Input{.body = std::make_unique<LogBody>(log_), .media_type = "text/plain"};
  }

 private:
  std::shared_ptr<Log> log_;
};

// Remembers what it saw, and refuses to let anyone connect to "forbidden".
class Witness final : public admission::Plugin {
 public:
  std::string_view name() const override { return "Witness"; }
  bool Handles(admission::Operation operation) const override {
    return operation == admission::Operation::kConnect;
  }
  Status Admit(const Context&, admission::Attributes& attributes) const override {
    seen.Lock()->append("admit " + Text(attributes));
    return {};
  }
  Status Validate(const Context&, const admission::Attributes& attributes) const override {
    seen.Lock()->append("validate " + Text(attributes));
    if (attributes.name != "forbidden") return {};
    return meta::NewForbidden({"example.com", "widgets"}, attributes.name, "not this one");
  }
  mutable Guarded<std::string> seen;

 private:
  static std::string Text(const admission::Attributes& attributes) {
    return attributes.namespace_ + "/" + attributes.name + "/" + attributes.subresource + " " +
           (attributes.object ? "with" : "without") + " object;";
  }
};

struct ServedSubresources {
  explicit ServedSubresources(TestServerOptions options = {}) {
    options.admission = {witness};
    server = testing::StartWidgetServer(std::move(options));
    const auto kind = testing::WidgetKind();
    const std::shared_ptr<rest::Storage> widgets(server->store("widgets"), [](auto*) {});
    REQUIRE(
        server->server()
            .ReplaceAPIGroup({"example.com",
                              {{"v1",
                                {{"widgets", widgets},
                                 {"widgets/options", std::make_shared<Options>(kind)},
                                 {"widgets/binding", std::make_shared<Binding>(kind)},
                                 {"widgets/lock", std::make_shared<Lock>(kind)},
                                 {"widgets/proxy", std::make_shared<ProxySubresource>(kind)},
                                 {"widgets/relay", std::make_shared<ProxySubresource>(kind, false)},
                                 {"widgets/echo", std::make_shared<Echo>(kind)},
                                 {"widgets/raw", std::make_shared<RawSubresource>(kind)},
                                 {"widgets/upload", std::make_shared<Upload>(kind)},
                                 {"widgets/log", std::make_shared<LogStorage>(kind, log)}}}}})
            .ok());
  }

  std::shared_ptr<Witness> witness = std::make_shared<Witness>();
  std::shared_ptr<Log> log = std::make_shared<Log>();
  std::unique_ptr<TestServer> server;
};

inline std::string At(const std::string& rest) { return std::string(kWidgets) + "/" + rest; }

}  // namespace subresource_test
