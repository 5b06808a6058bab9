// Functions that a host gives a store never run on a loop.
#include <algorithm>
#include <catch2/catch.hpp>

#include "apiserver/registry/store.h"
#include "apiserver/response/response.h"
#include "dialled.h"
#include "filter_fixture.h"
#include "latch.h"
#include "widget_server.h"

using apiserver::Result;
using apiserver::Status;
using apiserver::testing::CallAlone;
using apiserver::testing::Contains;
using apiserver::testing::Dialled;
using apiserver::testing::GetAlone;
using apiserver::testing::Latch;
using apiserver::testing::Meanwhile;
using apiserver::testing::TestServer;
using apiserver::testing::WebSocketClient;
namespace http = apiserver::http;
namespace meta = apiserver::meta;
namespace registry = apiserver::registry;
namespace runtime = apiserver::runtime;

namespace {

constexpr char kTable[] = "application/json;as=Table;v=v1;g=meta.k8s.io";
constexpr char kThings[] = "/apis/example.com/v1/namespaces/default/things";
constexpr char kOldThings[] = "/apis/example.com/v1alpha1/namespaces/default/things";

// What the functions of a host have in common here.
struct Host {
  // Called by each of them.
  void Work() {
    if (!watched) return;
    if (!pool.load()->Inside()) ++elsewhere;
    latch.Pass();
  }

  Latch latch;
  std::atomic<bool> watched = false;  // Before: it only works.
  std::atomic<apiserver::Executor*> pool = nullptr;
  std::atomic<int> elsewhere = 0;  // Calls on threads that are not the pool's.
};

class Columns final : public apiserver::rest::TableConvertor {
 public:
  explicit Columns(Host& host) : host_(host) {}
  Result<meta::Table> ConvertToTable(const apiserver::Context& ctx,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    host_.Work();
    return registry::NewDefaultTableConvertor()->ConvertToTable(ctx, items, options);
  }

