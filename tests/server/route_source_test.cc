// Handlers that find routes for requests to what is not installed.
#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/meta/errors.h"
#include "server/filters/filters.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Contains;
using testing::kWidgets;
using testing::StartWidgetServer;
using testing::TestServer;
using testing::TestServerOptions;
using testing::Widget;

namespace {

using Place = server::HandlerOptions::Place;

// Answers with what it is and what it was asked.
class Elsewhere final : public server::Route {
 public:
  explicit Elsewhere(std::string name) : name_(std::move(name)) {}
  http::Step Serve(http::Exchange& exchange) override {
    const std::string how = server::IsLongRunning(exchange) ? " at length" : "";
    exchange.writer().Send({.code = 200},
                           http::Bytes(name_ + " has " + exchange.request().path + how));
    return http::Step::Done();
  }
  Status CheckBeforeBody(http::Exchange& exchange) const override {
    if (exchange.request().headers.Get("Content-Type") != "text/unheard-of") return {};
    return meta::NewGenericServerResponse(415, "", {}, "");
  }
  bool LongRunning(const request::RequestInfo& info, std::string_view) const override {
    return info.subresource == "exec";
  }
  std::optional<storage::Stats> GetStats() const override {
    ++weighed;
    return storage::Stats{.count = 1};
  }

  mutable std::atomic<int> weighed = 0;

 private:
  const std::string name_;
};

// Has a version of a group, until it is gone.
class Proxy final : public server::RouteSource {
 public:
  Proxy(std::string name, std::string group)
      : route(std::make_shared<Elsewhere>(std::move(name))), group_(std::move(group)) {}

  std::shared_ptr<server::Route> Find(const request::RequestInfo& info) const override {
    const std::string below = "/apis/" + group_ + "/v1/";
    const bool own = (std::string(info.path) + "/").starts_with(below);
    return own && !gone_ ? route : nullptr;
  }
  std::uint64_t generation() const override { return gone_ ? 1 : 0; }
  std::vector<discovery::APIGroup> Groups() const override {
    if (gone_) return {};
    return {{.name = group_,
             .versions = {{.version = "v1",
                           .resources = {{.name = "ships",
                                          .singular_name = "ship",
                                          .namespaced = true,
                                          .kind = "Ship",
                                          .verbs = {"get", "list"}}}}}}};
  }
  std::map<std::string, std::shared_ptr<const openapi::Document>> OpenApiV3() const override {
    if (gone_) return {};
    auto document = std::make_shared<openapi::Document>();
    document->json = R"({"openapi":"3.0.0","info":{"title":"of another"}})";
    document->etag = "ABC";
    return {{"apis/" + group_ + "/v1", std::move(document)}};
  }
  void Go() { gone_ = true; }

  const std::shared_ptr<Elsewhere> route;

 private:
  const std::string group_;
  std::atomic<bool> gone_ = false;
};

// Shows groups, and serves none.
class Naming final : public server::RouteSource {
 public:
  explicit Naming(std::vector<discovery::APIGroup> groups) : groups_(std::move(groups)) {}
  std::shared_ptr<server::Route> Find(const request::RequestInfo&) const override {
    return nullptr;
  }
  std::vector<discovery::APIGroup> Groups() const override { return groups_; }

 private:
  const std::vector<discovery::APIGroup> groups_;
};

struct Added {
  std::string name;
  std::shared_ptr<server::RouteSource> source;
  Place place;
};

std::unique_ptr<TestServer> ServerWith(const std::vector<Added>& handlers) {
  TestServerOptions options;
  options.install = [&handlers](server::GenericAPIServer& api) -> Status {
    for (const Added& each : handlers) {
      auto added = api.AddHandler({.name = each.name, .routes = each.source, .place = each.place});
      if (!added.ok()) return added.status();
    }
    return {};
  };
  return StartWidgetServer(std::move(options));
}

}  // namespace

