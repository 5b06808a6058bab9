// Watches over HTTP: framing, order, bookmarks, selectors, the end.
#include <catch2/catch.hpp>

#include "apiserver/rest/warnings.h"
#include "watch_lines.h"
#include "widget_server.h"

using apiserver::Context;

using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::Lines;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::TestServer;
using apiserver::testing::Widget;

namespace {

Lines Watch(TestServer& server, const std::string& query, const std::string& accept = "") {
  apiserver::http::Headers headers;
  if (!accept.empty()) headers.Add("Accept", accept);
  return Lines(server, kWidgets + query, std::move(headers));
}

// Remembers what an exchange has for its warnings when its answer begins.
class WarningsSeen final : public apiserver::http::Filter {
 public:
  struct Seen {
    bool recorder = false;
    apiserver::rest::WarningPtr warning;
  };

  std::string_view name() const override { return "warnings seen"; }
  apiserver::http::Step Begin(apiserver::http::Exchange&) const override {
    return apiserver::http::Step::Next();
  }
  void Head(apiserver::http::Exchange& exchange, apiserver::http::ResponseHead&) const override {
    Seen seen;
    seen.recorder = exchange.Find<apiserver::rest::WarningRecorderPtr>() != nullptr;
    if (const auto* only = exchange.Find<apiserver::rest::WarningPtr>()) seen.warning = *only;
    seen_.Lock()->push_back(seen);
  }
  std::vector<Seen> Take() const { return std::exchange(*seen_.Lock(), {}); }

 private:
  mutable apiserver::Guarded<std::vector<Seen>> seen_;
};

std::string RevisionOf(const std::string& json) {
  const std::string key = R"("resourceVersion":")";
  const std::size_t begin = json.find(key) + key.size();
  return json.substr(begin, json.find('"', begin) - begin);
}

}  // namespace

TEST_CASE("endpoints: a watch from a revision delivers what follows, in order", "[endpoints]") {
  const auto server = StartWidgetServer();
  const std::string revision = RevisionOf(server->Call("GET", kWidgets).body);
  Lines watch = Watch(*server, "?watch=1&resourceVersion=" + revision);

  const std::string created = server->Call("POST", kWidgets, Widget("a", 3)).body;
  const std::string changed =
      server
          ->Call("PATCH", std::string(kWidgets) + "/a", R"({"spec":{"size":4}})",
                 {{"Content-Type", "application/merge-patch+json"}})
          .body;
  server->Call("DELETE", std::string(kWidgets) + "/a");

  CHECK(watch.head().headers.Get("Content-Type") == "application/json");
  CHECK(watch.Next() + "\n" ==
        R"({"type":"ADDED","object":)" + created.substr(0, created.size() - 1) + "}\n");
  CHECK(watch.Next() + "\n" ==
        R"({"type":"MODIFIED","object":)" + changed.substr(0, changed.size() - 1) + "}\n");
  const std::string deleted = watch.Next();
  CHECK(deleted.starts_with(R"({"type":"DELETED","object":)"));
  CHECK(Contains(deleted, R"("size":4)"));
  // The delete has a revision of its own.
  CHECK(std::stoll(RevisionOf(deleted)) > std::stoll(RevisionOf(changed)));
}

TEST_CASE("endpoints: sendInitialEvents ends with an annotated bookmark, also of nothing",
          "[endpoints]") {
  const auto server = StartWidgetServer();
  const std::string query =
      "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

  Lines empty = Watch(*server, query);
  const std::string first = empty.Next();
  server->Call("POST", kWidgets, Widget("a", 3));
  Lines one = Watch(*server, query);

  CHECK(first.starts_with(R"({"type":"BOOKMARK","object":{"kind":"Widget",)"
                          R"("apiVersion":"example.com/v1","metadata":{)"));
  CHECK(Contains(first, R"("k8s.io/initial-events-end":"true")"));
  CHECK(one.Next().starts_with(R"({"type":"ADDED")"));
  CHECK(Contains(one.Next(), "initial-events-end"));
}

TEST_CASE("endpoints: a selector turns changes into additions and deletions", "[endpoints]") {
  const auto server = StartWidgetServer();
  const std::string revision = RevisionOf(server->Call("GET", kWidgets).body);
  Lines watch = Watch(*server, "?watch=1&labelSelector=color%3Dred&resourceVersion=" + revision);
  const auto label = [&server](const std::string& value) {
    server->Call("PATCH", std::string(kWidgets) + "/a",
                 R"({"metadata":{"labels":{"color":)" + value + "}}}",
                 {{"Content-Type", "application/merge-patch+json"}});
  };

  server->Call("POST", kWidgets, Widget("a", 3));
  label("\"red\"");
  label("\"blue\"");

  CHECK(watch.Next().starts_with(R"({"type":"ADDED")"));
  const std::string left = watch.Next();
  CHECK(left.starts_with(R"({"type":"DELETED")"));
  CHECK(Contains(left, R"("color":"red")"));
}