 private:
  Host& host_;
};

enum class What { kColumns, kFields, kConversion, kDefaults, kTtl, kAfterWrites };

runtime::KindPtr HostThingKind(Host& host, What what) {
  const auto work = [&host](runtime::Object&) {
    host.Work();
    return Status();
  };
  const auto schema = apiserver::testing::WidgetSchema;
  std::vector<runtime::KindVersion> versions{
      {.version = "v1", .schema = schema("v1", "size")},
      {.version = "v1alpha1", .schema = schema("v1alpha1", "size")}};
  if (what == What::kConversion) versions[1].to_hub = versions[1].from_hub = work;
  if (what == What::kDefaults)
    versions[0].set_defaults = [work](auto& object) { (void)work(object); };
  return runtime::Kind::New({.group = "example.com",
                             .kind = "Thing",
                             .plural = "things",
                             .versions = std::move(versions),
                             .selectable_fields = {"spec.color"}})
      .value();
}

void Configure(Host& host, What what, registry::StoreOptions& store) {
  if (what == What::kColumns) store.table_convertor = std::make_shared<Columns>(host);
  if (what == What::kFields) {
    store.field_value = [&host](const runtime::Object& thing, std::string_view) {
      host.Work();
      return std::string(thing["spec"]["color"].AsString());
    };
  }
  if (what == What::kTtl) {
    store.ttl = [&host](const runtime::Object&, bool) {
      host.Work();
      return std::optional<std::chrono::seconds>();
    };
  }
  if (what == What::kAfterWrites) {
    store.after_create = [&host](const runtime::Object&) { host.Work(); };
    store.after_update = store.after_delete = store.after_create;
  }
}

// Serves one Thing, on one loop.
std::unique_ptr<TestServer> StartWithHost(Host& host, What what) {
  auto options = apiserver::testing::OnOneLoop();
  options.resources = {{.kind = HostThingKind(host, what),
                        .strategy = std::make_shared<apiserver::testing::WidgetStrategy>(),
                        .configure = [&host, what](registry::StoreOptions& store) {
                          Configure(host, what, store);
                        }}};
  auto server = std::move(apiserver::testing::StartTestServer(std::move(options))).value();
  host.pool = &server->server().pool();
  const auto made =
      server->Call("POST", kThings, R"({"metadata":{"name":"a"},"spec":{"color":"red"}})");
  REQUIRE(made.code == 201);
  return server;
}

// The first events of a watch, up to the object a.
std::string WatchA(TestServer& server, const std::string& target, http::Headers headers) {
  const auto options = apiserver::client::DialOptionsFor(server.kubeconfig()).value();
  const auto dialer = http::NewDialer();
  const auto connection = dialer->Dial(apiserver::Context::Background(), options).value();
  const auto stream = connection->Open({.target = target, .headers = std::move(headers)}).value();
  std::string events;
  while (!Contains(events, "\n")) {
    const auto more = stream->Read(apiserver::Context::Background());
    if (!more.ok() || more->empty()) break;
    events += *more;
  }
  return events;
}

std::string WatchAOverWebSocket(TestServer& server, const std::string& target) {
  Dialled dialled(server);
  WebSocketClient socket(dialled.connection(), target);
  return socket.Read().payload;
}

struct CallSite {
  std::string name;
  What what;
  enum class Way { kCall, kWatch, kWebSocket } way;
  std::string target;
  std::string accept = "application/json";
  std::string method = "GET";
  std::string body = "";
};

std::vector<CallSite> CallSites() {
  using Way = CallSite::Way;
  const std::string things = kThings;
  const std::string old = kOldThings;
  const std::string watch = "?watch=1&resourceVersion=0";
  const std::string red = "fieldSelector=spec.color%3Dred";
  const std::string json = "application/json";
  const std::string blue = R"({"spec":{"color":"blue"}})";
  const std::string next = R"({"metadata":{"generateName":"a","labels":{"name":"a"}}})";
  return {
      {"an object as Table", What::kColumns, Way::kCall, things + "/a", kTable},
      {"a list as Table", What::kColumns, Way::kCall, things, kTable},
      {"a watch as Table", What::kColumns, Way::kWatch, things + watch, kTable},
      {"a list by a field", What::kFields, Way::kCall, things + "?" + red},
      {"a watch by a field", What::kFields, Way::kWatch, things + watch + "&" + red},
      {"a watch by a field over a WebSocket", What::kFields, Way::kWebSocket,
       things + watch + "&" + red},
      {"an object in another version", What::kConversion, Way::kCall, old + "/a"},
      {"a list in another version", What::kConversion, Way::kCall, old},
      {"a watch in another version", What::kConversion, Way::kWatch, old + watch},
      {"the life of what is created", What::kTtl, Way::kCall, things, json, "POST", next},
      {"the life of what is updated", What::kTtl, Way::kCall, things + "/a", json, "PATCH", blue},
      {"after a create", What::kAfterWrites, Way::kCall, things, json, "POST", next},
      {"after an update", What::kAfterWrites, Way::kCall, things + "/a", json, "PATCH", blue},
      {"after a delete", What::kAfterWrites, Way::kCall, things + "/a", json, "DELETE"},
  };
}

std::string AskAt(TestServer& server, const CallSite& place) {
  switch (place.way) {
    case CallSite::Way::kCall:
      return CallAlone(server, {.method = place.method,
                                .target = place.target,
                                .headers = {{"Accept", place.accept},
                                            {"Content-Type", place.method == "PATCH"
                                                                 ? "application/merge-patch+json"
                                                                 : "application/json"}},
                                .body = place.body})
          .body;
    case CallSite::Way::kWatch:
      return WatchA(server, place.target, {{"Accept", place.accept}});
    case CallSite::Way::kWebSocket:
      return WatchAOverWebSocket(server, place.target);
  }
  return "";
}

}  // namespace

// Row 87.
TEST_CASE("server: a function of the host that waits holds no loop", "[server]") {
  const CallSite place = GENERATE(from_range(CallSites()));
  INFO(place.name);
  Host host;
  const auto server = StartWithHost(host, place.what);
  host.watched = true;
  Meanwhile asked([&] { return AskAt(*server, place); });
  REQUIRE(host.latch.WaitUntilEntered());

  CHECK(GetAlone(*server, "/version").code == 200);
  CHECK_FALSE(asked.done());

  host.latch.LetGo();
  CHECK(Contains(asked.Await(), R"("name":"a")"));
  CHECK(host.elsewhere == 0);
}

