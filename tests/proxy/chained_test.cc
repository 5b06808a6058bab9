// Two servers of ours, one behind the other as behind an aggregator.
#include <catch2/catch.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/authn/request_header.h"
#include "apiserver/proxy/upgrade_aware_handler.h"
#include "apiserver/server/handler.h"
#include "apiserver/server/route_source.h"
#include "apiserver/storage/memory/engine.h"
#include "chained_load.h"
#include "watch_lines.h"
#include "widget_server.h"

namespace chained_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using testing::kWidgetA;
using testing::kWidgets;
using testing::Widget;

// Forwards what belongs to the group version of widgets, in the user's name. Where to may change.
class Forwarded final : public server::Route {
 public:
  void Set(proxy::UpgradeAwareHandler rules) { *rules_.Lock() = std::move(rules); }
  http::Step Serve(http::Exchange& exchange) override {
    proxy::UpgradeAwareHandler rules = *rules_.Lock();
    rules.location.path = exchange.request().path;
    rules.location.raw_query = proxy::EncodeQuery(exchange.request().query);
    rules.identity = exchange.Get<auth::UserInfoPtr>();
    return rules.ServeHTTP(exchange);
  }
  Status CheckBeforeBody(http::Exchange& /*exchange*/) const override { return {}; }
  bool LongRunning(const request::RequestInfo& info, std::string_view /*method*/) const override {
    return info.verb == "watch";
  }
  std::optional<storage::Stats> GetStats() const override { return std::nullopt; }

 private:
  Guarded<proxy::UpgradeAwareHandler> rules_;
};

class Registered final : public server::RouteSource {
 public:
  explicit Registered(std::shared_ptr<server::Route> route) : route_(std::move(route)) {}
  std::shared_ptr<server::Route> Find(const request::RequestInfo& info) const override {
    const bool own = (std::string(info.path) + "/").starts_with("/apis/example.com/v1/");
    return own ? route_ : nullptr;
  }

 private:
  const std::shared_ptr<server::Route> route_;
};

// Writes down which user each request of the extension server has.
class Watching final : public auth::Authorizer {
 public:
  Result<auth::Verdict> Authorize(const Context& /*ctx*/,
                                  const auth::Attributes& attributes) const override {
    *last_.Lock() = *attributes.user;
    return auth::Verdict{.decision = auth::Decision::kAllow};
  }
  auth::UserInfo last() const { return *last_.Lock(); }

 private:
  mutable Guarded<auth::UserInfo> last_;
};

struct Chain {
  Chain() {
    StartExtension();
    testing::TestServerOptions before;
    before.install = [this](server::GenericAPIServer& api) -> Status {
      return api
          .AddHandler({.name = "aggregator", .routes = std::make_shared<Registered>(forwarded)})
          .status();
    };
    front = std::move(testing::StartTestServer(std::move(before))).value();
  }

  // Starts an extension server on the objects of the one before, with a port and a certificate of
  // its own.
  void StartExtension() {
    authn::RequestHeaderNames names;
    names.uid = {"X-Remote-Uid"};
    testing::TestServerOptions behind{
        .authorizer = watching, .engine = engine.get(), .listen = true};
    behind.configure = [&](server::Config& config) {
      config.authenticator = authn::NewRequestHeader(
          {.ca = std::make_shared<Variable<std::string>>(authority.certificate_pem),
           .names = std::make_shared<Variable<authn::RequestHeaderNames>>(names)});
    };
    extension = testing::StartWidgetServer(std::move(behind));
    http::ClientTls tls{.ca_pem = extension->kubeconfig().ca_pem};
    tls.client =
        http::NewCertificate(authority, {.common_name = "aggregator", .client = true}, RealClock())
            .value();
    const int port = extension->server().port();
    forwarded->Set({.location = {.scheme = "https", .host = "127.0.0.1:" + std::to_string(port)},
                    .pool = proxy::NewUpstreamPool({.dialer = dialer.get(), .tls = tls}).value(),
                    .wrap_transport = true,
                    .reject_forwarding_redirects = true,
                    .new_request = true,
                    .responder = proxy::RespondUnavailable});
  }

