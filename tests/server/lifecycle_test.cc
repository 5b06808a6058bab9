// Start, stop, several servers, hooks, faults.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/fault_engine.h"
#include "widget_server.h"

using apiserver::Context;
using apiserver::Reason;
using apiserver::Status;
using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::Widget;

TEST_CASE("server: servers start, serve and stop side by side in one process", "[server]") {
  std::vector<std::unique_ptr<apiserver::testing::TestServer>> servers;
  for (int i = 0; i < 4; ++i) servers.push_back(StartWidgetServer({.listen = true}));

  for (std::size_t i = 0; i < servers.size(); ++i) {
    CHECK(servers[i]->Call("POST", kWidgets, Widget("w" + std::to_string(i), 1)).code == 201);
  }

  CHECK(servers[0]->Call("GET", std::string(kWidgets) + "/w1").code == 404);
  CHECK(servers[1]->Call("GET", std::string(kWidgets) + "/w1").code == 200);
  CHECK(servers[0]->server().port() != servers[1]->server().port());
}

namespace {

struct ClusterScoped final : apiserver::rest::Strategy {
  bool NamespaceScoped() const override { return false; }
  apiserver::field::ErrorList Validate(const Context&,
                                       const apiserver::runtime::Object&) const override {
    return {};
  }
};

// A kind that has nothing in common with the widgets: another group, cluster-scoped.
apiserver::testing::TestResource Gadgets() {
  apiserver::runtime::KindOptions options;
  options.group = "gadgets.example.org";
  options.kind = "Gadget";
  options.plural = "gadgets";
  options.versions = {{.version = "v2",
                       .schema = apiserver::runtime::StructBuilder("org.example.gadgets.v2.Gadget")
                                     .Field("metadata", apiserver::runtime::ObjectMetaSchema())
                                     .Field("power", apiserver::runtime::IntegerSchema(32))
                                     .Build()}};
  return {apiserver::runtime::Kind::New(std::move(options)).value(),
          std::make_shared<ClusterScoped>()};
}

// One request over the network, as a client elsewhere makes it.
apiserver::http::ClientResponse Over(apiserver::testing::TestServer& server, std::string target,
                                     std::string body = "") {
  const auto dialer = apiserver::http::NewDialer();
  const auto options = apiserver::client::DialOptionsFor(server.kubeconfig()).value();
  const auto connection = dialer->Dial(Context::Background(), options).value();
  return connection
      ->Call(Context::Background(), {.method = body.empty() ? "GET" : "POST",
                                     .target = std::move(target),
                                     .headers = {{"Content-Type", "application/json"}},
                                     .body = std::move(body)})
      .value();
}

}  // namespace

TEST_CASE("server: two servers with different kinds run and stop in one process", "[server]") {
  constexpr char kGadgets[] = "/apis/gadgets.example.org/v2/gadgets";
  auto widgets = StartWidgetServer({.listen = true});
  auto gadgets =
      apiserver::testing::StartTestServer({.resources = {Gadgets()}, .listen = true}).value();

  CHECK(Over(*widgets, kWidgets, Widget("w", 1)).code == 201);
  CHECK(Over(*gadgets, kGadgets, R"({"metadata":{"name":"g"},"power":7})").code == 201);
  CHECK(Over(*widgets, std::string(kGadgets) + "/g").code == 404);
  CHECK(Over(*gadgets, std::string(kWidgets) + "/w").code == 404);
  CHECK_FALSE(Contains(Over(*widgets, "/apis").body, "gadgets.example.org"));
  CHECK_FALSE(Contains(Over(*gadgets, "/openapi/v2").body, "Widget"));

  // The one that goes first takes nothing of the other with it.
  if (GENERATE(true, false)) {
    widgets.reset();
    CHECK(Contains(Over(*gadgets, std::string(kGadgets) + "/g").body, "\"power\":7"));
  } else {
    gadgets.reset();
    CHECK(Over(*widgets, std::string(kWidgets) + "/w").code == 200);
  }
}