TEST_CASE("server: a handler in front answers for a version that is installed, while it will",
          "[server]") {
  const auto proxy = std::make_shared<Proxy>("proxy", "example.com");
  const auto server = ServerWith({{"proxy", proxy, Place::kInFront}});
  CHECK(server->Call("GET", kWidgets).body == "proxy has " + std::string(kWidgets));
  // Its discovery document too, which is no resource.
  CHECK(server->Call("GET", "/apis/example.com/v1").body == "proxy has /apis/example.com/v1");
  CHECK(Contains(server->Call("GET", "/apis/example.com/v1alpha1").body, R"("name":"widgets")"));
  const auto aggregated = [&server] {
    return server
        ->Call("GET", "/apis", "",
               {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}})
        .body;
  };
  CHECK(Contains(aggregated(), R"("resource":"ships")"));
  const std::string of_v1 = "/openapi/v3/apis/example.com/v1";
  CHECK(server->Call("GET", of_v1).body == R"({"openapi":"3.0.0","info":{"title":"of another"}})");
  CHECK(Contains(server->Call("GET", "/openapi/v3").body, of_v1 + "?hash=ABC"));

  proxy->Go();
  CHECK(Contains(server->Call("GET", kWidgets).body, R"("kind":"WidgetList")"));
  CHECK(Contains(server->Call("GET", "/apis/example.com/v1").body, R"("name":"widgets")"));
  CHECK_FALSE(Contains(aggregated(), R"("resource":"ships")"));
  CHECK(Contains(server->Call("GET", of_v1).body, "com.example.v1.Widget"));
  CHECK_FALSE(Contains(server->Call("GET", "/openapi/v3").body, "?hash=ABC"));
}

TEST_CASE("server: a handler behind answers for what nothing is installed for", "[server]") {
  const auto sea = std::make_shared<Proxy>("sea", "sea.example.com");
  const auto also = std::make_shared<Proxy>("also", "example.com");
  const auto server = ServerWith({{"sea", sea, Place::kBehind}, {"also", also, Place::kBehind}});
  const std::string ships = "/apis/sea.example.com/v1/namespaces/default/ships";
  CHECK(server->Call("GET", ships).body == "sea has " + ships);
  CHECK(server->Call("POST", ships, "{}").body == "sea has " + ships);
  CHECK(server->Call("GET", ships + "/a/exec").body == "sea has " + ships + "/a/exec at length");
  CHECK(Contains(server->Call("GET", "/apis").body, R"("name":"sea.example.com")"));
  CHECK(Contains(server->Call("GET", "/apis/sea.example.com").body,
                 R"("preferredVersion":{"groupVersion":"sea.example.com/v1","version":"v1"})"));
  CHECK(Contains(server->Call("GET", "/apis/sea.example.com/v1").body, R"("name":"ships")"));
  CHECK(Contains(server->Call("GET", "/").body, R"("/apis/sea.example.com/v1")"));
  CHECK(Contains(server->Call("GET", "/openapi/v3").body, R"("apis/sea.example.com/v1":{)"));

  // What is installed comes first, and is all there is of its version.
  CHECK(Contains(server->Call("GET", kWidgets).body, R"("kind":"WidgetList")"));
  CHECK(server->Call("GET", "/apis/example.com/v1/ships").code == 404);
  CHECK(Contains(server->Call("GET", "/apis/example.com/v1").body, R"("name":"widgets")"));
  CHECK(Contains(server->Call("GET", "/openapi/v3/apis/example.com/v1").body, "Widget"));
  CHECK(server->Call("GET", "/readyz").body == "ok");

  sea->Go();
  CHECK(server->Call("GET", ships).code == 404);
  CHECK_FALSE(Contains(server->Call("GET", "/apis").body, "sea.example.com"));
  CHECK(server->Call("GET", "/apis/sea.example.com").code == 404);
  CHECK(server->Call("GET", "/apis/sea.example.com/v1").code == 404);
  CHECK(server->Call("GET", "/openapi/v3/apis/sea.example.com/v1").body.empty());
}

namespace {

// Has documents of another server.
class Documented final : public server::RouteSource {
 public:
  std::shared_ptr<server::Route> Find(const request::RequestInfo& info) const override {
    return info.path == "/openapi/v3/apis/example.com/v1" ? route_ : nullptr;
  }
  std::map<std::string, std::string> OpenApiV3Urls() const override {
    return {{"apis/example.com/v1", "/openapi/v3/apis/example.com/v1?hash=THEIRS"}};
  }
  std::vector<openapi::ForeignV2Ptr> ForeignOpenApiV2() const override {
    auto read = openapi::ReadForeignV2(
        R"({"paths":{"/apis/sea.com/v1/ships":{"get":{}},"/apis/":{}},"definitions":{"Ship":{}}})",
        {"sea.com", "v1"});
    REQUIRE(read.ok());
    return {*std::move(read)};
  }

 private:
  const std::shared_ptr<Elsewhere> route_ = std::make_shared<Elsewhere>("another");
};

}  // namespace

