// A kind whose converter asks another process: what is converted, in how many calls, and on which
// threads, when it is served.
#include <algorithm>
#include <catch2/catch.hpp>
#include <tuple>

#include "apiserver/registry/store.h"
#include "dialled.h"
#include "latch.h"
#include "version_converter.h"
#include "widget_server.h"

using apiserver::testing::CallAlone;
using apiserver::testing::Contains;
using apiserver::testing::Dialled;
using apiserver::testing::GetAlone;
using apiserver::testing::Latch;
using apiserver::testing::Meanwhile;
using apiserver::testing::RemoteConverter;
using apiserver::testing::TestServer;
using apiserver::testing::Widget;
namespace http = apiserver::http;
namespace registry = apiserver::registry;
namespace runtime = apiserver::runtime;

namespace {

constexpr char kHub[] = "/apis/example.com/v1/namespaces/default/widgets";
constexpr char kStored[] = "/apis/example.com/v1alpha1/namespaces/default/widgets";
constexpr char kFailure[] = "conversion webhook failed: nobody answers";
constexpr char kTableForm[] = "application/json;as=Table;v=v1;g=meta.k8s.io";

// Widgets, stored in v1alpha1 and judged in v1.
struct Served {
  // With `hooks` the store calls functions with what was written, for which it is converted; what
  // comes of that is kept.
  explicit Served(bool hooks = false) {
    runtime::KindOptions kind;
    const runtime::KindPtr widget = apiserver::testing::WidgetKind();
    kind.group = "example.com";
    kind.kind = "Widget";
    kind.plural = "widgets";
    kind.versions = widget->versions();
    kind.versions[1].columns = {{.name = "Length", .type = "integer", .json_path = ".spec.length"}};
    kind.versions[0].columns = {{.name = "Size", .type = "integer", .json_path = ".spec.size"}};
    kind.storage_version = "v1alpha1";
    kind.selectable_fields = {"spec.color"};
    kind.converter = converter;
    converter->on_call = [this] {
      if (!watched) return;
      if (!pool.load()->Inside()) ++elsewhere;
      latch.Pass();
    };
    auto options = apiserver::testing::OnOneLoop();
    options.resources = {{.kind = runtime::Kind::New(std::move(kind)).value(),
                          .strategy = std::make_shared<apiserver::testing::WidgetStrategy>(),
                          .configure = [this, hooks](registry::StoreOptions& store) {
                            store.functions_inline = true;
                            if (!hooks) return;
                            store.after_create = store.after_update =
                                store.after_delete = [this](const runtime::Object& widget_now) {
                                  ++hooked;
                                  if (widget_now.version() != "v1") ++hooked_wrong;
                                };
                          }}};
    server = std::move(apiserver::testing::StartTestServer(std::move(options))).value();
    pool = &server->server().pool();
  }

  // a, b, c; of sizes 1, 2, 3; red, blue, red.
  void CreateThree() {
    for (const auto& [name, size, color] :
         {std::tuple("a", 1, "red"), std::tuple("b", 2, "blue"), std::tuple("c", 3, "red")}) {
      const std::string body = R"({"metadata":{"name":")" + std::string(name) +
                               R"("},"spec":{"length":)" + std::to_string(size) + R"(,"color":")" +
                               color + "\"}}";
      REQUIRE(server->Call("POST", kStored, body).code == 201);
    }
    Forget();
  }
  void Forget() {
    converter->TakeCalls();
    converter->TakeObjects();
  }
  http::ClientResponse Get(const std::string& target, const std::string& accept = "") {
    http::Headers headers;
    if (!accept.empty()) headers.Add("Accept", accept);
    return server->Call("GET", target, "", headers);
  }

  std::shared_ptr<RemoteConverter> converter = std::make_shared<RemoteConverter>();
  Latch latch;
  std::atomic<bool> watched = false;  // Whether calls stand still.
  std::atomic<apiserver::Executor*> pool = nullptr;
  std::atomic<int> elsewhere = 0;  // Calls on threads that are not the pool's.
  std::atomic<int> hooked = 0;
  std::atomic<int> hooked_wrong = 0;  // Hooks that were given another version than the hub.
  std::unique_ptr<TestServer> server;
};