TEST_CASE("server: the administrator's certificate works over TLS, in both protocols", "[server]") {
  const auto server = StartWidgetServer({.listen = true});
  const auto dialer = apiserver::http::NewDialer();
  for (const bool http2 : {true, false}) {
    auto options = apiserver::client::DialOptionsFor(server->kubeconfig()).value();
    options.http2 = http2;
    INFO("http2: " << http2);

    auto connection = dialer->Dial(Context::Background(), options);

    REQUIRE(connection.ok());
    const auto answer = (*connection)->Call(Context::Background(), {.target = kWidgets});
    REQUIRE(answer.ok());
    CHECK(answer->code == 200);
  }
}

TEST_CASE("server: readiness waits for post-start hooks; a failing hook fails the start",
          "[server]") {
  apiserver::server::Config config;
  const auto standalone = apiserver::server::NewStandalone({}).value();
  config.authenticator = standalone.authenticator;
  auto server = std::move(*std::move(config).Complete()).New().value();
  std::atomic<bool> ready_inside = true;
  REQUIRE(server
              ->AddPostStartHook("good",
                                 [&](const apiserver::server::HookContext& context) -> Status {
                                   ready_inside = context.server.ready();
                                   return {};
                                 })
              .ok());
  REQUIRE(server
              ->AddPostStartHook("bad",
                                 [](const auto&) -> Status {
                                   return {Reason::kInternalError, "no luck"};
                                 })
              .ok());
  REQUIRE(server->PrepareRun().ok());

  const Status started = server->Start();

  CHECK(started.message() == "hook bad failed: no luck");
  CHECK_FALSE(ready_inside);
  CHECK_FALSE(server->ready());
}

TEST_CASE("server: a server stops while a hook keeps its start waiting", "[server]") {
  apiserver::server::Config config;
  const auto standalone = apiserver::server::NewStandalone({}).value();
  config.authenticator = standalone.authenticator;
  auto server = std::move(*std::move(config).Complete()).New().value();
  apiserver::Notification waiting;
  const auto hook = [&](const apiserver::server::HookContext& context) -> Status {
    apiserver::Notification done;
    const auto registration = context.ctx.OnDone([&done] { done.Notify(); });
    waiting.Notify();
    done.Wait();
    return context.ctx.Err();
  };
  REQUIRE(server->AddPostStartHook("waits", hook).ok());
  REQUIRE(server->PrepareRun().ok());
  Status started;
  apiserver::Thread start("start", [&] { started = server->Start(); });
  waiting.Wait();

  server->Stop();

  start.Join();
  CHECK(started.message() == "hook waits failed: the server is stopping");
}

TEST_CASE("server: stopping ends watches, runs the hooks and refuses what comes after",
          "[server]") {
  const auto server = StartWidgetServer();
  std::atomic<int> hooks = 0;
  REQUIRE(server->server()
              .AddPreShutdownHook("count",
                                  [&hooks](const auto&) -> Status {
                                    ++hooks;
                                    return {};
                                  })
              .ok());
  const auto connection = server->server().LoopbackConnection();
  auto watch = std::move(connection->Open({.target = std::string(kWidgets) + "?watch=1"})).value();
  REQUIRE(watch->Head(Context::Background()).value().code == 200);

  server->server().Stop();
  server->server().Stop();

  CHECK(hooks == 1);
  // The stream is complete, not cut.
  std::string rest = "x";
  while (!rest.empty()) {
    auto more = watch->Read(Context::Background());
    REQUIRE(more.ok());
    rest = *more;
  }
  CHECK(server->Call("GET", kWidgets).code == 503);
}

