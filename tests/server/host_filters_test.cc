// The additions of a host to the chain: filters and public paths.
#include <catch2/catch.hpp>

#include "apiserver/auth/user.h"
#include "filter_fixture.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: tests only.
using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::TestServerOptions;

namespace {

const http::Headers kUnknown = {{"Authorization", "Bearer wrong"}};

// Remembers whom it has seen, marks answers, and answers /teapot.
class Teapot final : public http::Filter {
 public:
  std::string_view name() const override { return "authentication"; }
  http::Step Begin(http::Exchange& exchange) const override {
    const auto* user = exchange.Find<auth::UserInfoPtr>();
    seen_.Lock()->push_back(user ? std::string((*user)->name) : "nobody");
    if (exchange.request().path != "/teapot") return http::Step::Next();
    exchange.writer().Send({.code = 418}, "short and stout");
    return http::Step::Done();
  }
  void Head(http::Exchange&, http::ResponseHead& head) const override {
    head.headers.Set("X-Teapot", "yes");
  }
  void End(http::Exchange&, const http::Outcome&) const override { ++*ended_.Lock(); }

  std::vector<std::string> seen() const { return *seen_.Lock(); }
  int ended() const { return *ended_.Lock(); }

 private:
  mutable Guarded<std::vector<std::string>> seen_;
  mutable Guarded<int> ended_{0};
};

std::unique_ptr<testing::TestServer> StartWithFilters(
    std::function<void(server::Config&)> configure) {
  TestServerOptions options;
  options.configure = std::move(configure);
  return StartWidgetServer(std::move(options));
}

http::Step SayPage(http::Exchange& exchange) {
  exchange.writer().Send({.headers = {{"Content-Type", "text/html"}}}, "<p>hello</p>");
  return http::Step::Done();
}

}  // namespace

// Asks another server, perhaps, so that what follows it runs on the pool.
class Asks final : public http::Filter {
 public:
  std::string_view name() const override { return "asks"; }
  http::Step Begin(http::Exchange& exchange) const override {
    if (!exchange.ctx().may_block()) return Status(Reason::kWouldBlock, "must ask");
    return http::Step::Next();
  }
};

// What the watches of a loop share has no lock.
TEST_CASE("server: watches that begin on the pool send their events on their loop", "[server]") {
  const auto server = StartWithFilters([&](server::Config& config) {
    config.filters.before_authentication = {std::make_shared<Asks>()};
  });
  const auto connection = server->server().LoopbackConnection();
  std::vector<std::unique_ptr<http::ClientStream>> watches;
  for (int i = 0; i < 4; ++i) {
    auto watch = connection->Open({.target = std::string(kWidgets) + "?watch=true"});
    REQUIRE(watch.ok());
    REQUIRE((*watch)->Head(Context::Background())->code == 200);
    watches.push_back(*std::move(watch));
  }

  REQUIRE(server->Call("POST", kWidgets, testing::Widget("one", 1)).code == 201);

  for (const auto& watch : watches) {
    const auto event = watch->Read(Context::Background());
    REQUIRE(event.ok());
    CHECK(event->starts_with(R"({"type":"ADDED",)"));
  }
}

TEST_CASE("server: a host's filter in front of authentication meets every request", "[server]") {
  const auto teapot = std::make_shared<Teapot>();
  const auto server = StartWithFilters(
      [&](server::Config& config) { config.filters.before_authentication = {teapot}; });

  const auto answered = server->Call("GET", "/teapot", "", kUnknown);
  const auto refused = server->Call("GET", kWidgets, "", kUnknown);

  CHECK(answered.code == 418);
  CHECK(answered.headers.Get("Audit-Id").size() == 36);
  CHECK(refused.code == 401);
  CHECK(refused.headers.Get("X-Teapot") == "yes");
  CHECK(teapot->seen() == std::vector<std::string>{"nobody", "nobody"});
  CHECK(teapot->ended() == 2);
}

TEST_CASE("server: a host's filter behind authorization knows the user", "[server]") {
  const auto teapot = std::make_shared<Teapot>();
  const auto configure = [&](server::Config& config) {
    config.filters.after_authorization = {teapot};
  };
  const auto server = StartWithFilters(configure);
  const auto shares_it = StartWithFilters(configure);

  CHECK(server->Call("GET", "/teapot", "", kUnknown).code == 401);
  CHECK(teapot->seen().empty());
  CHECK(server->Call("GET", "/teapot").code == 418);
  CHECK(shares_it->Call("GET", kWidgets).headers.Get("X-Teapot") == "yes");

  CHECK(teapot->seen() == std::vector<std::string>{"system:apiserver", "system:apiserver"});
}

TEST_CASE("server: a null filter of the host is refused", "[server]") {
  server::Config config;
  config.authenticator = std::make_shared<testing::Anybody>();
  config.filters.after_authorization = {nullptr};

  const auto completed = std::move(config).Complete();

  CHECK(completed.status().message() == "server config: a filter of the host is null");
}

TEST_CASE("server: a public path is answered to everybody, GET and HEAD only", "[server]") {
  const auto server = StartWidgetServer();
  server::GenericAPIServer& api = server->server();
  REQUIRE(api.HandlePublicPath("/ui/", SayPage, /*listed=*/true).ok());
  REQUIRE(api.HandlePath("/ui/admin", SayPage, /*listed=*/false).ok());

  for (const char* path : {"/ui/", "/ui/index.html", "/ui/a/b", "/ui/../apis"}) {
    CAPTURE(path);
    const auto page = server->Call("GET", path, "", kUnknown);
    CHECK(page.code == 200);
    CHECK(page.body == "<p>hello</p>");
    CHECK(page.headers.Get("Audit-Id").size() == 36);
  }
  CHECK(server->Call("HEAD", "/ui/", "", kUnknown).code == 200);
  CHECK(server->Call("POST", "/ui/", "{}", kUnknown).code == 401);
  CHECK(server->Call("POST", "/ui/", "{}").code == 405);
  // The paths beside it, and a path below it that is not public.
  CHECK(server->Call("GET", "/ui", "", kUnknown).code == 401);
  CHECK(server->Call("GET", "/ui/admin", "", kUnknown).code == 401);
  CHECK(server->Call("GET", "/ui/admin").code == 200);
  CHECK(server->Call("GET", kWidgets, "", kUnknown).code == 401);
  CHECK(Contains(server->Call("GET", "/").body, "\"/ui/\""));
}

TEST_CASE("server: a public path takes none from others and none of the APIs", "[server]") {
  const auto server = StartWidgetServer();
  server::GenericAPIServer& api = server->server();

  CHECK(api.HandlePublicPath("/healthz", SayPage, false).reason() == Reason::kConflict);
  for (const char* path : {"/api", "/api/", "/apis/", "/apis/example.com", "page"}) {
    CAPTURE(path);
    CHECK(api.HandlePublicPath(path, SayPage, false).reason() == Reason::kInvalid);
  }
  REQUIRE(api.HandlePublicPath("/page", SayPage, false).ok());
  CHECK(api.HandlePath("/page", SayPage, false).reason() == Reason::kConflict);
  CHECK(server->Call("GET", "/healthz", "", kUnknown).code == 401);
}
