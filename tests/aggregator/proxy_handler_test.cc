#include "apiserver/aggregator/proxy_handler.h"

#include <catch2/catch.hpp>

#include "aggregator/target.h"
#include "apiserver/auth/user.h"
#include "apiserver/request/request_info.h"

namespace aggregator_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using http_test::Pki;
using http_test::RawClient;
using http_test::Soon;
using http_test::TestServer;
using http_test::TestService;
using http_test::Wire;

// Always the same answer.
class MockedRouter final : public aggregator::ServiceResolver {
 public:
  explicit MockedRouter(Result<std::string> answer) : answer_(std::move(answer)) {}
  Result<std::string> ResolveEndpoint(std::string_view, std::string_view, int) const override {
    return answer_;
  }

 private:
  const Result<std::string> answer_;
};

// An aggregator for one APIService, and a user.
struct Aggregator {
  Aggregator(aggregator::ProxyHandlerOptions options, auth::UserInfoPtr user)
      : handler([&] {
          options.dialer = dialer.get();
          return aggregator::NewProxyHandler(std::move(options));
        }()),
        service([this](http::Exchange& exchange) { return handler->ServeHTTP(exchange); }) {
    service.AddFilter().begin = [user = std::move(user)](http::Exchange& exchange) {
      if (user) exchange.Set(auth::UserInfoPtr(user));
      auto info = request::ResolveRequestInfo(exchange.request().method, exchange.request().path,
                                              exchange.query());
      if (info.ok()) exchange.Set(*std::move(info));
      return http::Step::Next();
    };
    server = std::make_unique<TestServer>(service.service, Wire::kHttp1);
  }
  http::ClientResponse Get(const std::string& path) {
    return server->Connect()->Call(Soon(), {.target = path}).value();
  }

  std::unique_ptr<http::Dialer> dialer = http::NewDialer();
  std::shared_ptr<aggregator::ProxyHandler> handler;
  TestService service;
  std::unique_ptr<TestServer> server;
};

auth::UserInfoPtr TheUser() {
  auto user = std::make_shared<auth::UserInfo>();
  user->name = "username";
  user->uid = "6b60d791-1af9-4513-92e5-e4252a1e0a78";
  user->groups = {"one", "two"};
  return user;
}

aggregator::ProxiedAPIService TheService(std::string ca_bundle_pem) {
  return {.name = "v1.foo",
          .service_namespace = "test-ns",
          .service_name = "test-service",
          .ca_bundle_pem = std::move(ca_bundle_pem),
          .available = true};
}

struct ProxyCase {
  std::string name;
  std::optional<aggregator::ProxiedAPIService> service;
  int code = 200;
  std::string body = {};
  bool user = true;
  bool resolves = true;
  bool bad_certificate = false;
};

// TestProxyHandler of kube-aggregator's handler_proxy_test.go, with the gate RemoteRequestHeaderUID
// on.
TEST_CASE("aggregator: upstream's requests get upstream's answers", "[aggregator]") {
  const std::string ca = Pki().ca.certificate_pem;
  aggregator::ProxiedAPIService insecure = TheService("");
  insecure.service_name = insecure.service_namespace = "";
  insecure.insecure_skip_tls_verify = true;
  aggregator::ProxiedAPIService unavailable = TheService(ca);
  unavailable.available = false;
  const std::string unreachable = "error trying to reach service: ";
  const std::vector<ProxyCase> cases{
      {.name = "no target", .service = std::nullopt, .code = 404},
      {.name = "no user",
       .service = TheService(ca),
       .code = 500,
       .body = "missing user\n",
       .user = false},
      {.name = "proxy with user, insecure", .service = insecure},
      {.name = "proxy with user, cabundle", .service = TheService(ca)},
      {.name = "service unavailable",
       .service = unavailable,
       .code = 503,
       .body = "service unavailable\n"},
      {.name = "service unresolveable",
       .service = TheService(ca),
       .code = 503,
       .body = "service unavailable\n",
       .resolves = false},
      {.name = "fail on bad serving cert",
       .service = TheService(""),
       .code = 503,
       .body = unreachable},
      {.name = "fail on a serving cert for another name",
       .service = TheService(ca),
       .code = 503,
       .body = unreachable,
       .bad_certificate = true},
      {.name = "authorities that are none", .service = TheService("-"), .code = 500},
  };
  for (const ProxyCase& each : cases) {
    CAPTURE(each.name);
    Target target(each.bad_certificate ? Pki().server : ServicePair());
    Result<std::string> host = target.host();
    if (!each.resolves) host = Status(Reason::kNotFound, "unresolveable");
    Aggregator proxy({.service_resolver = std::make_shared<MockedRouter>(host)},
                     each.user ? TheUser() : nullptr);
    proxy.handler->UpdateAPIService(each.service);

    const auto answer = proxy.Get("/request/path");

    CHECK(answer.code == each.code);
    CHECK(answer.body.starts_with(each.body));
    const auto seen = *target.seen.Lock();
    REQUIRE(seen.has_value() == (each.code == 200));
    if (!seen) continue;
    CHECK(seen->host == target.host());
    CHECK(seen->headers.Get("X-Forwarded-Proto") == "https");
    CHECK(seen->headers.Get("X-Forwarded-Uri") == "/request/path");
    CHECK(seen->headers.Get("X-Forwarded-For") == "127.0.0.1");
    CHECK(seen->headers.Get("X-Remote-User") == "username");
    CHECK(seen->headers.Get("X-Remote-Uid") == "6b60d791-1af9-4513-92e5-e4252a1e0a78");
    CHECK(seen->headers.GetAll("X-Remote-Group") == std::vector<std::string_view>{"one", "two"});
  }
}