  const http::KeyPair authority =
      http::NewCertificateAuthority("front-proxy-ca", RealClock()).value();
  const std::shared_ptr<Watching> watching = std::make_shared<Watching>();
  const std::shared_ptr<Forwarded> forwarded = std::make_shared<Forwarded>();
  const std::unique_ptr<http::Dialer> dialer = http::NewDialer();
  const std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<testing::TestServer> extension;
  std::unique_ptr<testing::TestServer> front;
};

TEST_CASE("proxy: an extension server of ours is used through another server of ours", "[proxy]") {
  const Chain chain;
  testing::TestServer& front = *chain.front;

  CHECK(front.Call("POST", kWidgets, Widget("a", 3)).code == 201);
  // The user of the front's own calls, told by the certificate of a front proxy.
  CHECK(chain.watching->last().name == "system:apiserver");
  CHECK(chain.watching->last().InGroup("system:masters"));
  const auto got = front.Call("GET", kWidgetA);
  CHECK(got.code == 200);
  CHECK(got.body == chain.extension->Call("GET", kWidgetA).body);
  CHECK(front.Call("GET", std::string(kWidgets) + "?labelSelector=a%3Db").body ==
        chain.extension->Call("GET", std::string(kWidgets) + "?labelSelector=a%3Db").body);
  CHECK(front
            .Call("PATCH", kWidgetA, R"({"spec":{"size":4}})",
                  {{"Content-Type", "application/merge-patch+json"}})
            .code == 200);
  CHECK(front.Call("POST", kWidgets, Widget("b", 11)).code == 422);
  CHECK(front.Call("GET", "/apis/example.com/v1").body ==
        chain.extension->Call("GET", "/apis/example.com/v1").body);
  CHECK(front.Call("DELETE", kWidgetA).code == 200);
  CHECK(front.Call("GET", kWidgetA).code == 404);
}

TEST_CASE("proxy: a watch goes through a server of ours, and ends with its backend", "[proxy]") {
  Chain chain;
  testing::TestServer& front = *chain.front;
  testing::Lines watch(front, std::string(kWidgets) + "?watch=1");
  CHECK(watch.head().code == 200);
  CHECK(front.Call("POST", kWidgets, Widget("a", 3)).code == 201);
  CHECK(watch.Next().starts_with(R"({"type":"ADDED","object":{)"));
  CHECK(chain.extension->Call("DELETE", kWidgetA).code == 200);
  CHECK(watch.Next().starts_with(R"({"type":"DELETED","object":{)"));

  chain.extension.reset();
  CHECK(watch.Next().empty());
  const auto gone = front.Call("GET", kWidgetA);
  CHECK(gone.code == 503);
  CHECK(gone.headers.Get("Content-Type") == "text/plain; charset=utf-8");
  CHECK(gone.body.starts_with("error trying to reach service: dial tcp 127.0.0.1:"));
  CHECK(gone.body.ends_with(": connect: connection refused\n"));
}

void RunLoad(std::chrono::milliseconds time, std::chrono::milliseconds between_restarts) {
  Chain chain;
  testing::RunChainedLoad(
      {.front = *chain.front,
       .behind = [&chain]() -> testing::TestServer& { return *chain.extension; },
       .restart =
           [&chain] {
             chain.extension.reset();
             chain.StartExtension();
           }},
      time, between_restarts);
}

TEST_CASE("proxy: restarts behind a server of ours lose nothing, and watches go on", "[proxy]") {
  RunLoad(std::chrono::seconds(2), std::chrono::milliseconds(500));
}

TEST_CASE("proxy: restarts behind a server of ours under half a minute of load", "[.load]") {
  RunLoad(std::chrono::seconds(30), std::chrono::seconds(3));
}

}  // namespace
}  // namespace chained_test
