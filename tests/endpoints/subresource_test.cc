// Subresources that a host brings: objects of their own, and logs.
#include <catch2/catch.hpp>

#include "subresource_server.h"

namespace subresource_test {

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

}  // namespace subresource_test
