// Requests that pods, services and nodes answer through their proxies.
#include <catch2/catch.hpp>

#include "controlplane/kubelet/node_world.h"
#include "proxy/front.h"

namespace kubelet_test {
namespace {

using http_test::Wire;
using proxy_test::Backend;
using proxy_test::Text;

constexpr const char* kNamespace = "/api/v1/namespaces/ns";

// A backend that stands at every address, and a world whose connections all go there.
struct Proxied {
  explicit Proxied(Backend::Reply reply = Text("here"), Wire wire = Wire::kHttp1)
      : backend(std::move(reply), wire),
        dialer(backend.server().listener().port()),
        world({.dialer = &dialer}) {}
  Backend backend;
  Redirecting dialer;
  World world;
};

std::string PodAt(const std::string& ip) { return R"("podIPs":[{"ip":")" + ip + R"("}])"; }

}  // namespace

// TestPodLocation (registry/core/pod/strategy_test.go): the address and the port that a name means.
TEST_CASE("controlplane: a pod is reached at its first address and the port that is meant",
          "[controlplane]") {
  struct Case {
    const char* spec;
    const char* status;
    const char* id;
    const char* dialled;
  };
  const char* const none = R"("containers":[{"name":"c"}])";
  const char* const first = R"("containers":[{"name":"c"},{"name":"d","ports":[)"
                            R"({"containerPort":9376},{"containerPort":9377}]}])";
  const char* const init = R"("initContainers":[{"name":"i","ports":[{"containerPort":1}]}],)"
                           R"("containers":[{"name":"c","ports":[{"containerPort":8080}]}])";
  const Case cases[] = {
      {none, R"("podIPs":[{"ip":"10.0.0.1"}])", "p", "10.0.0.1 80"},
      {none, R"("podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}])", "p:12345", "10.0.0.1 12345"},
      {none, R"("podIP":"10.0.0.2")", "p:81", "10.0.0.2 81"},
      {none, R"("podIP":"10.0.0.2","podIPs":[{"ip":"10.0.0.3"}])", "p:81", "10.0.0.3 81"},
      {none, R"("podIPs":[{"ip":"fd00::1"}])", "p:81", "fd00::1 81"},
      {first, R"("podIPs":[{"ip":"10.0.0.1"}])", "p", "10.0.0.1 9376"},
      {first, R"("podIPs":[{"ip":"10.0.0.1"}])", "p:12345", "10.0.0.1 12345"},
      {first, R"("podIPs":[{"ip":"10.0.0.1"}])", "http:p:", "10.0.0.1 9376"},
      {init, R"("podIPs":[{"ip":"10.0.0.1"}])", "p", "10.0.0.1 8080"}};
  for (const Case& test : cases) {
    INFO(test.spec << " " << test.status << " " << test.id);
    Proxied proxied;
    proxied.world.AddPod("p", test.spec, test.status);
    const auto answer = proxied.world.Get(std::string(kNamespace) + "/pods/" + test.id + "/proxy/");
    CHECK(answer.code == 200);
    CHECK(answer.body == "here");
    CHECK(proxied.dialer.asked() == std::vector<std::string>{test.dialled});
  }
}

// TestProxy* of apimachinery's upgradeaware_test.go, as a pod sees them.
TEST_CASE("controlplane: a pod gets the request but for who asks", "[controlplane]") {
  Proxied proxied(Text("made", {{"X-Pod", "yes"}}));
  proxied.world.AddPod("p", kOneContainer, PodAt("10.0.0.1"));
  const auto answer = proxied.world.server().Call(
      "PUT", std::string(kNamespace) + "/pods/p:8080/proxy/a/b/?q=1&q=%26", "the body",
      {{"Content-Type", "text/plain"}, {"X-Mine", "kept"}});
  CHECK(answer.code == 200);
  CHECK(answer.body == "made");
  CHECK(answer.headers.Get("X-Pod") == "yes");
  const auto seen = proxied.backend.seen();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].request.method == "PUT");
  CHECK(seen[0].request.target == "/a/b/?q=1&q=%26");
  CHECK(seen[0].body == "the body");
  CHECK(seen[0].request.headers.Get("Content-Type") == "text/plain");
  CHECK(seen[0].request.headers.Get("X-Mine") == "kept");
  CHECK(seen[0].request.headers.Get("X-Forwarded-Uri") ==
        std::string(kNamespace) + "/pods/p:8080/proxy/a/b/");
  CHECK_FALSE(seen[0].request.headers.Has("Authorization"));
}