// Reads a watch until it has sent `events` of them, or is over.
std::string WatchFor(TestServer& server, const std::string& target, int events,
                     const std::string& accept = "application/json") {
  const auto options = apiserver::client::DialOptionsFor(server.kubeconfig()).value();
  const auto dialer = http::NewDialer();
  const auto connection = dialer->Dial(apiserver::Context::Background(), options).value();
  const auto stream = connection->Open({.target = target, .headers = {{"Accept", accept}}}).value();
  std::string text;
  while (std::count(text.begin(), text.end(), '\n') < events) {
    const auto more = stream->Read(apiserver::Context::Background());
    if (!more.ok() || more->empty()) break;
    text += *more;
  }
  return text;
}

TEST_CASE("server: a list in another version is one call of the converter", "[server]") {
  Served served;
  served.CreateThree();

  const auto list = served.Get(kHub);
  CHECK(list.code == 200);
  for (const char* size : {"\"size\":1", "\"size\":2", "\"size\":3"}) {
    CHECK(Contains(list.body, size));
  }
  CHECK(served.converter->TakeCalls() == 1);
  CHECK(served.converter->TakeObjects() == 3);

  // The answers' bytes are kept with the objects.
  CHECK(served.Get(kHub).body == list.body);
  CHECK(served.Get(std::string(kHub) + "/a").code == 200);
  CHECK(served.converter->TakeCalls() == 0);

  REQUIRE(served.server
              ->Call("PATCH", std::string(kStored) + "/b", R"({"spec":{"length":9}})",
                     {{"Content-Type", "application/merge-patch+json"}})
              .code == 200);
  served.Forget();
  CHECK(Contains(served.Get(kHub).body, "\"size\":9"));
  CHECK(served.converter->TakeObjects() == 1);
}

TEST_CASE("server: what is asked for as it is stored is not converted", "[server]") {
  Served served;
  served.CreateThree();

  CHECK(Contains(served.Get(std::string(kStored) + "/a").body, "\"length\":1"));
  CHECK(Contains(served.Get(kStored).body, "\"length\":3"));
  const std::string watch = std::string(kStored) + "?watch=1&resourceVersion=0";
  CHECK(Contains(WatchFor(*served.server, watch, 3), "\"length\":3"));
  const std::string named = std::string(kStored) + "?fieldSelector=metadata.name%3Db";
  CHECK(Contains(served.Get(named).body, "\"length\":2"));
  CHECK(served.converter->TakeCalls() == 0);
}

TEST_CASE("server: the events of one turn of a watch are converted in one call", "[server]") {
  Served served;
  served.CreateThree();

  const std::string watch = std::string(kHub) + "?watch=1&resourceVersion=0";
  const std::string form = GENERATE(std::string("application/json"), std::string(kTableForm));
  const std::string events = WatchFor(*served.server, watch, 3, form);

  if (form != kTableForm) {
    for (const char* size : {"\"size\":1", "\"size\":2", "\"size\":3"}) {
      CHECK(Contains(events, size));
    }
    CHECK(served.converter->TakeCalls() == 1);
    CHECK(served.converter->TakeObjects() == 3);
  } else {
    // The objects together, the cells of each row by themselves.
    CHECK(Contains(events, R"("cells":["c",3])"));
    CHECK(served.converter->TakeCalls() == 1 + 3);
  }
}

TEST_CASE("server: columns show the version that the rules see", "[server]") {
  Served served;
  served.CreateThree();

  const auto table = served.Get(std::string(kStored) + "?includeObject=None", kTableForm);
  CHECK(Contains(table.body, R"("name":"Size")"));
  CHECK(Contains(table.body, R"("cells":["b",2])"));
  CHECK(served.converter->TakeCalls() == 1);
  CHECK(served.converter->TakeObjects() == 3);

  // Cells are kept with the objects.
  CHECK(served.Get(std::string(kStored) + "?includeObject=None", kTableForm).body == table.body);
  CHECK(served.converter->TakeCalls() == 0);
}