TEST_CASE("server: a version that nobody serves is named, and gives way", "[server]") {
  const auto unserved = [](const std::string& name) {
    return discovery::APIVersion{.version = name, .resources = {}, .unserved = true};
  };
  const auto naming = std::make_shared<Naming>(std::vector<discovery::APIGroup>{
      {.name = "example.com", .versions = {unserved("v1"), unserved("v9")}},
      {.name = "named.com", .versions = {unserved("v1")}},
      {.name = "other.com", .versions = {unserved("v1"), unserved("v2")}}});
  const auto server =
      ServerWith({{"naming", naming, Place::kInFront},
                  {"other", std::make_shared<Proxy>("other", "other.com"), Place::kBehind}});
  const std::string legacy = server->Call("GET", "/apis").body;
  for (const char* const version :
       {"example.com/v9", "named.com/v1", "other.com/v1", "other.com/v2"}) {
    CHECK(Contains(legacy, version));
  }
  const std::string aggregated =
      server
          ->Call(
              "GET", "/apis", "",
              {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}})
          .body;
  CHECK_FALSE(Contains(aggregated, "named.com"));
  CHECK_FALSE(Contains(aggregated, "v9"));
  CHECK(Contains(aggregated, R"("resource":"ships")"));
  CHECK(Contains(aggregated, R"("resource":"widgets")"));
  CHECK(server->Call("GET", "/apis/named.com").code == 200);
  CHECK(server->Call("GET", "/apis/named.com/v1").code == 404);
  CHECK(server->Call("GET", "/apis/example.com/v9").code == 404);
  CHECK(Contains(server->Call("GET", "/apis/example.com/v1").body, R"("name":"widgets")"));
}

TEST_CASE("server: what an installed group has not is told by the API, other paths by text",
          "[server]") {
  TestServerOptions options;
  options.configure = [](server::Config& config) { config.index_of_unknown_paths = false; };
  const auto server = StartWidgetServer(std::move(options));
  for (const char* const path : {"/apis/example.com/v9", "/apis/example.com/v9/widgets"}) {
    const auto answer = server->Call("GET", path);
    CHECK(answer.code == 404);
    CHECK(Contains(answer.body, R"("reason":"NotFound")"));
  }
  for (const char* const path : {"/apis/other.com/v1", "/apis/other.com/v1/widgets", "/apis//v1"}) {
    const auto answer = server->Call("GET", path);
    CHECK(answer.code == 404);
    CHECK(answer.body == "404 page not found\n");
  }
}

TEST_CASE("server: documents of another server are listed and merged", "[server]") {
  TestServerOptions options;
  options.install = [](server::GenericAPIServer& api) -> Status {
    return api
        .AddHandler({.name = "documented",
                     .routes = std::make_shared<Documented>(),
                     .place = Place::kInFront})
        .status();
  };
  const auto server = StartWidgetServer(std::move(options));
  // In place of the document of what is installed.
  CHECK(Contains(server->Call("GET", "/openapi/v3").body,
                 R"("/openapi/v3/apis/example.com/v1?hash=THEIRS")"));
  CHECK(Contains(server->Call("GET", "/openapi/v3/apis/example.com/v1").body, "another has "));
  const std::string merged = server->Call("GET", "/openapi/v2").body;
  CHECK(Contains(merged, R"("/apis/sea.com/v1/ships":{"get":{}})"));
  CHECK(Contains(merged, R"("Ship":{})"));
  CHECK(Contains(merged, "com.example.v1.Widget"));
}

TEST_CASE("server: sources of routes are asked in the order of their handlers", "[server]") {
  const auto first = std::make_shared<Proxy>("first", "sea.example.com");
  const auto second = std::make_shared<Proxy>("second", "sea.example.com");
  const Place place = GENERATE(Place::kInFront, Place::kBehind);
  const auto server = ServerWith({{"first", first, place}, {"second", second, place}});
  const std::string ships = "/apis/sea.example.com/v1/namespaces/default/ships";
  CHECK(server->Call("GET", ships).body == "first has " + ships);
  first->Go();
  CHECK(server->Call("GET", ships).body == "second has " + ships);
  second->Go();
  CHECK(server->Call("GET", ships).code == 404);
}

TEST_CASE("server: a found route refuses before the body, and is weighed", "[server]") {
  const auto sea = std::make_shared<Proxy>("sea", "sea.example.com");
  const auto server = ServerWith({{"sea", sea, Place::kBehind}});
  const std::string all = "/apis/sea.example.com/v1/";
  CHECK(server->Call("POST", all + "ships", "{}", {{"Content-Type", "text/unheard-of"}}).code ==
        415);
  CHECK(server->Call("GET", all + "ships").code == 200);
  CHECK(sea->route->weighed > 0);
}
