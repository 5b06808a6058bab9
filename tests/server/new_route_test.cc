// Routes that a source makes of stores, and that are in no document.
#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/registry/store.h"
#include "apiserver/rest/kind_strategy.h"
#include "apiserver/rest/storage.h"
#include "watch_lines.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Contains;
using testing::TestServer;
using testing::TestServerOptions;

namespace {

constexpr char kPaints[] = "/apis/art.example.com/v1/namespaces/ns/paints";

runtime::KindPtr PaintKindOf() {
  const auto spec =
      runtime::StructBuilder("", "The spec.").Field("color", runtime::StringSchema()).Build();
  const auto schema = runtime::StructBuilder("", "A paint.")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("spec", spec)
                          .Build();
  return runtime::Kind::New({.group = "art.example.com",
                             .kind = "Paint",
                             .plural = "paints",
                             .semantics = runtime::Semantics::kCustomResource,
                             .versions = {{.version = "v1", .schema = schema}}})
      .value();
}

// Finds one route, which may be exchanged.
class RouteGallery final : public server::RouteSource {
 public:
  std::shared_ptr<server::Route> Find(const request::RequestInfo& info) const override {
    const bool own = info.api_group == "art.example.com" && info.resource == "paints";
    return own ? *route_.Lock() : nullptr;
  }
  std::vector<admission::EquivalentResource> Equivalents(
      const runtime::GroupVersionResource& resource, std::string_view) const override {
    if (resource.group != "art.example.com") return {};
    return {{.resource = resource, .kind = {"art.example.com", "v1", "Paint"}}};
  }
  void Forget() const override { *route_.Lock() = nullptr; }

  std::shared_ptr<server::Route> Exchange(std::shared_ptr<server::Route> route) {
    return std::exchange(*route_.Lock(), std::move(route));
  }

 private:
  mutable Guarded<std::shared_ptr<server::Route>> route_;
};

// A server with a gallery behind its own resources.
struct Galleries {
  Galleries() {
    TestServerOptions options;
    options.install = [this](server::GenericAPIServer& api) -> Status {
      auto added = api.AddHandler({.name = "gallery", .routes = gallery});
      if (!added.ok()) return added.status();
      handler = *added;
      return {};
    };
    server = testing::StartWidgetServer(std::move(options));
    storage = registry::OpenStorage(server->server().Storage(server->engine()), kind).value();
  }
  ~Galleries() {
    (void)gallery->Exchange(nullptr);
    storage.reset();
  }

  std::shared_ptr<registry::Store> NewStore() const {
    return registry::NewStoreOver(storage, server->server().Storage(server->engine()),
                                  {.kind = kind, .strategy = rest::NewKindStrategy(kind)})
        .value();
  }
  std::shared_ptr<server::Route> NewRoute() const {
    return handler
        ->NewRoute(
            {.resource = {"art.example.com", "v1", "paints"}, .storage = {{"paints", NewStore()}}})
        .value();
  }
  http::ClientResponse Paint(const std::string& name) const {
    return server->Call(
        "POST", kPaints,
        R"({"apiVersion":"art.example.com/v1","kind":"Paint","metadata":{"name":")" + name +
            R"("},"spec":{"color":"red"}})");
  }

  const std::shared_ptr<RouteGallery> gallery = std::make_shared<RouteGallery>();
  const runtime::KindPtr kind = PaintKindOf();
  server::Handler* handler = nullptr;
  std::unique_ptr<TestServer> server;
  std::shared_ptr<storage::Interface> storage;
};

}  // namespace

TEST_CASE("server: a route that a source has made serves what a store stores", "[server]") {
  Galleries galleries;
  CHECK(galleries.Paint("one").code == 404);
  (void)galleries.gallery->Exchange(galleries.NewRoute());
  const auto made = galleries.Paint("one");
  INFO(made.body);
  CHECK(made.code == 201);
  const std::string one = std::string(kPaints) + "/one";
  CHECK(Contains(galleries.server->Call("GET", one).body, R"("color":"red")"));
  CHECK(galleries.server->Call("DELETE", one).code == 200);
  CHECK(galleries.server->Call("POST", one).code == 405);
}

TEST_CASE("server: a made route is in metrics, but in no document", "[server]") {
  Galleries galleries;
  (void)galleries.gallery->Exchange(galleries.NewRoute());
  CHECK(galleries.server->Call("GET", kPaints).code == 200);
  CHECK_FALSE(Contains(galleries.server->Call("GET", "/apis").body, "art.example.com"));
  CHECK_FALSE(Contains(galleries.server->Call("GET", "/openapi/v3").body, "art.example.com"));
  const std::string metrics = galleries.server->Call("GET", "/metrics").body;
  CHECK(Contains(metrics, R"(resource="paints")"));
}

TEST_CASE("server: routes are exchanged under requests, and the storage stays", "[server]") {
  Galleries galleries;
  (void)galleries.gallery->Exchange(galleries.NewRoute());
  std::atomic<bool> done = false;
  std::atomic<int> refused = 0;
  Thread reader("reader", [&] {
    while (!done) {
      if (galleries.server->Call("GET", kPaints).code != 200) ++refused;
    }
  });
  for (int i = 0; i < 20; ++i) {
    CHECK(galleries.Paint("p" + std::to_string(i)).code == 201);
    (void)galleries.gallery->Exchange(galleries.NewRoute());
  }
  done = true;
  reader.Join();
  CHECK(refused == 0);
  CHECK(Contains(galleries.server->Call("GET", kPaints).body, R"("name":"p19")"));
}

TEST_CASE("server: an ended route lets its watches end and begins no request", "[server]") {
  Galleries galleries;
  const auto route = galleries.NewRoute();
  (void)galleries.gallery->Exchange(route);
  testing::Lines watch(*galleries.server, std::string(kPaints) + "?watch=1");
  REQUIRE(galleries.Paint("one").code == 201);
  CHECK(Contains(watch.Next(), R"("type":"ADDED")"));
  route->End(nullptr);
  // Without a word: the client resumes elsewhere.
  CHECK(watch.Next().empty());
  CHECK(galleries.server->Call("GET", kPaints).code == 404);
  (void)galleries.gallery->Exchange(galleries.NewRoute());
  CHECK(galleries.server->Call("GET", kPaints).code == 200);
}

TEST_CASE("server: an ended route passes requests that still come on to its successor",
          "[server]") {
  Galleries galleries;
  const auto route = galleries.NewRoute();
  (void)galleries.gallery->Exchange(route);
  REQUIRE(galleries.Paint("one").code == 201);
  // Requests still find the ended one, as if they had found it before.
  route->End(galleries.NewRoute());
  CHECK(Contains(galleries.server->Call("GET", kPaints).body, R"("name":"one")"));
  CHECK(galleries.Paint("two").code == 201);
  testing::Lines watch(*galleries.server, std::string(kPaints) + "?watch=1");
  CHECK(Contains(watch.Next(), R"("name":"one")"));
}

TEST_CASE("server: what cannot be served becomes no route", "[server]") {
  Galleries galleries;
  const auto refused = galleries.handler->NewRoute({.resource = {"art.example.com", "v1", "paints"},
                                                    .storage = {{"others", galleries.NewStore()}}});
  REQUIRE_FALSE(refused.ok());
  CHECK(Contains(std::string(refused.status().message()),
                 "must be its own and those of its subresources"));
}
