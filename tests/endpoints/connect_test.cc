// Connections to subresources that a host brings: plain requests, WebSockets, raw streams.
#include <catch2/catch.hpp>

#include "subresource_server.h"

namespace subresource_test {

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

// Returns the answer to a GET that begins a WebSocket to a Connecter. HTTP/2 has no such GET.
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
  // The relay does nothing that needs more than GET.
  CHECK(OpenSocket({"get"}, "", "a/relay").code == 200);
  CHECK(OpenSocket({"create"}, "", "a/relay").code == 403);

  // A plain request needs no more than its own verb.
  const ServedSubresources served(
      {.authorizer = std::make_shared<OnlyVerbs>(std::vector<std::string>{"get"})});
  CHECK(served.server->Call("GET", At("a/proxy")).code == 200);
  CHECK(served.server->Call("POST", At("a/proxy"), "{}").code == 403);
}

}  // namespace subresource_test