namespace {

struct KnowsNobody final : apiserver::auth::Authenticator {
  apiserver::Result<std::optional<apiserver::auth::AuthenticateResponse>> Authenticate(
      const Context&, const apiserver::http::Request&) const override {
    return std::optional<apiserver::auth::AuthenticateResponse>();
  }
};

// An answer that begins and never goes on.
struct Idle final : apiserver::http::BodySource {
  apiserver::http::Pull Next(apiserver::http::ChunkWriter& out,
                             const apiserver::Waker& /*waker*/) override {
    if (!std::exchange(begun, true)) out.Write("begun");
    return apiserver::http::Pull::kWait;
  }
  bool begun = false;
};

// What a hook may keep as long as its server has it: an answer that is still coming.
struct OpenStream {
  Status Begin(apiserver::server::GenericAPIServer& server) {
    connection = server.LoopbackConnection();
    stream = connection->Open({.target = "/idle"}).value();
    return stream->Read(Context::Background()).status();
  }
  std::unique_ptr<apiserver::http::Connection> connection;
  std::unique_ptr<apiserver::http::ClientStream> stream;
};

}  // namespace

// An informer once ended its watch in filters that were gone.
TEST_CASE("server: what a hook's client has open ends, and may outlive the server", "[server]") {
  const auto request = std::make_shared<OpenStream>();
  apiserver::server::Config config;
  config.authenticator = std::make_shared<KnowsNobody>();
  config.shutdown_grace = std::chrono::milliseconds(0);
  auto server = std::move(*std::move(config).Complete()).New().value();
  const auto idle = [](apiserver::http::Exchange& exchange) {
    exchange.writer().Stream({}, std::make_unique<Idle>());
    return apiserver::http::Step::Done();
  };
  REQUIRE(server->HandlePath("/idle", idle, /*listed=*/false).ok());
  const auto asks = [request](const apiserver::server::HookContext& hook) {
    return request->Begin(hook.server);
  };
  REQUIRE(server->AddPostStartHook("asks", asks).ok());
  REQUIRE(server->PrepareRun().ok());
  REQUIRE(server->Start().ok());

  server.reset();

  const Context ctx = Context::Background();
  CHECK(request->stream->Read(ctx).status().reason() == Reason::kServiceUnavailable);
  CHECK(request->connection->closed());
  CHECK(request->connection->Call(ctx, {.target = "/idle"}).status().reason() ==
        Reason::kServiceUnavailable);
}

TEST_CASE("server: a storage that fails is a clear error and false readiness", "[server]") {
  const auto memory = apiserver::storage::memory::NewEngine();
  const auto faults = apiserver::testing::NewFaultEngine(*memory);
  const auto server = StartWidgetServer({.engine = faults.get()});

  faults->FailTxns(1, {Reason::kServiceUnavailable, "the disk is gone"});
  const auto failed = server->Call("POST", kWidgets, Widget("a", 1));
  const auto worked = server->Call("POST", kWidgets, Widget("a", 1));
  faults->SetReady({Reason::kServiceUnavailable, "the disk is gone"});

  CHECK(failed.code >= 500);
  CHECK(worked.code == 201);
  CHECK(server->Call("GET", "/readyz").code == 500);
}

TEST_CASE("server: a configuration that cannot work is refused with the remedy", "[server]") {
  apiserver::server::Config nobody;
  apiserver::server::Config plain;
  plain.authenticator = apiserver::server::NewStandalone({}).value().authenticator;
  plain.serving.emplace();

  CHECK(Contains(std::string(std::move(nobody).Complete().status().message()),
                 "authenticator is required"));
  CHECK(Contains(std::string(std::move(plain).Complete().status().message()),
                 "serving.tls is required"));
}

TEST_CASE("server: keys survive a restart, so that yesterday's kubeconfig works", "[server]") {
  const auto files = apiserver::NewMemoryFileSystem();
  apiserver::server::StandaloneOptions options{.data_dir = "/data", .file_system = files.get()};

  const auto first = apiserver::server::NewStandalone(options).value();
  const auto second = apiserver::server::NewStandalone(options).value();

  CHECK(first.Kubeconfig(6443) == second.Kubeconfig(6443));
  CHECK(Contains(first.Kubeconfig(6443), "server: \"https://127.0.0.1:6443\""));
}
