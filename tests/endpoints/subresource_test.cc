// Subresources that a host brings: objects of their own, connections, streams.
#include <catch2/catch.hpp>

#include "apiserver/http/websocket.h"
#include "apiserver/meta/errors.h"
#include "dialled.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: tests only.
using apiserver::testing::Contains;
using apiserver::testing::Dialled;
using apiserver::testing::kWidgets;
using apiserver::testing::ServerFrame;
using apiserver::testing::TestServer;
using apiserver::testing::TestServerOptions;
using apiserver::testing::WebSocketClient;
using apiserver::testing::Widget;

namespace {

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

std::string JoinedQuery(const meta::QueryValues& query) {
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

std::string At(const std::string& rest) { return std::string(kWidgets) + "/" + rest; }

}  // namespace

TEST_CASE("endpoints: subresources answer the methods they can, with their own objects",
          "[endpoints]") {
  const ServedSubresources served;
  struct Case {
    const char* method;
    const char* path;
    const char* body;
    int code;
    const char* answer;
  };
  const Case cases[] = {
      // rest.go getRequestOptions: the slash in front, and the one behind.
      {"GET", "a/options?x=1", "", 200, R"("color":"x=1;")"},
      {"GET", "a/options/b/c", "", 200, R"("color":"/b/c")"},
      {"GET", "a/options/b/", "", 200, R"("color":"/b/")"},
      {"GET", "a/options/", "", 200, R"("color":"/")"},
      {"POST", "a/options", "{}", 405, R"("reason":"MethodNotAllowed")"},
      {"POST", "a/binding", R"({"metadata":{"name":"a"},"spec":{"color":"n1"}})", 201,
       R"("color":"bound to n1")"},
      {"POST", "a/binding", R"({"metadata":{"namespace":"other"}})", 400, "does not match"},
      {"GET", "a/binding", "", 405, R"("reason":"MethodNotAllowed")"},
      {"GET", "a/binding/more", "", 404, R"("reason":"NotFound")"},
      {"GET", "a/lock", "", 200, R"("color":"open")"},
      {"PUT", "a/lock", R"({"metadata":{"name":"a"},"spec":{"color":"shut"}})", 200,
       R"("color":"shut")"},
      {"PUT", "a/lock", R"({"metadata":{"name":"b"}})", 400, "does not match the name on the URL"},
      {"GET", "a/lock", "", 200, R"("color":"shut")"},
      {"DELETE", "a/lock", "", 405, R"("reason":"MethodNotAllowed")"},
      {"GET", "a/unheard-of", "", 404, R"("reason":"NotFound")"},
  };
  for (const Case& each : cases) {
    const auto answer = served.server->Call(each.method, At(each.path), each.body);
    INFO(each.method << " " << each.path << ": " << answer.body);
    CHECK(answer.code == each.code);
    CHECK(Contains(answer.body, each.answer));
  }
}

TEST_CASE("endpoints: a Connecter gets method, name, query, subpath and body", "[endpoints]") {
  const ServedSubresources served;
  struct Case {
    const char* method;
    const char* path;
    const char* body;
    int code;
    const char* answer;
  };
  const Case cases[] = {
      {"GET", "a/proxy", "", 200, "GET a   "},
      {"GET", "a/proxy?x=1&y=2", "", 200, "GET a x=1;y=2;  "},
      {"POST", "a/proxy/b/c/", "hello", 200, "POST a  /b/c/ hello"},
      {"DELETE", "a/proxy/", "", 200, "DELETE a  / "},
      {"PUT", "a/proxy", "{}", 405, R"("reason":"MethodNotAllowed")"},
      {"PATCH", "a/proxy", "{}", 405, R"("reason":"MethodNotAllowed")"},
      {"GET", "gone/proxy", "", 404, R"("reason":"NotFound")"},
      {"POST", "a/proxy?dryRun=All", "", 400, "dryRun is not supported"},
      {"POST", "a/proxy?dryRun=", "", 400, "dryRun is not supported"},
      {"GET", "forbidden/proxy", "", 403, "not this one"},
      {"GET", "a/echo", "", 400, "does not ask for a WebSocket"},
  };
  for (const Case& each : cases) {
    const auto answer = served.server->Call(each.method, At(each.path), each.body);
    INFO(each.method << " " << each.path << ": " << answer.body);
    CHECK(answer.code == each.code);
    CHECK(Contains(answer.body, each.answer));
  }
}

TEST_CASE("endpoints: a Connecter that streams bodies takes one of any length", "[endpoints]") {
  const ServedSubresources served;
  const std::string body(16 << 20, 'x');

  const auto whole = served.server->Call("POST", At("a/proxy"), body);
  CHECK(whole.code == 413);
  const auto streamed = served.server->Call("POST", At("a/upload"), body);
  CHECK(streamed.code == 200);
  CHECK(streamed.body == "16777216");
  CHECK(served.server->Call("POST", At("a/upload"), "").body == "0");
}

TEST_CASE("endpoints: to connect is admitted, then validated, before anything is done",
          "[endpoints]") {
  const ServedSubresources served;

  served.server->Call("GET", At("a/proxy"));
  served.server->Call("GET", At("a/proxy?dryRun=All"));
  served.server->Call("GET", At("a/options"));

  CHECK(*served.witness->seen.Lock() ==
        "admit default/a/proxy without object;validate default/a/proxy without object;");
}

TEST_CASE("endpoints: discovery lists what each method of a subresource stands for",
          "[endpoints]") {
  const ServedSubresources served;
  const std::string body = served.server->Call("GET", "/apis/example.com/v1").body;

  struct Case {
    const char* name;
    const char* verbs;
  };
  for (const Case& each :
       {Case{"options", R"(["get"])"}, Case{"binding", R"(["create"])"},
        Case{"lock", R"(["get","patch","update"])"}, Case{"proxy", R"(["create","delete","get"])"},
        Case{"echo", R"(["get"])"}, Case{"raw", R"(["create"])"}, Case{"log", R"(["get"])"}}) {
    const std::string row = std::string(R"("name":"widgets/)") + each.name +
                            R"(","singularName":"","namespaced":true,"kind":"Widget","verbs":)" +
                            each.verbs;
    INFO(row << "\n" << body);
    CHECK(Contains(body, row));
  }
}