TEST_CASE("controlplane: every method and path goes through a proxy", "[controlplane]") {
  Proxied proxied;
  proxied.world.AddPod("p", kOneContainer, PodAt("10.0.0.1"));
  struct Case {
    const char* method;
    const char* subpath;
    const char* target;
  };
  const Case cases[] = {{"GET", "/", "/"},
                        {"POST", "/x", "/x"},
                        {"PUT", "/x/", "/x/"},
                        {"PATCH", "/a//b", "/a/b"},
                        {"DELETE", "/a/./b", "/a/b"},
                        {"OPTIONS", "/%20?path=/z", "/%20?path=/z"}};
  for (const Case& test : cases) {
    INFO(test.method << " " << test.subpath);
    const auto answer = proxied.world.server().Call(
        test.method, std::string(kNamespace) + "/pods/p:80/proxy" + test.subpath, "",
        {{"Content-Type", "text/plain"}});
    CHECK(answer.code == 200);
    const auto seen = proxied.backend.seen();
    CHECK(seen.back().request.method == test.method);
    CHECK(seen.back().request.target == test.target);
  }
}

// TestServiceRegistryResourceLocation (registry/core/service/storage/storage_test.go).
TEST_CASE("controlplane: a service is reached at an address of its endpoints", "[controlplane]") {
  Proxied proxied;
  World& world = proxied.world;
  const std::string namespace_ = kNamespace;
  world.AddPod("p", kOneContainer, PodAt("1.2.3.4"));
  world.Post(namespace_ + "/services",
             R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"ports":[)"
             R"({"name":"","port":80},{"name":"p","port":93},{"name":"q","port":76}]}})");
  const std::string to_pod = R"("addresses":[{"ip":"1.2.3.4","targetRef":{"kind":"Pod",)"
                             R"("name":"p","namespace":"ns"}}])";
  world.Post(namespace_ + "/endpoints",
             R"({"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"s"},"subsets":[{)" +
                 to_pod + R"(,"ports":[{"name":"","port":80},{"name":"p","port":93}]},{)" + to_pod +
                 R"(,"ports":[{"name":"q","port":12345}]}]})");
  struct Case {
    const char* id;
    const char* dialled;
  };
  const Case cases[] = {{"s", "1.2.3.4 80"},        {"s:", "1.2.3.4 80"},
                        {"s:p", "1.2.3.4 93"},      {"s:q", "1.2.3.4 12345"},
                        {"s:76", "1.2.3.4 12345"},  {"http:s:p", "1.2.3.4 93"},
                        {"http:s:93", "1.2.3.4 93"}};
  std::vector<std::string> dialled;
  for (const Case& test : cases) {
    INFO(test.id);
    const auto answer = world.Get(namespace_ + "/services/" + test.id + "/proxy/healthz");
    CHECK(answer.code == 200);
    CHECK(answer.body == "here");
    dialled = proxied.dialer.asked();
    // A connection that is kept is not dialled again.
    CHECK(std::find(dialled.begin(), dialled.end(), test.dialled) != dialled.end());
  }
  CHECK(dialled.size() == 3);
  CHECK(proxied.backend.seen().back().request.target == "/healthz");
}