TEST_CASE("endpoints: a Table watch sends its columns once", "[endpoints]") {
  const auto server = StartWidgetServer();
  server->Call("POST", kWidgets, Widget("a", 3));
  server->Call("POST", kWidgets, Widget("b", 3));

  Lines watch =
      Watch(*server, "?watch=1&resourceVersion=0", "application/json;as=Table;v=v1;g=meta.k8s.io");

  CHECK(Contains(watch.Next(), R"("columnDefinitions":[{)"));
  CHECK(Contains(watch.Next(), R"("columnDefinitions":null)"));
}

TEST_CASE("endpoints: a watch ends by itself after timeoutSeconds", "[endpoints]") {
  const auto server = StartWidgetServer();

  Lines watch = Watch(*server, "?watch=1&resourceVersion=0&timeoutSeconds=1");

  CHECK(watch.Next().empty());
}

TEST_CASE("endpoints: the deprecated watch paths watch", "[endpoints]") {
  const auto server = StartWidgetServer();
  server->Call("POST", kWidgets, Widget("a", 3));
  server->Call("POST", kWidgets, Widget("b", 3));

  const auto one = server->Call(
      "GET", "/apis/example.com/v1/watch/namespaces/default/widgets/b?timeoutSeconds=1");
  const auto all = server->Call("GET", "/apis/example.com/v1/watch/widgets?timeoutSeconds=1");

  CHECK(Contains(one.body, R"("name":"b")"));
  CHECK_FALSE(Contains(one.body, R"("name":"a")"));
  CHECK(Contains(all.body, R"("name":"a")"));
}

TEST_CASE("endpoints: a watch of a compacted revision is told so in the stream", "[endpoints]") {
  const auto server = StartWidgetServer();
  const std::string old = RevisionOf(server->Call("POST", kWidgets, Widget("a", 3)).body);
  const std::string now = RevisionOf(server->Call("POST", kWidgets, Widget("b", 3)).body);
  server->Call("POST", kWidgets, Widget("c", 3));
  REQUIRE(server->engine().Compact(Context::Background(), std::stoll(now)).ok());
  REQUIRE(server->engine().CompactedRevision() == std::stoll(now));

  const auto list = server->Call(
      "GET", std::string(kWidgets) + "?resourceVersionMatch=Exact&resourceVersion=" + old);

  CHECK(list.code == 410);
  CHECK(Contains(list.body, R"("reason":"Expired")"));
}

TEST_CASE("endpoints: watches of a deprecated version share one warning and keep no recorder",
          "[endpoints]") {
  apiserver::runtime::KindOptions widget{
      .group = "example.com", .kind = "Widget", .plural = "widgets"};
  widget.versions = {{.version = "v1",
                      .schema = apiserver::testing::WidgetSchema("v1", "size"),
                      .deprecation_warning = "old"}};
  const auto filter = std::make_shared<WarningsSeen>();
  apiserver::testing::TestServerOptions options;
  options.kinds = {{.kind = apiserver::runtime::Kind::New(std::move(widget)).value()}};
  options.configure = [&](apiserver::server::Config& config) {
    config.filters.after_authorization = {filter};
  };
  const auto server = apiserver::testing::StartTestServer(std::move(options)).value();

  {
    const Lines one = Watch(*server, "?watch=1");
    const Lines two = Watch(*server, "?watch=1");
    CHECK(one.head().headers.Get("Warning") == R"(299 - "old")");
    CHECK(two.head().headers.Get("Warning") == R"(299 - "old")");
  }
  const auto watches = filter->Take();
  REQUIRE(watches.size() == 2);
  REQUIRE(watches[0].warning != nullptr);
  CHECK(watches[0].warning == watches[1].warning);
  CHECK_FALSE(watches[0].recorder);
  CHECK_FALSE(watches[1].recorder);

  // A write may cause more warnings, and has a recorder for them.
  CHECK(server->Call("POST", kWidgets, Widget("a", 3)).code == 201);
  const auto writes = filter->Take();
  REQUIRE(writes.size() == 1);
  CHECK(writes[0].recorder);
  CHECK(writes[0].warning == nullptr);
}
