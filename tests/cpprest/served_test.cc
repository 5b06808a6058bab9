#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "served.h"

// A whole server over a listener of cpprestsdk's: what a host's clients can do.
namespace apiserver::inline v0 {
namespace {

using testing::Contains;
using testing::Host;
using testing::kAdminToken;
using testing::kUserToken;
using testing::kWidgets;
using testing::MountedWatch;
using testing::Served;
using testing::Widget;

constexpr char kWidgetA[] = "/apis/example.com/v1/namespaces/default/widgets/a";

http::Headers Bearer(const std::string& token) { return {{"Authorization", "Bearer " + token}}; }

TEST_CASE("cpprest: clients find out what there is", "[cpprest]") {
  Served served;
  const auto groups = served.Call("GET", "/apis");
  CHECK(groups.code == 200);
  CHECK(groups.headers.Get("Content-Type") == "application/json");
  CHECK(Contains(groups.body, R"("groupVersion":"example.com/v1alpha1")"));
  const auto aggregated = served.Call(
      "GET", "/apis", "",
      {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}});
  CHECK(aggregated.code == 200);
  CHECK(Contains(aggregated.body, R"("kind":"APIGroupDiscoveryList")"));
  const std::string etag(aggregated.headers.Get("ETag"));
  CHECK(!etag.empty());
  const auto same = served.Call(
      "GET", "/apis", "",
      {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"},
       {"If-None-Match", etag}});
  CHECK(same.code == 304);
  CHECK(same.body.empty());
  CHECK(Contains(served.Call("GET", "/apis/example.com/v1").body, R"("name":"widgets")"));
  CHECK(served.Call("GET", "/openapi/v2").code == 200);
  CHECK(Contains(served.Call("GET", "/openapi/v3").body, "apis/example.com/v1"));
  CHECK(Contains(served.Call("GET", "/version").body, "libapiserver"));
  CHECK(served.Call("GET", "/readyz").body == "ok");
  CHECK(Contains(served.Call("GET", "/metrics").body, "apiserver_request_total"));
}

TEST_CASE("cpprest: objects are made, read, changed, listed and deleted", "[cpprest]") {
  Served served;
  const auto made = served.Call("POST", kWidgets, Widget("a", 1));
  CHECK(made.code == 201);
  CHECK(!made.headers.Get("Audit-Id").empty());
  CHECK(served.Call("POST", kWidgets, Widget("a", 1)).code == 409);
  const auto invalid = served.Call("POST", kWidgets, Widget("b", 11));
  CHECK(invalid.code == 422);
  CHECK(Contains(invalid.body, "must be at most 10"));
  const auto warned = served.Call("POST", kWidgets, Widget("c", 7));
  CHECK(warned.headers.Get("Warning") == R"(299 - "seven is a magic size")");
  const auto patched = served.Call("PATCH", kWidgetA, R"({"spec":{"size":2}})",
                                   {{"Content-Type", "application/merge-patch+json"}});
  CHECK(patched.code == 200);
  CHECK(Contains(patched.body, R"("size":2)"));
  const auto applied =
      served.Call("PATCH", kWidgetA + std::string("?fieldManager=m&force=true"), Widget("a", 3),
                  {{"Content-Type", "application/apply-patch+yaml"}});
  CHECK(applied.code == 200);
  CHECK(Contains(served.Call("GET", kWidgetA).body, R"("size":3)"));
  CHECK(served.Call("HEAD", kWidgetA).code == 405);
  const auto page = served.Call("GET", kWidgets + std::string("?limit=1"));
  CHECK(Contains(page.body, R"("name":"a")"));
  CHECK(!Contains(page.body, R"("name":"c")"));
  CHECK(Contains(page.body, R"("continue":")"));
  CHECK(served.Call("DELETE", kWidgetA, R"({"propagationPolicy":"Background"})").code == 200);
  CHECK(served.Call("GET", kWidgetA).code == 404);
  CHECK(served.Call("DELETE", kWidgets).code == 200);
  CHECK(Contains(served.Call("GET", kWidgets).body, R"("items":[])"));
}

TEST_CASE("cpprest: a list comes as a table, and as protobuf, if that is asked for", "[cpprest]") {
  Served served;
  REQUIRE(served.Call("POST", kWidgets, Widget("a", 1)).code == 201);
  const auto table = served.Call("GET", kWidgets, "",
                                 {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  CHECK(table.code == 200);
  CHECK(Contains(table.body, R"("kind":"Table")"));
  CHECK(Contains(table.body, R"("columnDefinitions":[{"name":"Name")"));
  CHECK(Contains(table.body, R"("cells":["a")"));
  const auto protobuf = served.Call(
      "GET", kWidgetA, "",
      {{"Accept",
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}});
  CHECK(protobuf.code == 200);
  CHECK(protobuf.body.starts_with(std::string("k8s\0", 4)));
  CHECK(served.Call("GET", kWidgets, "", {{"Accept", "image/png"}}).code == 406);
}

TEST_CASE("cpprest: a large answer is compressed if the client wants it so", "[cpprest]") {
  Served served;
  std::string widget = Widget("a", 1);
  widget.insert(widget.find(R"("name")"),
                R"("annotations":{"text":")" + std::string(200'000, 'x') + R"("},)");
  REQUIRE(served.Call("POST", kWidgets, widget).code == 201);
  const auto packed = served.Call("GET", kWidgetA, "", {{"Accept-Encoding", "gzip"}});
  CHECK(packed.headers.Get("Content-Encoding") == "gzip");
  CHECK(packed.body.starts_with("\x1f\x8b"));
  CHECK(packed.body.size() < 20'000);
  CHECK(served.Call("GET", kWidgetA).body.size() > 200'000);
}

// An object with annotations of so many bytes.
std::string LargeWidget(const std::string& name, std::size_t bytes) {
  return R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":")" + name +
         R"("},"spec":{"size":1,"color":")" + std::string(bytes, 'x') + R"("}})";
}

TEST_CASE("cpprest: objects of 1 MiB arrive whole; the server's limit counts before the mount's",
          "[cpprest]") {
  Served served;
  CHECK(served.Call("POST", kWidgets, LargeWidget("a", 1 << 20)).code == 201);
  const auto got = served.Call("GET", kWidgetA);
  CHECK(got.code == 200);
  CHECK(Contains(got.body, std::string(1 << 20, 'x')));
  const auto large = served.Call("POST", kWidgets, LargeWidget("b", 3 << 20));
  CHECK(large.code == 413);
  CHECK(Contains(large.body, R"("reason":"RequestEntityTooLarge")"));
  CHECK(Contains(large.body, "limit is 3145728"));
  CHECK(served.Call("GET", "/readyz").code == 200);
}

TEST_CASE("cpprest: who has no token is nobody, whatever is said in headers", "[cpprest]") {
  Served served;
  const auto nobody = served.host.Call("GET", kWidgets);
  CHECK(nobody.code == 401);
  CHECK(Contains(nobody.body, R"("reason":"Unauthorized")"));
  for (const char* name : {"X-Remote-User", "x-remote-user", "X-REMOTE-USER"}) {
    CHECK(served.host.Call("GET", kWidgets, "", {{name, "admin"}}).code == 401);
  }
  CHECK(served.host.Call("GET", kWidgets, "", Bearer("another-token")).code == 401);
  CHECK(served.host.Call("GET", kWidgets, "", Bearer(kUserToken)).code == 200);
}

TEST_CASE("cpprest: what cannot be told apart is refused, and so is a message of unclear length",
          "[cpprest]") {
  Served served;
  const std::string token = std::string("Authorization: Bearer ") + kAdminToken + "\r\n";
  const auto answer = [&](const std::string& headers, const std::string& body = "") {
    const testing::RawPeer peer(served.host.port);
    peer.Send("GET /readyz HTTP/1.1\r\nHost: x\r\n" + token + headers + "\r\n" + body);
    return peer.ReadUntil("\r\n\r\n").substr(0, 12);
  };
  CHECK(answer("") == "HTTP/1.1 200");
  CHECK(answer("Impersonate-User: u\r\nImpersonate-Group: system:masters\r\n") == "HTTP/1.1 200");
  CHECK(answer("Impersonate-User: u\r\nImpersonate-Group: a\r\nImpersonate-Group: b\r\n") ==
        "HTTP/1.1 400");
  CHECK(answer("Impersonate-User: u\r\nimpersonate-extra-k: a\r\nImpersonate-Extra-K: b\r\n") ==
        "HTTP/1.1 400");
  CHECK(answer("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n") ==
        "HTTP/1.1 400");
  CHECK(answer("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n") == "HTTP/1.1 400");
  CHECK(answer("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n") == "HTTP/1.1 400");
  CHECK(answer("Content-Length: 0x1\r\n", "x") == "HTTP/1.1 400");
  // Closed in the middle of what is taken for a body: the answer may be lost.
  CHECK(answer("Content-Length: -1\r\n", std::string(20'000, 'x')) != "HTTP/1.1 200");
  CHECK(answer("X y: 1\r\n") == "HTTP/1.1 400");
  CHECK(answer("X: a\rb\r\n") == "HTTP/1.1 400");
}

TEST_CASE("cpprest: clients use a mounted server side by side", "[cpprest]") {
  Served served;
  constexpr int kClients = 12;
  constexpr int kRounds = 8;
  std::atomic<int> right{0};
  std::vector<Thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back("client", [&served, &right, c] {
      const auto connection =
          served.host.dialer->Dial(Host::Soon(), {.port = served.host.port, .http2 = false});
      if (!connection.ok()) return;
      const std::string widgets =
          "/apis/example.com/v1/namespaces/n" + std::to_string(c) + "/widgets";
      const auto call = [&](const std::string& method, const std::string& target,
                            const std::string& body) {
        http::Headers headers = Bearer(kAdminToken);
        headers.Add("Content-Type", "application/json");
        const auto got =
            (*connection)->Call(Host::Soon(), {method, target, std::move(headers), body});
        return got.ok() ? std::to_string(got->code) + got->body : got.status().ToString();
      };
      for (int i = 0; i < kRounds; ++i) {
        const std::string name = "w" + std::to_string(c) + "-" + std::to_string(i);
        right += call("POST", widgets, Widget(name, i)).starts_with("201");
        const std::string got = call("GET", widgets + "/" + name, "");
        right += got.starts_with("200") && Contains(got, "\"name\":\"" + name + "\"");
        right += call("DELETE", widgets + "/" + name, "").starts_with("200");
      }
    });
  }
  for (Thread& client : clients) client.Join();
  CHECK(right == kClients * kRounds * 3);
  CHECK(Contains(served.Call("GET", "/apis/example.com/v1/widgets").body, R"("items":[])"));
}

}  // namespace
}  // namespace apiserver::inline v0