TEST_CASE("controlplane: a pod behind https is reached over TLS", "[controlplane]") {
  Proxied proxied(Text("here"), Wire::kTlsHttp1);
  proxied.world.AddPod("p", kOneContainer, PodAt("10.0.0.1"));
  CHECK(proxied.world.Get(std::string(kNamespace) + "/pods/https:p:/proxy/").body == "here");
  CHECK(proxied.world.Get(std::string(kNamespace) + "/pods/https:p:8443/proxy/").body == "here");
  CHECK(proxied.dialer.asked() ==
        std::vector<std::string>{"10.0.0.1 443 tls", "10.0.0.1 8443 tls"});
}

// A kubelet is asked over TLS whatever the scheme says; other ports of its node are as asked.
TEST_CASE("controlplane: a node is its kubelet unless another port is meant", "[controlplane]") {
  struct Case {
    const char* id;
    Wire wire;
    const char* dialled;
  };
  const Case cases[] = {{"n", Wire::kTlsHttp1, "10.0.0.9 10250 tls"},
                        {"n:10250", Wire::kTlsHttp1, "10.0.0.9 10250 tls"},
                        {"http:n:10250", Wire::kTlsHttp1, "10.0.0.9 10250 tls"},
                        {"https:n:", Wire::kTlsHttp1, "10.0.0.9 10250 tls"},
                        {"n:9100", Wire::kHttp1, "10.0.0.9 9100"},
                        {"https:n:9100", Wire::kTlsHttp1, "10.0.0.9 9100 tls"}};
  for (const Case& test : cases) {
    INFO(test.id);
    Proxied proxied(Text("here"), test.wire);
    proxied.world.AddNode("n", 10250, "10.0.0.9");
    const auto answer =
        proxied.world.Get("/api/v1/nodes/" + std::string(test.id) + "/proxy/metrics/cadvisor");
    CHECK(answer.code == 200);
    CHECK(answer.body == "here");
    CHECK(proxied.dialer.asked() == std::vector<std::string>{test.dialled});
    CHECK(proxied.backend.seen().at(0).request.target == "/metrics/cadvisor");
  }
}

TEST_CASE("controlplane: links of a page behind a proxy lead through the proxy", "[controlplane]") {
  Proxied proxied(
      Text(R"(<a href="/next">next</a>)", {{"Content-Type", "text/html; charset=utf-8"}}));
  proxied.world.AddPod("p", kOneContainer, PodAt("10.0.0.1"));
  const auto answer = proxied.world.Get(std::string(kNamespace) + "/pods/p:80/proxy/page");
  CHECK(answer.code == 200);
  CHECK(answer.body.find("/api/v1/namespaces/ns/pods/p:80/proxy/next") != std::string::npos);
}

TEST_CASE("controlplane: a redirect behind a proxy leads through the proxy", "[controlplane]") {
  Proxied proxied([](http::Exchange& exchange) {
    exchange.writer().Send({.code = 302, .headers = {{"Location", "/login"}}}, std::string());
  });
  proxied.world.AddPod("p", kOneContainer, PodAt("10.0.0.1"));
  const auto answer = proxied.world.Get(std::string(kNamespace) + "/pods/p:80/proxy/");
  CHECK(answer.code == 302);
  CHECK(answer.headers.Get("Location") == "/api/v1/namespaces/ns/pods/p:80/proxy/login");
}

TEST_CASE("controlplane: a backend that does not listen is told as upstream tells it",
          "[controlplane]") {
  Redirecting nobody(1);
  World world({.dialer = &nobody});
  world.AddPod("p", kOneContainer, PodAt("10.0.0.1"));
  const auto answer = world.Get(std::string(kNamespace) + "/pods/p:80/proxy/");
  CHECK(answer.code == 503);
  CHECK(StatusMessageOf(answer).find(
            "error trying to reach service: dial tcp 127.0.0.1:1: connect: connection refused") !=
        std::string::npos);
}

}  // namespace kubelet_test