TEST_CASE("server: objects are converted together to be selected by a field", "[server]") {
  Served served;
  served.CreateThree();

  const std::string selector =
      GENERATE(std::string("spec.color%3Dred"), std::string("spec.color!%3Dblue"));
  const auto list = served.Get(std::string(kStored) + "?fieldSelector=" + selector);
  CHECK(Contains(list.body, "\"length\":1"));
  CHECK_FALSE(Contains(list.body, "\"length\":2"));
  CHECK(Contains(list.body, "\"length\":3"));
  // Through an index what is found is looked at once more.
  CHECK(served.converter->TakeCalls() <= 2);
  served.Forget();

  const std::string watch =
      std::string(kStored) + "?watch=1&resourceVersion=0&fieldSelector=" + selector;
  CHECK(Contains(WatchFor(*served.server, watch, 2), "\"length\":3"));
  CHECK(served.converter->TakeCalls() == 1);
  CHECK(served.converter->TakeObjects() == 3);
}

TEST_CASE("server: rules and hooks see the hub of what is stored in another version", "[server]") {
  Served served(/*hooks=*/true);
  served.CreateThree();
  const std::string a = std::string(kStored) + "/a";
  const http::Headers merge = {{"Content-Type", "application/merge-patch+json"}};
  const http::Headers apply = {{"Content-Type", "application/apply-patch+yaml"}};

  // The strategy judges `size`, which only the hub has.
  CHECK(served.server->Call("PATCH", a, R"({"spec":{"length":11}})", merge).code == 422);
  CHECK(Contains(served.server->Call("PATCH", a, R"({"spec":{"length":5}})", merge).body,
                 "\"length\":5"));
  CHECK(Contains(served.server
                     ->Call("PATCH", std::string(kHub) + "/a?fieldManager=me&force=true",
                            R"({"apiVersion":"example.com/v1","kind":"Widget",)"
                            R"("metadata":{"name":"a"},"spec":{"size":6}})",
                            apply)
                     .body,
                 "\"size\":6"));
  CHECK(Contains(served.Get(a).body, "\"length\":6"));
  std::string body = served.Get(a).body;
  body.replace(body.find("\"length\":6"), 10, "\"length\":7");
  const auto put = served.server->Call("PUT", a, body);
  CHECK(Contains(put.body, "\"length\":7"));
  CHECK(put.code == 200);
  CHECK(Contains(served.Get(std::string(kHub) + "/a").body, "\"size\":7"));
  CHECK(served.server->Call("DELETE", a).code == 200);
  CHECK(served.Get(a).code == 404);
  CHECK(served.hooked == 3 + 4);
  CHECK(served.hooked_wrong == 0);
  CHECK(served.converter->where_nothing_may_wait() == 0);
}

TEST_CASE("server: a converter that fails is the answer, and nothing else is lost", "[server]") {
  Served served;
  served.CreateThree();
  served.converter->fails = true;
  const http::Headers merge = {{"Content-Type", "application/merge-patch+json"}};
  const http::Headers apply = {{"Content-Type", "application/apply-patch+yaml"}};
  const std::string stored_a = std::string(kStored) + "/a";
  const std::string hub_a = std::string(kHub) + "/a";
  const std::string of_list = std::string(kHub) + "?fieldSelector=spec.color%3Dred";

  const std::vector<http::ClientResponse> answers = {
      served.Get(hub_a),
      served.Get(kHub),
      served.Get(of_list),
      served.Get(kHub, kTableForm),
      served.server->Call("POST", kHub, Widget("d", 4)),
      served.server->Call("POST", kStored, R"({"metadata":{"name":"d"},"spec":{"length":4}})"),
      served.server->Call("PUT", hub_a, Widget("a", 4)),
      served.server->Call("PATCH", stored_a, R"({"spec":{"length":4}})", merge),
      served.server->Call("PATCH", hub_a + "?fieldManager=me",
                          R"({"apiVersion":"example.com/v1","kind":"Widget",)"
                          R"("metadata":{"name":"a"},"spec":{"size":4}})",
                          apply),
      served.server->Call("DELETE", hub_a),
  };
  for (const http::ClientResponse& answer : answers) {
    INFO(answer.body);
    CHECK(answer.code == 500);
    CHECK(Contains(answer.body, kFailure));
  }
  const std::string watch = "?watch=1&resourceVersion=0";
  const std::string events = WatchFor(*served.server, kHub + watch, 2);
  CHECK(events.starts_with(R"({"type":"ERROR","object":{"kind":"Status",)"));
  CHECK(Contains(events, kFailure));
  CHECK(std::count(events.begin(), events.end(), '\n') == 1);

  // As they are stored they are served all the while.
  CHECK(Contains(served.Get(stored_a).body, "\"length\":1"));
  CHECK(Contains(WatchFor(*served.server, kStored + watch, 3), "\"length\":3"));
  served.converter->fails = false;
  CHECK(Contains(served.Get(hub_a).body, "\"size\":1"));
  CHECK(Contains(served.Get(of_list).body, "\"size\":3"));
  CHECK(served.Get(std::string(kStored) + "/d").code == 404);
}