// TestProxyUpgrade, as far as there are no egress selectors.
TEST_CASE("aggregator: an upgrade reaches an extension server that is trusted", "[aggregator]") {
  struct Case {
    std::string service_name;
    bool insecure;
    bool called;
  };
  for (const Case& each : std::vector<Case>{{"test-service", false, true},
                                            {"invalid-service", true, true},
                                            {"invalid-service", false, false}}) {
    CAPTURE(each.service_name, each.insecure);
    Target target;
    Aggregator proxy({.service_resolver = std::make_shared<MockedRouter>(target.host())},
                     TheUser());
    auto service = TheService(each.insecure ? "" : Pki().ca.certificate_pem);
    service.service_name = each.service_name;
    service.insecure_skip_tls_verify = each.insecure;
    proxy.handler->UpdateAPIService(service);
    RawClient client(proxy.server->listener().port());
    client.Send(
        "GET /apis/mygroup/v1/foo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
        "Upgrade: echo\r\nX-Remote-User: admin\r\n\r\n");

    const std::string head = client.ReadUntil("\r\n\r\n");

    CHECK(target.seen.Lock()->has_value() == each.called);
    if (!each.called) {
      CHECK(head.starts_with("HTTP/1.1 503 "));
      continue;
    }
    CHECK(head.starts_with("HTTP/1.1 101 "));
    client.Send("world");
    CHECK(client.ReadUntil("world") == "hello world");
    CHECK((*target.seen.Lock())->headers.GetAll("X-Remote-User") ==
          std::vector<std::string_view>{"username"});
  }
}

TEST_CASE("aggregator: a new client certificate is shown from the next request on",
          "[aggregator]") {
  Target target;
  const auto pair = [](const std::string& name) {
    return http::NewCertificate(Pki().ca, {.common_name = name, .client = true}, RealClock())
        .value();
  };
  const auto client = std::make_shared<Variable<http::KeyPair>>(pair("first"));
  Aggregator proxy(
      {.service_resolver = std::make_shared<MockedRouter>(target.host()), .proxy_client = client},
      TheUser());
  proxy.handler->UpdateAPIService(TheService(Pki().ca.certificate_pem));
  const auto shown = [&] {
    CHECK(proxy.Get("/apis/foo/v1/x").code == 200);
    return (*target.seen.Lock())->peer->der;
  };

  const auto first = shown();
  CHECK(shown() == first);
  client->Set(pair("second"));
  CHECK(shown() != first);
}

TEST_CASE("aggregator: a local APIService is its delegate's", "[aggregator]") {
  Target target;
  Aggregator proxy(
      {.service_resolver = std::make_shared<MockedRouter>(target.host()),
       .local_delegate =
           [](http::Exchange& exchange) { return http_test::Answer(exchange, "local"); }},
      TheUser());
  CHECK(proxy.Get("/").body == "local");
  proxy.handler->UpdateAPIService(TheService(Pki().ca.certificate_pem));
  CHECK(proxy.Get("/").body.empty());
  proxy.handler->UpdateAPIService(std::nullopt);
  CHECK(proxy.Get("/").body == "local");
}

// Else `kubectl api-resources` waits for the request's own deadline.
TEST_CASE("aggregator: only discovery has five seconds", "[aggregator]") {
  Guarded<std::vector<bool>> limited;
  for (const std::string path : {"/apis/foo/v1", "/apis/foo/v1/", "/apis/foo/v1/widgets"}) {
    Target target;
    Aggregator proxy({.service_resolver = std::make_shared<MockedRouter>(target.host())},
                     TheUser());
    proxy.handler->UpdateAPIService(TheService(Pki().ca.certificate_pem));
    proxy.service.AddFilter().end = [&](http::Exchange& exchange, const http::Outcome&) {
      limited.Lock()->push_back(exchange.ctx().deadline().has_value());
    };
    CHECK(proxy.Get(path).code == 200);
    CHECK(proxy.service.ends.AwaitCount(1));
  }
  CHECK(*limited.Lock() == std::vector<bool>{true, true, false});
}

}  // namespace
}  // namespace aggregator_test