// Two seconds a place; run by name.
TEST_CASE("server: what others wait while a function of the host sleeps", "[.p99]") {
  const CallSite place = GENERATE(from_range(CallSites()));
  Host host;
  const auto server = StartWithHost(host, place.what);
  host.watched = true;
  Dialled dialled(*server);
  Meanwhile asked([&] { return AskAt(*server, place); });
  REQUIRE(host.latch.WaitUntilEntered());

  std::vector<std::chrono::nanoseconds> waited;
  const apiserver::Clock& clock = apiserver::RealClock();
  for (const auto until = clock.Now() + std::chrono::seconds(2); clock.Now() < until;) {
    const auto began = clock.Now();
    REQUIRE(
        dialled.connection().Call(apiserver::Context::Background(), {.target = "/version"}).ok());
    waited.push_back(clock.Now() - began);
  }
  host.latch.LetGo();

  std::sort(waited.begin(), waited.end());
  const auto p99 = waited[waited.size() * 99 / 100];
  WARN(place.name << ": p99 of " << waited.size() << " GETs " << p99.count() / 1000 << " us");
  CHECK(p99 < std::chrono::milliseconds(20));
}

TEST_CASE("server: a watch made on the pool tells on its loop that it has begun", "[server]") {
  // Nothing happens in it.
  class Silence final : public apiserver::watch::Stream {
    State Next(std::vector<apiserver::watch::Event>&, std::size_t,
               const apiserver::Waker&) override {
      return State::kWait;
    }
  };
  namespace response = apiserver::response;
  Host host;
  apiserver::Notification told;
  std::atomic<bool> on_loop = false;
  apiserver::testing::FilterFixture server({});
  server.handler = [&](http::Exchange& exchange) {
    exchange.Set(response::WatchInitialized{[&told, &on_loop, &loop = exchange.loop()] {
      on_loop = loop.Inside();
      told.Notify();
    }});
    return response::WriteWatch(exchange, std::make_unique<Silence>(),
                                {.kind = HostThingKind(host, What::kColumns), .version = "v1"},
                                {.timeout = std::chrono::minutes(10), .on_pool = true});
  };

  const auto watch = server.connection().Open({.target = "/"}).value();

  CHECK(watch->Head(apiserver::Context::Background())->code == 200);
  REQUIRE(told.WaitFor(apiserver::testing::kGenerous));
  CHECK(on_loop);
}

TEST_CASE("server: a store answers on the loop if its functions are data, or quick", "[server]") {
  const auto inline_with = [](std::function<void(registry::StoreOptions&)> configure, What what) {
    Host host;
    apiserver::testing::TestServerOptions options;
    options.resources = {{.kind = HostThingKind(host, what),
                          .strategy = std::make_shared<apiserver::testing::WidgetStrategy>(),
                          .configure = std::move(configure)}};
    const auto server = apiserver::testing::StartTestServer(std::move(options)).value();
    return server->store("things")->AnswersInline();
  };
  const auto quick = [](registry::StoreOptions& store) { store.functions_inline = true; };
  const auto columns = [](registry::StoreOptions& store) {
    store.table_convertor = registry::NewDefaultTableConvertor();
  };
  const auto fields = [](registry::StoreOptions& store) {
    store.field_value = [](const runtime::Object&, std::string_view) { return std::string(); };
  };

  CHECK(inline_with(nullptr, What::kColumns));
  CHECK_FALSE(inline_with(columns, What::kColumns));
  CHECK_FALSE(inline_with(fields, What::kFields));
  CHECK_FALSE(inline_with(nullptr, What::kConversion));
  CHECK_FALSE(inline_with(nullptr, What::kDefaults));
  CHECK(inline_with(quick, What::kConversion));
  CHECK(inline_with(quick, What::kDefaults));
}
