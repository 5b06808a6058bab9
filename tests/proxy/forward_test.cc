// Plain requests from end to end.
#include <catch2/catch.hpp>

#include "front.h"
#include "headers_text.h"

namespace proxy_test {
namespace {

using http::Headers;

constexpr std::string_view kPage =
    "<html><head></head><body><a href=\"/test/path\">Hello</a></body></html>";

struct ServeCase {
  std::string name;
  std::string method = "GET";
  std::string path;
  std::string query = {};
  std::string expected_path;
  std::string body = {};
  Headers request = {};
  Headers response = {};
  bool use_location_host = false;
  bool append_location_path = false;
};

const std::vector<ServeCase> kServeCases{
    {.name = "root path, simple get", .path = "/", .expected_path = "/"},
    {.name = "simple path, get", .path = "/path/to/test", .expected_path = "/path/to/test"},
    {.name = "request params",
     .method = "POST",
     .path = "/some/path/",
     .query = "param1=value%2F1&param2=value%252",
     .expected_path = "/some/path/",
     .body = "test request body"},
    {.name = "request headers",
     .method = "PUT",
     .path = "/some/path",
     .expected_path = "/some/path",
     .request = {{"Header1", "value1"}, {"Header2", "value2"}}},
    {.name = "empty path - slash should be added", .path = "", .expected_path = "/"},
    {.name = "remove CORS headers",
     .path = "/some/path",
     .expected_path = "/some/path",
     .response = {{"Header1", "value1"},
                  {"Access-Control-Allow-Origin", "some.server"},
                  {"Access-Control-Allow-Methods", "GET"}}},
    {.name = "use location host",
     .path = "/some/path",
     .expected_path = "/some/path",
     .use_location_host = true},
    {.name = "append server path to request path",
     .path = "/base",
     .expected_path = "/base/base",
     .append_location_path = true},
    {.name = "append server path to request path with ending slash",
     .path = "/base/",
     .expected_path = "/base/base/",
     .append_location_path = true},
    {.name = "don't append server path to request path", .path = "/base", .expected_path = "/base"},
};

// TestServeHTTP of apimachinery's upgradeaware_test.go; its rows about upgrades are in
// upgrade_test.cc.
TEST_CASE("proxy: upstream's plain requests are forwarded and answered", "[proxy]") {
  const Wire wire = GENERATE(Wire::kHttp1, Wire::kTlsHttp2);
  for (const ServeCase& each : kServeCases) {
    CAPTURE(each.name);
    Backend backend(Text(std::string(kPage), each.response), wire);
    Front front({.location = backend.At(each.path),
                 .wrap_transport = true,
                 .append_location_path = each.append_location_path,
                 .use_location_host = each.use_location_host},
                wire);
    const std::string path = each.path.empty() ? "/" : each.path;

    const auto answer = front.Call({.method = each.method,
                                    .target = path + (each.query.empty() ? "" : "?" + each.query),
                                    .headers = each.request,
                                    .body = each.body});

    REQUIRE(answer.ok());
    CHECK(answer->code == 200);
    CHECK(answer->body == kPage);
    CHECK_FALSE(answer->headers.Has("Access-Control-Allow-Origin"));
    CHECK_FALSE(answer->headers.Has("Access-Control-Allow-Methods"));
    CHECK(answer->headers.Get("Header1") == each.response.Get("Header1"));
    REQUIRE(backend.seen().size() == 1);
    const auto seen = backend.seen().front();
    CHECK(seen.request.method == each.method);
    CHECK(seen.request.path == each.expected_path);
    CHECK(seen.request.query == each.query);
    CHECK(seen.body == each.body);
    for (const auto& field : each.request) {
      CHECK(seen.request.headers.Get(field.name) == field.value);
    }
    CHECK((seen.request.host == backend.host()) == each.use_location_host);
  }
}

TEST_CASE("proxy: a backend sees who asks, and where, but no credentials", "[proxy]") {
  Backend backend(Text("ok"));
  auto user = std::make_shared<auth::UserInfo>();
  user->name = "jane";
  user->groups = {"g"};
  const http::ClientRequest request{.target = "/apis/g/v1/x%2Fy?b=%20c",
                                    .headers = {{"Host", "api:6443"},
                                                {"Authorization", "Bearer t"},
                                                {"X-Remote-User", "admin"},
                                                {"Impersonate-User", "admin"},
                                                {"X-Forwarded-Uri", "/claimed"},
                                                {"Accept", "a/b"}}};

  SECTION("the aggregator's way") {
    proxy::Location at = backend.At("/apis/g/v1/x/y");
    at.raw_query = proxy::EncodeQuery("b=%20c");
    Front front({.location = at, .identity = user, .wrap_transport = true, .new_request = true});
    REQUIRE(front.Call(request)->code == 200);
    const auto seen = backend.seen().front().request;
    CHECK(seen.target == "/apis/g/v1/x/y?b=+c");
    CHECK(TextOf(seen.headers) ==
          "X-Forwarded-Uri: /apis/g/v1/x/y; Accept: a/b; X-Forwarded-For: 127.0.0.1; Host: " +
              backend.host() + "; X-Remote-User: jane; X-Remote-Group: g; X-Forwarded-Host: " +
              backend.host() + "; X-Forwarded-Proto: http");
  }
  SECTION("the way of pods and services") {
    Front front({.location = backend.At("/x/y"), .wrap_transport = true});
    REQUIRE(front.Call(request)->code == 200);
    const auto seen = backend.seen().front().request;
    CHECK(seen.target == "/x/y?b=%20c");
    CHECK(TextOf(seen.headers) ==
          "X-Forwarded-Uri: /apis/g/v1/x/y; Accept: a/b; X-Forwarded-For: 127.0.0.1; "
          "Host: api:6443");
  }
}

// TestRejectForwardingRedirectsOption. Row 4 of docs/security.md.
TEST_CASE("proxy: redirects of a backend are refused where they are", "[proxy]") {
  struct Case {
    bool reject;
    int code;
    std::string redirect;
    int expected;
    std::string body;
  };
  const std::string refused =
      "the backend attempted to redirect this request, which is not permitted";
  const std::vector<Case> cases{
      {true, 200, "", 200, "some data"},
      {true, 301, "/", 502, refused},
      {true, 302, "https://127.0.0.2/", 502, refused},
      {true, 303, "https://127.0.0.2/", 502, refused},
      {true, 307, "https://127.0.0.2/", 502, refused},
      {true, 308, "https://127.0.0.2/", 502, refused},
      {true, 304, "/", 502, refused},
      {true, 304, "", 304, ""},
      {false, 200, "", 200, "some data"},
      {false, 301, "/", 301, "some data"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.reject, each.code, each.redirect);
    Backend backend([&](http::Exchange& exchange) {
      http::ResponseHead head{.code = each.code, .headers = {{"Secret", "x"}}};
      if (!each.redirect.empty()) head.headers.Add("Location", each.redirect);
      exchange.writer().Send(std::move(head), "some data");
    });
    Front front({.location = backend.At("/"),
                 .wrap_transport = true,
                 .reject_forwarding_redirects = each.reject});

    const auto answer = front.Call({.target = "/"});

    REQUIRE(answer.ok());
    CHECK(answer->code == each.expected);
    CHECK(answer->body == each.body);
    CHECK(answer->headers.Has("Location") == (each.expected == 301));
    CHECK(answer->headers.Has("Secret") == (each.expected != 502));
    if (each.code != 304) {
      CHECK(answer->headers.Get("Content-Length") == std::to_string(each.body.size()));
    }
  }
}

TEST_CASE("proxy: a request for a location without a path is redirected", "[proxy]") {
  Backend backend(Text("ok"));
  Front front({.location = backend.At("")});
  const auto answer = front.Call({.target = "/a/proxy?x=y"});
  CHECK(answer->code == 301);
  CHECK(answer->headers.Get("Location") == "/a/proxy/?x=y");
  CHECK(backend.seen().empty());
}

TEST_CASE("proxy: an upgrade that is required and not asked for is a 400", "[proxy]") {
  Front front({.location = {.host = "127.0.0.1:1"}, .upgrade_required = true});
  const auto answer = front.Call({.target = "/"});
  CHECK(answer->code == 400);
  CHECK(answer->body == "BadRequest: Upgrade request required");
}

TEST_CASE("proxy: a backend that cannot be reached is a 503, in upstream's words", "[proxy]") {
  const auto answer_of = [](proxy::UpgradeAwareHandler rules) {
    Front front(std::move(rules));
    const auto answer = front.Call({.target = "/"});
    return std::to_string(answer->code) + " " + answer->body;
  };
  const std::string refused = "dial tcp 127.0.0.1:1: connect: connection refused";

  CHECK(answer_of({.location = {.host = "127.0.0.1:1", .path = "/"}, .wrap_transport = true}) ==
        "503 ServiceUnavailable: error trying to reach service: " + refused);
  CHECK(answer_of({.location = {.host = "127.0.0.1:1", .path = "/"}}).starts_with("500"));
  CHECK(answer_of({.location = {.host = "127.0.0.1:1", .path = "/"},
                   .wrap_transport = true,
                   .responder = proxy::RespondUnavailable}) ==
        "503 error trying to reach service: " + refused + "\n");
  CHECK(answer_of(
            {.location = {.scheme = "ftp", .host = "a", .path = "/"}, .wrap_transport = true}) ==
        "503 ServiceUnavailable: error trying to reach service: unsupported protocol scheme "
        "\"ftp\"");
}

TEST_CASE("proxy: bodies are forwarded in the form in which they come", "[proxy]") {
  // TestProxyRequestContentLengthAndTransferEncoding.
  Backend backend(Text("backend passed tests"));
  Front front({.location = backend.At("/")});
  struct Case {
    std::string head;
    std::string body;
    std::string length;
  };
  const std::vector<Case> cases{
      {"Content-Length: 5\r\n", "abcde", "5"},
      {"Content-Length: 5\r\nContent-Encoding: gzip\r\n", "abcde", "5"},
      {"Transfer-Encoding: chunked\r\n", "1\r\na\r\n4\r\nbcde\r\n0\r\n\r\n", ""},
      {"Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n", "5\r\nabcde\r\n0\r\n\r\n", ""},
  };
  for (const Case& each : cases) {
    CAPTURE(each.head);
    RawClient client(front.port());
    client.Send("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + each.head + "\r\n" +
                each.body);
    CHECK(client.ReadAll().ends_with("backend passed tests"));
    const auto seen = backend.seen().back();
    CHECK(seen.body == "abcde");
    CHECK(seen.request.headers.Get("Content-Length") == each.length);
    CHECK(seen.request.headers.Has("Content-Encoding") ==
          (each.head.find("gzip") != std::string::npos));
  }
}

TEST_CASE("proxy: a body that a filter has read is forwarded as a whole", "[proxy]") {
  Backend backend(Text("ok"));
  Front front({.location = backend.At("/")});
  front.service().AddFilter().begin = [](http::Exchange& exchange) {
    return exchange.CollectBody(1 << 20);
  };
  const std::string body(300'000, 'x');
  CHECK(front.Call({.method = "POST", .target = "/", .body = body})->code == 200);
  CHECK(backend.seen().front().body == body);
  CHECK(front.Call({.method = "POST", .target = "/"})->code == 200);
  CHECK(backend.seen().back().body.empty());
}

// TestFlushIntervalHeaders: the head of an answer whose body does not come yet.
TEST_CASE("proxy: an answer is passed on as it comes", "[proxy]") {
  RawServer backend;
  Front front({.location = {.host = "127.0.0.1:" + std::to_string(backend.port()), .path = "/"}});
  RawClient client(front.port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  RawClient peer = backend.Accept();
  peer.ReadUntil("\r\n\r\n");

  peer.Send("HTTP/1.1 200 OK\r\nMyHeader: hi\r\nTransfer-Encoding: chunked\r\n\r\n");
  CHECK(client.ReadUntil("\r\n\r\n").find("MyHeader: hi\r\n") != std::string::npos);
  peer.Send("3\r\none\r\n");
  CHECK(client.ReadUntil("one\r\n") == "3\r\none\r\n");
  peer.Send("3\r\ntwo\r\n0\r\n\r\n");
  CHECK(client.ReadUntil("0\r\n\r\n") == "3\r\ntwo\r\n0\r\n\r\n");
}

// The pool's loop belongs to the host: a request that ends there may end after its server.
TEST_CASE("proxy: a forwarded request does not end on the pool's loop", "[proxy]") {
  struct Ending {
    explicit Ending(std::function<void()> tell) : tell(std::move(tell)) {}
    ~Ending() { tell(); }
    std::function<void()> tell;
  };
  struct Held {
    std::shared_ptr<Ending> value;
  };
  Backend backend(Text("here"));
  Front front({.location = backend.At("/")});
  Journal ended;
  const Executor& pool = front.rules().pool->loop();
  front.service().AddFilter().begin = [&](http::Exchange& exchange) {
    exchange.ctx().Set(Held{std::make_shared<Ending>(
        [&] { ended.Add(pool.Inside() ? "on the pool's loop" : "elsewhere"); })});
    return http::Step::Next();
  };
  constexpr std::size_t kRequests = 64;
  const auto connection = front.Connect();
  for (std::size_t i = 0; i < kRequests; ++i) {
    REQUIRE(connection->Call(Soon(), {.target = "/"})->code == 200);
  }
  REQUIRE(ended.AwaitCount(kRequests));
  for (const std::string& line : ended.lines()) CHECK(line == "elsewhere");
}

}  // namespace
}  // namespace proxy_test
