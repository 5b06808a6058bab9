// GET and LIST over HTTP: paths, negotiation, shapes, refusals.
#include <atomic>
#include <catch2/catch.hpp>

#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/storage/storage_conformance.h"
#include "storage/forwarding_engine.h"
#include "widget_server.h"

using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::Widget;

namespace {

const std::string kAccept = "Accept";
const std::string kTableOrJson = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

}  // namespace

TEST_CASE("endpoints: a created object reads back in each version", "[endpoints]") {
  const auto server = StartWidgetServer();
  REQUIRE(server->Call("POST", kWidgets, Widget("a", 3)).code == 201);

  const auto v1 = server->Call("GET", std::string(kWidgets) + "/a");
  const auto v1alpha1 =
      server->Call("GET", "/apis/example.com/v1alpha1/namespaces/default/widgets/a");

  CHECK(v1.code == 200);
  CHECK(v1.body.starts_with(
      R"({"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"a")"));
  CHECK(Contains(v1.body, R"("spec":{"size":3})"));
  CHECK(v1.body.back() == '\n');
  CHECK(Contains(v1alpha1.body, R"("apiVersion":"example.com/v1alpha1")"));
  CHECK(Contains(v1alpha1.body, R"("spec":{"length":3})"));
}

TEST_CASE("endpoints: a list carries a revision and bare items", "[endpoints]") {
  const auto server = StartWidgetServer();

  const auto empty = server->Call("GET", kWidgets);
  server->Call("POST", kWidgets, Widget("a", 3));
  const auto one = server->Call("GET", "/apis/example.com/v1/widgets?resourceVersion=0");

  CHECK(Contains(
      empty.body,
      R"({"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{"resourceVersion":")"));
  CHECK(Contains(empty.body, R"("items":[]})"));
  CHECK(Contains(one.body, R"("items":[{"metadata":{"name":"a")"));
}

TEST_CASE("endpoints: a list of many pieces is one JSON document", "[endpoints]") {
  const auto server = StartWidgetServer();
  for (int i = 0; i < 100; ++i) {
    REQUIRE(server->Call("POST", kWidgets, Widget("w" + std::to_string(i), 1)).code == 201);
  }

  const auto all = server->client().List(apiserver::Context::Background(),
                                         {.resource = {"example.com", "v1", "widgets"}});
  const auto page = server->Call("GET", std::string(kWidgets) + "?limit=40");

  REQUIRE(all.ok());
  CHECK(all->items.size() == 100);
  CHECK(Contains(page.body, R"("continue":")"));
  CHECK(Contains(page.body, R"("remainingItemCount":60)"));
}

TEST_CASE("endpoints: Table and PartialObjectMetadata are served for object and list",
          "[endpoints]") {
  const auto server = StartWidgetServer();
  server->Call("POST", kWidgets, Widget("a", 3));

  const auto table = server->Call("GET", kWidgets, "", {{kAccept, kTableOrJson}});
  const auto whole = server->Call("GET", std::string(kWidgets) + "?includeObject=Object", "",
                                  {{kAccept, kTableOrJson}});
  const auto partial =
      server->Call("GET", std::string(kWidgets) + "/a", "",
                   {{kAccept, "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}});
  const auto list =
      server->Call("GET", kWidgets, "",
                   {{kAccept, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}});

  CHECK(table.body.starts_with(R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":)"));
  CHECK(Contains(table.body,
                 R"("columnDefinitions":[{"name":"Name","type":"string","format":"name")"));
  CHECK(Contains(table.body, R"("rows":[{"cells":["a",")"));
  CHECK(Contains(table.body,
                 R"("object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1")"));
  CHECK(Contains(whole.body, R"("object":{"kind":"Widget","apiVersion":"example.com/v1")"));
  CHECK(partial.body.starts_with(R"({"kind":"PartialObjectMetadata")"));
  CHECK_FALSE(Contains(partial.body, R"("spec":)"));
  CHECK(list.body.starts_with(R"({"kind":"PartialObjectMetadataList")"));
}

TEST_CASE("endpoints: each item of a PartialObjectMetadataList names its kind, as in Go",
          "[endpoints]") {
  const auto server = StartWidgetServer();
  REQUIRE(server->Call("POST", kWidgets, Widget("a", 3)).code == 201);
  REQUIRE(server->Call("POST", kWidgets, Widget("b", 3)).code == 201);
  for (const std::string version : {"v1", "v1beta1"}) {
    const std::string accept =
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=" + version;

    const auto list = server->Call("GET", kWidgets, "", {{kAccept, accept}});

    INFO(list.body);
    const std::string item = R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/)" +
                             version + R"(","metadata":{"name":")";
    CHECK(Contains(list.body, R"("items":[)" + item + R"(a",)"));
    CHECK(Contains(list.body, "}," + item + R"(b",)"));
  }
}

TEST_CASE("endpoints: a list at a revision that is still to come says when to try again",
          "[endpoints]") {
  const auto server = StartWidgetServer();
  for (const char* query :
       {"?resourceVersion=999999&resourceVersionMatch=Exact", "?resourceVersion=999999&limit=5"}) {
    const auto answer = server->Call("GET", std::string(kWidgets) + query);

    INFO(query << " " << answer.body);
    CHECK(answer.code == 504);
    CHECK(answer.headers.Get("Retry-After") == "1");
    CHECK(
        Contains(answer.body,
                 R"("reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge",)"
                 R"("message":"Too large resource version"}],"retryAfterSeconds":1},"code":504})"));
  }
}

// As handlers.GetResource.
TEST_CASE("endpoints: the export parameter is refused as no longer supported", "[endpoints]") {
  const auto server = StartWidgetServer();
  REQUIRE(server->Call("POST", kWidgets, Widget("a", 3)).code == 201);
  const std::string item = std::string(kWidgets) + "/a";
  for (const char* query : {"?export=true", "?export", "?export=1", "?export=x&export=false"}) {
    const auto answer = server->Call("GET", item + query);

    INFO(query << " " << answer.body);
    CHECK(answer.code == 400);
    CHECK(Contains(answer.body,
                   R"("message":"the export parameter, deprecated since v1.14, is no longer )"
                   R"(supported","reason":"BadRequest","code":400})"));
  }
  for (const char* query : {"?export=false", "?export=0", "?export=FALSE&export=true"}) {
    INFO(query);
    CHECK(server->Call("GET", item + query).code == 200);
  }
  // Lists never had it.
  CHECK(server->Call("GET", std::string(kWidgets) + "?export=true").code == 200);
}

TEST_CASE("endpoints: what cannot be served is refused with the right Status",
          "[endpoints][slow]") {
  const auto server = StartWidgetServer();
  const std::string widgets = kWidgets;
  struct Row {
    std::string method;
    std::string target;
    std::string accept;
    int code;
    std::string text;
  };
  const std::vector<Row> rows{
      {"GET", widgets + "/none", "", 404, R"(widgets.example.com \"none\" not found)"},
      {"GET", widgets + "/none", "", 404,
       R"("details":{"name":"none","group":"example.com","kind":"widgets"})"},
      {"GET", "/apis/example.com/v1/namespaces/default/gadgets", "", 404,
       "the server could not find the requested resource"},
      {"GET", "/apis/example.com/v1/widgets/a", "", 404,
       "the server could not find the requested resource"},
      {"GET", widgets + "/a/status", "", 404, "the server could not find the requested resource"},
      {"POST", "/apis/example.com/v1/widgets", "", 405,
       "the server does not allow this method on the requested resource"},
      {"PUT", widgets, "", 405, "MethodNotAllowed"},
      {"GET", widgets, "text/html", 406, "only the following media types are accepted"},
      {"GET", widgets + "?labelSelector=a%20b", "", 400, "unable to parse requirement"},
      {"GET", widgets + "?fieldSelector=spec.size%3D1", "", 400,
       R"(\"spec.size\" is not a known field selector: only )"
       R"(\"metadata.name\", \"metadata.namespace\", \"spec.color\")"},
      {"GET", widgets + "?continue=nonsense", "", 400, "continue key is not valid"},
      {"GET", widgets + "?resourceVersion=x", "", 400, "invalid"},
      {"GET", widgets + "?resourceVersionMatch=Exact", "", 422,
       "resourceVersionMatch is forbidden unless resourceVersion is provided"},
      {"GET", "/apis/example.com/v1/namespaces/default/widgets?resourceVersion=999999", "", 504,
       "Too large resource version"},
  };
  for (const Row& row : rows) {
    INFO(row.method << " " << row.target);
    apiserver::http::Headers headers;
    if (!row.accept.empty()) headers.Add(kAccept, row.accept);

    const auto answer = server->Call(row.method, row.target, "", headers);

    CHECK(answer.code == row.code);
    CHECK(Contains(answer.body, R"("kind":"Status")"));
    INFO(answer.body);
    CHECK(Contains(answer.body, row.text));
  }
}

TEST_CASE("endpoints: an empty text is written as YAML", "[endpoints]") {
  const auto server = StartWidgetServer();
  server->Call("POST", kWidgets, R"({"metadata":{"name":"a","labels":{"l":""}},"spec":{}})");

  const auto yaml =
      server->Call("GET", std::string(kWidgets) + "/a", "", {{kAccept, "application/yaml"}});

  CHECK(Contains(yaml.body, "l: \"\"\n"));
}

TEST_CASE("endpoints: pretty and YAML answers say the same", "[endpoints]") {
  const auto server = StartWidgetServer();
  server->Call("POST", kWidgets, Widget("a", 3));

  const auto pretty = server->Call("GET", std::string(kWidgets) + "/a?pretty=true");
  const auto curl =
      server->Call("GET", std::string(kWidgets) + "/a", "", {{"User-Agent", "curl/8"}});
  const auto yaml =
      server->Call("GET", std::string(kWidgets) + "/a", "", {{kAccept, "application/yaml"}});

  CHECK(pretty.body.starts_with("{\n  \"kind\": \"Widget\",\n"));
  CHECK(curl.body == pretty.body);
  CHECK(yaml.headers.Get("Content-Type") == "application/yaml");
  CHECK(Contains(yaml.body, "spec:\n  size: 3\n"));
}

TEST_CASE("endpoints: consistent reads of a far engine hold no thread while they wait",
          "[endpoints]") {
  // The engine says where it is to those who hold none, and never to those who do.
  struct Engine final : apiserver::testing::ForwardingEngine {
    using ForwardingEngine::ForwardingEngine;
    apiserver::Result<apiserver::storage::kv::Revision> CurrentRevision(
        const apiserver::Context& ctx) override {
      if (!ctx.may_block() || only_waits) return ForwardingEngine::CurrentRevision(ctx);
      return apiserver::Status(apiserver::Reason::kInternalError, "a thread was held");
    }
    void CurrentRevisionAsync(
        const apiserver::Context& ctx,
        apiserver::UniqueFunction<void(apiserver::Result<apiserver::storage::kv::Revision>)> done)
        override {
      ++asked;
      if (only_waits) return done(apiserver::Status(apiserver::Reason::kWouldBlock, "no thread"));
      if (down) return done(apiserver::Status(apiserver::Reason::kServiceUnavailable, "far gone"));
      ForwardingEngine::CurrentRevisionAsync(ctx, std::move(done));
    }
    std::atomic<int> asked{0};
    std::atomic<bool> down{false};
    std::atomic<bool> only_waits{false};
  };
  const auto memory = apiserver::storage::memory::NewEngine();
  const auto remote = apiserver::testing::storage::NewRemoteEngine(*memory);
  Engine engine(*remote);
  const auto server = StartWidgetServer({.engine = &engine});
  REQUIRE(server->Call("POST", kWidgets, Widget("a", 3)).code == 201);
  REQUIRE(server->Call("POST", kWidgets, Widget("b", 3)).code == 201);
  const std::string widgets = kWidgets;
  const int asked = engine.asked;

  CHECK(server->Call("GET", widgets + "/a").code == 200);
  CHECK(server->Call("GET", widgets + "/none").code == 404);
  CHECK(engine.asked == asked + 2);
  CHECK(Contains(server->Call("GET", widgets).body, "\"name\":\"b\""));
  const auto page = server->Call("GET", widgets + "?limit=1");
  CHECK(Contains(page.body, "\"continue\":\""));
  CHECK(Contains(page.body, "\"remainingItemCount\":1"));
  CHECK(engine.asked == asked + 4);
  const auto watched =
      server->Call("GET", widgets +
                              "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                              "allowWatchBookmarks=true&timeoutSeconds=1");
  CHECK(Contains(watched.body, "k8s.io/initial-events-end"));
  CHECK(engine.asked == asked + 5);
  // An engine that can only wait is asked from a thread.
  engine.only_waits = true;
  CHECK(server->Call("GET", widgets + "/a").code == 200);
  engine.only_waits = false;
  // No thread has more to say about an engine that is down.
  engine.down = true;
  const auto down = server->Call("GET", widgets + "/a");
  CHECK(down.code == 500);
  CHECK(Contains(down.body, "\"reason\":\"ServerTimeout\""));
  CHECK(server->Call("GET", widgets + "/a?resourceVersion=0").code == 200);
}