struct ConvertedPlace {
  std::string name;
  std::string method;
  std::string target;
  std::string body = "";
  std::string accept = "application/json";
};

std::vector<ConvertedPlace> ConvertedPlaces() {
  const std::string hub = kHub;
  const std::string stored = kStored;
  const std::string watch = "?watch=1&resourceVersion=0";
  const std::string red = "fieldSelector=spec.color%3Dred";
  const std::string applied = R"({"apiVersion":"example.com/v1","kind":"Widget",)"
                              R"("metadata":{"name":"a"},"spec":{"size":4}})";
  return {
      {"an object", "GET", hub + "/a"},
      {"a list", "GET", hub},
      {"a list as Table", "GET", stored + "?includeObject=None", "", kTableForm},
      {"a list by a field", "GET", stored + "?" + red},
      {"a watch", "WATCH", hub + watch},
      {"a watch by a field", "WATCH", stored + watch + "&" + red},
      {"a create", "POST", hub, Widget("a2", 2)},
      {"an update", "PUT", hub + "/a", Widget("a", 2)},
      {"a patch", "PATCH", stored + "/a", R"({"spec":{"length":4}})"},
      {"an apply", "APPLY", hub + "/a?fieldManager=me&force=true", applied},
      {"a delete", "DELETE", hub + "/a"},
  };
}

std::string AskConverted(TestServer& server, const ConvertedPlace& place) {
  if (place.method == "WATCH") return WatchFor(server, place.target, 1);
  const bool apply = place.method == "APPLY";
  const std::string type = apply                     ? "application/apply-patch+yaml"
                           : place.method == "PATCH" ? "application/merge-patch+json"
                                                     : "application/json";
  return CallAlone(server, {.method = apply ? "PATCH" : place.method,
                            .target = place.target,
                            .headers = {{"Accept", place.accept}, {"Content-Type", type}},
                            .body = place.body})
      .body;
}

TEST_CASE("server: a converter that waits holds no loop, whatever asks it", "[server]") {
  const ConvertedPlace place = GENERATE(from_range(ConvertedPlaces()));
  INFO(place.name);
  Served served;
  served.CreateThree();
  Dialled beside(*served.server);
  REQUIRE(beside.connection().Call(apiserver::Context::Background(), {.target = kStored}).ok());
  served.watched = true;
  Meanwhile asked([&] { return AskConverted(*served.server, place); });
  REQUIRE(served.latch.WaitUntilEntered());

  // The same loop, a connection that was there before, and the same resource.
  const std::string b = std::string(kStored) + "/b";
  const auto answer = beside.connection().Call(apiserver::Context::Background(), {.target = b});
  CHECK(answer.value().code == 200);
  CHECK(GetAlone(*served.server, "/version").code == 200);
  CHECK_FALSE(asked.done());

  served.latch.LetGo();
  CHECK(Contains(asked.Await(), place.accept == kTableForm ? R"("a")" : R"("name":"a)"));
  CHECK(served.elsewhere == 0);
  CHECK(served.converter->where_nothing_may_wait() == 0);
}

}  // namespace