TEST_CASE("endpoints: OpenAPI tells of connections, and of what follows them", "[endpoints]") {
  const ServedSubresources served;
  const std::string body = served.server->Call("GET", "/openapi/v2").body;
  const std::string path = "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/";

  for (const std::string& each :
       {"\"" + path + "proxy\":", "\"" + path + "proxy/{path}\":", "\"" + path + "echo\":",
        std::string("\"connectExampleComV1GetNamespacedWidgetProxy\""),
        std::string("\"connectExampleComV1PostNamespacedWidgetProxyWithPath\""),
        std::string("\"connectExampleComV1GetNamespacedWidgetEcho\"")}) {
    INFO(each);
    CHECK(Contains(body, each));
  }
  CHECK_FALSE(Contains(body, path + "echo/{path}"));
}

TEST_CASE("endpoints: no deadline ends a connection or a stream", "[endpoints]") {
  const ServedSubresources served({.request_timeout = std::chrono::milliseconds(50)});
  const auto connection = served.server->server().LoopbackConnection();
  auto stream = connection->Open({.target = At("a/log")}).value();
  const Context soon =
      Context::Child(Context::Background(), RealClock().Now() + std::chrono::seconds(60));
  REQUIRE(stream->Head(soon)->code == 200);

  // Far longer than the deadline; a short request under it is not ended either.
  for (int i = 0; i < 20; ++i) {
    served.log->Add("tick\n");
    CHECK(stream->Read(soon).value() == "tick\n");
    (void)Notification().WaitFor(std::chrono::milliseconds(10));
  }
  served.log->End();
  CHECK(stream->Read(soon).value().empty());
}

TEST_CASE("endpoints: a log is sent as it is written, until the client goes", "[endpoints]") {
  const ServedSubresources served;
  const auto connection = served.server->server().LoopbackConnection();
  auto stream = connection->Open({.target = At("a/log")}).value();
  const Context soon =
      Context::Child(Context::Background(), RealClock().Now() + std::chrono::seconds(60));

  // The head comes before the first line does.
  const auto head = stream->Head(soon);
  REQUIRE(head.ok());
  CHECK(head->headers.Get("Content-Type") == "text/plain");
  served.log->Add("one\n");
  CHECK(stream->Read(soon).value() == "one\n");
  served.log->Add("two\n");
  CHECK(stream->Read(soon).value() == "two\n");
  REQUIRE(served.log->AwaitOpen(1));
  stream->Cancel();
  CHECK(served.log->AwaitOpen(0));
}

TEST_CASE("endpoints: a log may be silent, untyped, or gone", "[endpoints]") {
  const ServedSubresources served;
  served.log->End();

  CHECK(served.server->Call("GET", At("silent/log")).code == 204);
  CHECK(served.server->Call("GET", At("gone/log")).code == 404);
  CHECK(served.server->Call("GET", At("bytes/log")).headers.Get("Content-Type") ==
        "application/octet-stream");
  CHECK(served.server->Call("POST", At("a/log")).code == 405);
}

TEST_CASE("endpoints: a server that stops does not wait for streams and WebSockets",
          "[endpoints]") {
  ServedSubresources served({.listen = true});
  Dialled dialled(*served.server);
  WebSocketClient echo(dialled.connection(), At("a/echo"));
  REQUIRE(echo.head().code == 101);
  const auto second = dialled.Connect();
  WebSocketClient log(*second, At("a/log"));
  REQUIRE(log.Read() == ServerFrame{0x82, ""});
  const auto third = dialled.Connect();
  auto stream = third->Open({.target = At("a/log")}).value();
  const Context soon =
      Context::Child(Context::Background(), RealClock().Now() + std::chrono::seconds(60));
  REQUIRE(stream->Head(soon).ok());

  Thread stopping("stop", [&] { served.server->server().Stop(); });

  CHECK(echo.Read().close_code() == 1001);
  CHECK(log.Read().close_code() == 1001);
  CHECK(stream->Read(soon).value().empty());
  echo.SendClose(1001);
  log.SendClose(1001);
  stopping.Join();
}

