// What the chain does to every request.
#include <catch2/catch.hpp>

#include "widget_server.h"

using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::Widget;

namespace {

// Allows GET only.
class ReadOnly final : public apiserver::auth::Authorizer {
 public:
  apiserver::Result<apiserver::auth::Verdict> Authorize(
      const apiserver::Context&, const apiserver::auth::Attributes& attributes) const override {
    if (attributes.IsReadOnly()) return apiserver::auth::Verdict{apiserver::auth::Decision::kAllow};
    return apiserver::auth::Verdict{apiserver::auth::Decision::kNoOpinion, "read only"};
  }
};

// Knows nobody.
class Nobody final : public apiserver::auth::Authenticator {
 public:
  apiserver::Result<std::optional<apiserver::auth::AuthenticateResponse>> Authenticate(
      const apiserver::Context&, const apiserver::http::Request&) const override {
    return std::nullopt;
  }
};

}  // namespace

TEST_CASE("server: every answer has an audit id and is not to be cached", "[server]") {
  const auto server = StartWidgetServer();

  const auto sent = server->Call("GET", kWidgets, "", {{"Audit-ID", "mine"}});
  const auto made = server->Call("GET", "/nowhere");

  CHECK(sent.headers.Get("Audit-Id") == "mine");
  CHECK(made.headers.Get("Audit-Id").size() == 36);
  CHECK(sent.headers.Get("Cache-Control") == "no-cache, private");
}

TEST_CASE("server: who is not known is answered 401", "[server]") {
  const auto server = StartWidgetServer();

  const auto wrong = server->Call("GET", kWidgets, "", {{"Authorization", "Bearer wrong"}});

  const auto spaced = server->Call("GET", kWidgets, "", {{"Authorization", "Bearer  wrong"}});

  CHECK(wrong.code == 401);
  CHECK(spaced.code == 401);
  CHECK(Contains(std::string(spaced.headers.Get("Warning")), "contains extra space"));
  CHECK(Contains(wrong.body, R"("message":"Unauthorized","reason":"Unauthorized","code":401)"));
}

TEST_CASE("server: a refused request names user, verb and resource", "[server]") {
  apiserver::server::Config config;
  config.authenticator = std::make_shared<Nobody>();
  config.authorizer = std::make_shared<ReadOnly>();
  auto server = std::move(*std::move(config).Complete()).New().value();
  REQUIRE(server->PrepareRun().ok());
  REQUIRE(server->Start().ok());
  const auto connection = server->LoopbackConnection();

  const auto answer = connection->Call(
      apiserver::Context::Background(),
      {.method = "DELETE", .target = "/apis/example.com/v1/namespaces/default/widgets/a"});

  REQUIRE(answer.ok());
  CHECK(answer->code == 403);
  // As responsewriters.Forbidden.
  CHECK(answer->headers.Get("X-Content-Type-Options") == "nosniff");
  CHECK(Contains(answer->body,
                 R"(widgets.example.com \"a\" is forbidden: User \"system:apiserver\" cannot )"
                 R"(delete resource \"widgets\" in API group \"example.com\" in the namespace )"
                 R"(\"default\": read only)"));
}

TEST_CASE("server: a bad timeout is refused, a short one ends the request", "[server]") {
  apiserver::Notification release;  // Outlives the server, whose pool waits for it.
  const auto server = StartWidgetServer();
  REQUIRE(server->server()
              .HandlePath(
                  "/slow",
                  [&release](apiserver::http::Exchange&) -> apiserver::http::Step {
                    return apiserver::http::Step::OnPool([&release]() -> apiserver::http::Step {
                      release.Wait();
                      return apiserver::http::Step::Done();
                    });
                  },
                  /*listed=*/true)
              .ok());

  const auto bad = server->Call("GET", std::string(kWidgets) + "?timeout=soon");
  const auto bare = server->Call("GET", std::string(kWidgets) + "?timeout=3");
  const auto slow = server->Call("GET", "/slow?timeout=50ms");
  release.Notify();

  CHECK(bad.code == 400);
  CHECK(Contains(
      bad.body,
      R"(invalid timeout specified in the request URL - time: invalid duration \"soon\")"));
  CHECK(bare.code == 400);
  CHECK(Contains(
      bare.body,
      R"(invalid timeout specified in the request URL - time: missing unit in duration \"3\")"));
  CHECK(slow.code == 504);
  CHECK(Contains(slow.body, "request did not complete within the allotted timeout"));
}

TEST_CASE("server: an exception in a handler is a 500 and the server lives on", "[server]") {
  const auto server = StartWidgetServer();
  REQUIRE(server->server()
              .HandlePath(
                  "/throws",
                  [](apiserver::http::Exchange&) -> apiserver::http::Step {
                    throw std::runtime_error("a bug");
                  },
                  /*listed=*/true)
              .ok());

  const auto answer = server->Call("GET", "/throws");
  CHECK(answer.code == 500);
  // TestPropogatingPanic
  CHECK(Contains(answer.body,
                 "This request caused apiserver to panic. Look in the logs for more info"));
  CHECK(server->Call("GET", "/healthz").body == "ok");
}

TEST_CASE("server: health, version and index answer beside the APIs", "[server]") {
  const auto server = StartWidgetServer();

  CHECK(server->Call("GET", "/readyz").body == "ok");
  CHECK(Contains(server->Call("GET", "/livez?verbose").body, "[+]ping ok\n"));
  CHECK(Contains(server->Call("GET", "/readyz?exclude=none").body, "ok"));
  CHECK(Contains(server->Call("GET", "/readyz?verbose&exclude=none").body,
                 "warn: some health checks cannot be excluded: no matches for \"none\""));
  CHECK(server->Call("GET", "/healthz/ping").body == "ok");
  CHECK(Contains(server->Call("GET", "/version").body, "\"gitVersion\": \"v1.35.0+libapiserver\""));
  CHECK(server->Call("GET", "/version")
            .body.starts_with("{\n  \"major\": \"1\",\n  \"minor\": \"35\",\n"
                              "  \"emulationMajor\": \"1\",\n  \"emulationMinor\": \"35\",\n"
                              "  \"minCompatibilityMajor\": \"1\",\n"
                              "  \"minCompatibilityMinor\": \"34\",\n  \"gitVersion\": "));
  CHECK(server->Call("GET", "/version/").body == server->Call("GET", "/version").body);
  CHECK(server->Call("GET", "/version/x").code == 404);
  CHECK(Contains(server->Call("GET", "/").body, "\"/apis/example.com/v1\""));
  CHECK(Contains(server->Call("GET", "/metrics").body,
                 "apiserver_watch_cache_initializations_total{group=\"example.com\",resource="
                 "\"widgets\"} 1\n"));
  CHECK(Contains(
      server->Call("GET", "/metrics").body,
      "apiserver_terminated_watchers_total{group=\"example.com\",resource=\"widgets\"} 0"));
  CHECK(server->Call("POST", "/apis", "{}").code == 405);
  CHECK(server->Call("POST", "/apis/example.com/v1", "{}").code == 405);
  CHECK(server->Call("POST", "/apis/other.example.com/v1/things", "{}").code == 404);
  CHECK(server->Call("POST", "/apis/example.com/v2/widgets", "{}").code == 404);
  const auto nowhere = server->Call("GET", "/nowhere");
  CHECK(nowhere.code == 404);
  CHECK(nowhere.body.starts_with("{\n  \"paths\": ["));
}