TEST_CASE("endpoints: a WebSocket and a raw connection go through a Connecter", "[endpoints]") {
  ServedSubresources served({.listen = true});
  Dialled dialled(*served.server);

  WebSocketClient echo(dialled.connection(), At("a/echo"));
  REQUIRE(echo.head().code == 101);
  echo.SendText("hello");
  CHECK(echo.Read() == ServerFrame{0x81, "hello"});

  const auto second = dialled.Connect();
  const auto raw = second
                       ->Open({.method = "POST",
                               .target = At("a/raw"),
                               .headers = {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}}})
                       .value();
  const Context soon =
      Context::Child(Context::Background(), RealClock().Now() + std::chrono::seconds(60));
  REQUIRE(raw->Head(soon)->code == 101);
  REQUIRE(raw->Write("hello").ok());
  CHECK(raw->Read(soon).value() == "<hello>");
}

// wsstream TestReader, TestBase64, TestVersionedStream
TEST_CASE("endpoints: a log over a WebSocket comes in messages, as the subprotocol says",
          "[endpoints]") {
  struct Case {
    const char* offered;
    int code;
    const char* agreed;
    ServerFrame first;
    ServerFrame second;
  };
  const Case each = GENERATE(
      Case{"", 101, "", {0x82, ""}, {0x82, "abcd"}},
      Case{"binary.k8s.io", 101, "binary.k8s.io", {0x82, ""}, {0x82, "abcd"}},
      Case{"base64.binary.k8s.io", 101, "base64.binary.k8s.io", {0x81, ""}, {0x81, "YWJjZA=="}},
      Case{"a.k8s.io, base64.binary.k8s.io, binary.k8s.io",
           101,
           "base64.binary.k8s.io",
           {0x81, ""},
           {0x81, "YWJjZA=="}},
      Case{"channel.k8s.io", 403, "", {}, {}});
  ServedSubresources served({.listen = true});
  Dialled dialled(*served.server);
  WebSocketClient client(dialled.connection(), At("a/log"), each.offered);

  CHECK(client.head().code == each.code);
  CHECK(client.head().headers.Get("Sec-WebSocket-Protocol") == each.agreed);
  if (each.code != 101) return;
  CHECK(client.Read() == each.first);
  served.log->Add("abcd");
  CHECK(client.Read() == each.second);
  served.log->End();
  CHECK(client.Read().close_code() == 1000);
}

namespace {

// Allows some verbs, and no others.
class OnlyVerbs final : public auth::Authorizer {
 public:
  explicit OnlyVerbs(std::vector<std::string> verbs) : verbs_(std::move(verbs)) {}
  Result<auth::Verdict> Authorize(const Context& /*ctx*/,
                                  const auth::Attributes& asked) const override {
    for (const std::string& verb : verbs_) {
      if (verb == asked.verb) return auth::Verdict{.decision = auth::Decision::kAllow};
    }
    return auth::Verdict{};
  }

 private:
  const std::vector<std::string> verbs_;
};

// What a GET that begins a WebSocket to a Connecter is answered. Over HTTP/1.1: no other has it.
http::ClientResponse OpenSocket(std::vector<std::string> verbs, const std::string& gates = "",
                                const std::string& target = "a/proxy") {
  TestServerOptions options{.authorizer = std::make_shared<OnlyVerbs>(std::move(verbs)),
                            .listen = true};
  REQUIRE(options.features.Set(gates).ok());
  const ServedSubresources served(std::move(options));
  Dialled dialled(*served.server);
  return dialled.connection()
      .Call(Context::Background(), {.target = At(target),
                                    .headers = {{"Connection", "Upgrade"},
                                                {"Upgrade", "websocket"},
                                                {"Sec-WebSocket-Version", "13"},
                                                {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}}})
      .value();
}

}  // namespace

// Row 22 of docs/security.md: a WebSocket is a GET, but it must not do what only a POST may.
TEST_CASE("endpoints: a WebSocket to a Connecter needs the verb create", "[endpoints]") {
  const auto refused = OpenSocket({"get"});
  CHECK(refused.code == 403);
  CHECK(Contains(refused.body, R"(cannot create resource \"widgets/proxy\" in API group )"
                               R"(\"example.com\" in the namespace \"default\")"));
  CHECK(OpenSocket({"get", "create"}).code == 200);
  CHECK(OpenSocket({"create"}).code == 403);
  CHECK(OpenSocket({"get"}, "AuthorizePodWebsocketUpgradeCreatePermission=false").code == 200);
  // Of this one only what a GET may can be done.
  CHECK(OpenSocket({"get"}, "", "a/relay").code == 200);
  CHECK(OpenSocket({"create"}, "", "a/relay").code == 403);

  // What is no WebSocket needs no more than its own verb.
  const ServedSubresources served(
      {.authorizer = std::make_shared<OnlyVerbs>(std::vector<std::string>{"get"})});
  CHECK(served.server->Call("GET", At("a/proxy")).code == 200);
  CHECK(served.server->Call("POST", At("a/proxy"), "{}").code == 403);
}
