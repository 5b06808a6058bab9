// Kinds that are served in one call.
#include "apiserver/server/install.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/rest/kind_strategy.h"
#include "apiserver/rest/status.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/test_server.h"
#include "contains.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Contains;
using testing::TestServer;

namespace {

constexpr const char* kBoats = "/apis/harbor.example.com/v1/namespaces/ns/boats";
constexpr const char* kOldBoats = "/apis/harbor.example.com/v1beta1/namespaces/ns/boats";
constexpr const char* kBoat =
    R"({"apiVersion":"harbor.example.com/v1","kind":"Boat","metadata":{"name":"a"},)"
    R"("spec":{"crew":2},"status":{"crew":9,"mood":"x"}})";

runtime::SchemaPtr BoatSchema(const std::string& crew) {
  const auto spec = runtime::StructBuilder("")
                        .Field(crew, runtime::IntegerSchema(32), {.default_value = 1, .minimum = 1})
                        .Build();
  const auto status = runtime::StructBuilder("")
                          .Field("crew", runtime::IntegerSchema(32))
                          .Field("mood", runtime::StringSchema())
                          .Build();
  return runtime::StructBuilder("")
      .Field("metadata", runtime::ObjectMetaSchema())
      .Field("spec", spec)
      .Field("status", status)
      .Build();
}

// Served in v1, in v1beta1, which says `sailors` and has no scale, and not in v1alpha1.
runtime::KindOptions BoatOptions() {
  runtime::KindOptions options{.group = "harbor.example.com", .kind = "Boat", .plural = "boats"};
  options.semantics = runtime::Semantics::kCustomResource;
  options.versions = {{.version = "v1",
                       .schema = BoatSchema("crew"),
                       .scale = runtime::ScalePaths{".spec.crew", ".status.crew"}},
                      {.version = "v1beta1",
                       .schema = BoatSchema("sailors"),
                       .conversions = {{"spec.sailors", "spec.crew"}}},
                      {.version = "v1alpha1", .schema = BoatSchema("crew"), .served = false}};
  return options;
}

runtime::KindPtr NewBoat(runtime::KindOptions options = BoatOptions()) {
  return runtime::Kind::New(std::move(options)).value();
}

std::unique_ptr<TestServer> Start(std::vector<server::Resource> kinds) {
  testing::TestServerOptions options;
  options.kinds = std::move(kinds);
  auto server = testing::StartTestServer(std::move(options));
  INFO(server.status().ToString());
  REQUIRE(server.ok());
  return *std::move(server);
}

Status Install(TestServer& server, std::vector<server::Resource> kinds) {
  return server::InstallKinds(server.server(), server.server().Storage(server.engine()),
                              std::move(kinds))
      .status();
}

}  // namespace

TEST_CASE("server: a kind comes with its versions, status and scale in one call", "[server]") {
  const auto server = Start({{.kind = NewBoat()}});
  const std::string boat = std::string(kBoats) + "/a";

  const auto created = server->Call("POST", kBoats, kBoat);
  CHECK(created.code == 201);
  CHECK(Contains(created.body, R"("generation":1)"));
  CHECK_FALSE(Contains(created.body, "mood"));
  CHECK(server
            ->Call("POST", kBoats,
                   R"({"apiVersion":"harbor.example.com/v1","kind":"Boat",)"
                   R"("metadata":{"name":"b"},"spec":{"crew":0}})")
            .code == 422);

  const auto of_status =
      server->Call("PATCH", boat + "/status", R"({"spec":{"crew":7},"status":{"mood":"calm"}})",
                   {{"Content-Type", "application/merge-patch+json"}});
  CHECK(of_status.code == 200);
  CHECK(Contains(of_status.body, R"("spec":{"crew":2},"status":{"mood":"calm"})"));
  CHECK(Contains(of_status.body, R"("generation":1)"));

  const auto of_scale = server->Call("PATCH", boat + "/scale", R"({"spec":{"replicas":5}})",
                                     {{"Content-Type", "application/merge-patch+json"}});
  CHECK(of_scale.code == 200);
  CHECK(Contains(of_scale.body, R"("kind":"Scale")"));
  const auto got = server->Call("GET", std::string(kOldBoats) + "/a");
  CHECK(Contains(got.body, R"("spec":{"sailors":5},"status":{"mood":"calm"})"));
  CHECK(Contains(got.body, R"("generation":2)"));
}

TEST_CASE("server: only what a version declares is served in it", "[server]") {
  const auto server = Start({{.kind = NewBoat()}});
  REQUIRE(server->Call("POST", kBoats, kBoat).code == 201);

  CHECK(server->Call("GET", std::string(kOldBoats) + "/a/status").code == 200);
  CHECK(server->Call("GET", std::string(kOldBoats) + "/a/scale").code == 404);
  CHECK(server->Call("GET", "/apis/harbor.example.com/v1alpha1").code == 404);
  runtime::KindOptions plain = BoatOptions();
  plain.kind = "Raft";
  plain.plural = "rafts";
  plain.versions.resize(1);
  plain.versions[0].status_subresource = false;
  plain.versions[0].scale.reset();
  REQUIRE(Install(*server, {{.kind = NewBoat(std::move(plain))}}).ok());
  const std::string rafts = "/apis/harbor.example.com/v1/namespaces/ns/rafts";
  const std::string raft = R"({"apiVersion":"harbor.example.com/v1","kind":"Raft",)"
                           R"("metadata":{"name":"a"},"spec":{"crew":2},"status":{"mood":"x"}})";
  CHECK(Contains(server->Call("POST", rafts, raft).body, R"("mood":"x")"));
  CHECK(server->Call("GET", rafts + "/a/status").code == 404);
}

TEST_CASE("server: a declared conversion leaves reads on the loop", "[server]") {
  const auto server = Start({{.kind = NewBoat()}});
  REQUIRE(server->store("boats") != nullptr);
  CHECK(server->store("boats")->AnswersInline());
}

TEST_CASE("server: a resource may have strategies, options and subresources of its own",
          "[server]") {
  const runtime::KindPtr kind = NewBoat();
  int updates = 0;
  server::Resource boats{.kind = kind};
  boats.strategy =
      rest::NewKindStrategy(kind, {.validate = [](const Context&, const runtime::Object&) {
                              field::ErrorList errors;
                              errors.Forbidden(field::Path("spec"), "the harbor is closed");
                              return errors;
                            }});
  boats.status_strategy = rest::NewStatusStrategy(rest::NewKindStrategy(kind), kind);
  boats.configure = [&updates](registry::StoreOptions& options) {
    options.strategy = rest::NewKindStrategy(options.kind, {.allow_unconditional_update = true});
    options.after_update = [&updates](const runtime::Object&) { ++updates; };
  };
  boats.subresources["crew"] = [kind](std::shared_ptr<registry::Store> store) {
    return registry::NewStatusStore(std::move(store), rest::NewKindStrategy(kind));
  };
  const auto server = Start({std::move(boats)});

  CHECK(server->Call("POST", kBoats, kBoat).code == 201);
  CHECK(server
            ->Call("PUT", std::string(kBoats) + "/a",
                   R"({"apiVersion":"harbor.example.com/v1","kind":"Boat",)"
                   R"("metadata":{"name":"a"},"spec":{"crew":3}})")
            .code == 200);
  CHECK(updates == 1);
  CHECK(server->Call("GET", std::string(kBoats) + "/a/crew").code == 200);
}

TEST_CASE("server: kinds of a group may come one after the other, each once", "[server]") {
  const runtime::KindPtr boat = NewBoat();
  const auto server = Start({{.kind = boat}});
  runtime::KindOptions options = BoatOptions();
  options.kind = "Pier";
  options.plural = "piers";

  CHECK(Install(*server, {{.kind = NewBoat(std::move(options))}}).ok());
  CHECK(server->Call("GET", "/apis/harbor.example.com/v1/piers").code == 200);
  CHECK(server->Call("GET", kBoats).code == 200);

  const Status again = Install(*server, {{.kind = boat}});
  CHECK(again.reason() == Reason::kConflict);
  CHECK(again.message() ==
        "server: boats of harbor.example.com/v1 is served already; ReplaceAPIResource() would "
        "replace it");
  CHECK(server->Call("POST", kBoats, kBoat).code == 201);
}

TEST_CASE("server: a kind that cannot be served is refused with the reason", "[server]") {
  const auto server = Start({{.kind = NewBoat()}});
  const auto refused = [&](std::vector<server::Resource> kinds) {
    return Install(*server, std::move(kinds)).ToString();
  };
  const auto other = [](auto change) {
    runtime::KindOptions options = BoatOptions();
    options.kind = "Pier";
    options.plural = "piers";
    change(options);
    return NewBoat(std::move(options));
  };
  CHECK(Contains(refused({{}}), "cannot serve a resource without kind"));
  CHECK(Contains(refused({{.kind = NewBoat()}}),
                 "cannot serve boats.harbor.example.com: the scheme knows another kind "
                 "Boat.harbor.example.com"));
  CHECK(Contains(refused({{.kind = other([](auto& options) { options.plural = "boats"; })}}),
                 "its plural is that of the kind Boat.harbor.example.com"));
  const runtime::KindPtr pier = other([](auto&) {});
  CHECK(Contains(refused({{.kind = pier}, {.kind = pier}}),
                 "cannot serve piers.harbor.example.com: two of the kinds have its name or "
                 "plural"));
  CHECK(Contains(refused({{.kind = other([](auto& options) {
                             for (auto& version : options.versions) version.served = false;
                           })}}),
                 "it is served in no version"));
  CHECK(Contains(refused({{.kind = pier, .strategy = rest::NewKindStrategy(other([](auto& options) {
                                           options.namespaced = false;
                                         }))}}),
                 "its kind is in namespaces, its strategy is not"));
  CHECK(Contains(refused({{.kind = pier, .subresources = {{"a/b", nullptr}}}}),
                 "a subresource cannot be called \"a/b\""));
  CHECK(Contains(refused({{.kind = pier, .subresources = {{"a", nullptr}}}}),
                 "nothing makes its subresource \"a\""));
  CHECK(Contains(refused({{.kind = other([](auto& options) {
                             std::swap(options.versions[0].scale, options.versions[1].scale);
                             options.versions[1].scale->spec_replicas = ".spec.sailors";
                           })}}),
                 "it has a scale subresource, and its hub version v1 has none"));
  CHECK(Contains(refused({{.kind = other([](auto& options) {
                             options.versions[0].scale->spec_replicas = ".spec.crew[0]";
                           })}}),
                 "its version v1 has a scale subresource, but .spec.crew[0]: there is no field "
                 "\"crew[0]\" (there are crew)"));
}

TEST_CASE("server: a path that the schema does not have is refused when its kind is installed",
          "[server]") {
  const auto server = Start({});
  const auto refused = [&](auto change) {
    runtime::KindOptions options = BoatOptions();
    change(options);
    return Install(*server, {{.kind = NewBoat(std::move(options))}}).ToString();
  };
  CHECK(Contains(refused([](auto& options) {
                   options.versions[1].columns = {{"Crew", "integer", ".spec.crew"}};
                 }),
                 "kind \"Boat\": v1beta1: column \"Crew\": .spec.crew: there is no field \"crew\" "
                 "(there are sailors)"));
  CHECK(Contains(refused([](auto& options) { options.selectable_fields = {"spec.captain"}; }),
                 "kind \"Boat\": v1: selectable field: spec.captain: there is no field"));
  CHECK(Contains(refused([](auto& options) {
                   options.versions[0].scale->status_replicas = ".status.sailors";
                 }),
                 "its version v1 has a scale subresource, but .status.sailors: there is no field"));
  CHECK(Contains(refused([](auto& options) {
                   options.versions[0].scale->label_selector = ".status.selector";
                 }),
                 "a scale subresource, but .status.selector: there is no field"));
  CHECK(Contains(
      refused([](auto& options) {
        options.versions[0].schema =
            runtime::StructBuilder("").Field("metadata", runtime::ObjectMetaSchema()).Build();
        options.versions[0].scale.reset();
        options.versions[0].status_subresource = true;
        options.versions[1].conversions.clear();
      }),
      "its version v1 has a status subresource, but status: there is no field"));
  CHECK(server->Call("GET", kBoats).code == 404);
}

TEST_CASE("server: kinds of which one is refused leave nothing behind", "[server]") {
  const auto server = Start({});
  server::Resource bad{.kind = NewBoat()};
  bad.subresources["broken"] =
      [](const std::shared_ptr<registry::Store>&) -> Result<std::shared_ptr<rest::Storage>> {
    return Status(Reason::kInternalError, "no timber");
  };
  runtime::KindOptions options = BoatOptions();
  options.kind = "Pier";
  options.plural = "piers";
  const runtime::KindPtr pier = NewBoat(std::move(options));

  const Status refused = Install(*server, {{.kind = pier}, bad});

  CHECK(Contains(refused.ToString(), "no timber"));
  const auto scheme = server->server().scheme().snapshot();
  CHECK(scheme->FindByResource(pier->group_resource()) == nullptr);
  CHECK(scheme->FindByResource(bad.kind->group_resource()) == nullptr);
  CHECK(server->Call("GET", "/apis/harbor.example.com/v1/piers").code == 404);
  CHECK(server->Call("GET", "/readyz").code == 200);
  CHECK(Install(*server, {{.kind = pier}, {.kind = NewBoat()}}).ok());
  CHECK(server->Call("POST", kBoats, kBoat).code == 201);
}

TEST_CASE("server: Storage() wires stores with what the server has", "[server]") {
  const auto server = Start({});
  const registry::StorageConfig config = server->server().Storage(server->engine());
  CHECK(config.engine == &server->engine());
  CHECK(config.executor == &server->server().pool());
  CHECK(config.memory == server->server().memory());
  CHECK(config.metrics == server->server().metrics());
  CHECK(config.log != &NullLogSink());
  REQUIRE(Install(*server, {{.kind = NewBoat()}}).ok());
  REQUIRE(server->Call("POST", kBoats, kBoat).code == 201);
  CHECK(Contains(server->Call("GET", "/metrics").body,
                 R"(apiserver_watch_cache_initializations_total{group="harbor.example.com")"));
}

TEST_CASE("server: a standalone makes its server in one call, and passes errors on", "[server]") {
  const auto engine = storage::memory::NewEngine();
  const auto standalone = server::NewStandalone({});
  REQUIRE(standalone.ok());
  server::Config config;
  config.serving.reset();
  config.name = "harbor";
  auto server = standalone->NewServer(std::move(config));
  REQUIRE(server.ok());
  REQUIRE(server::InstallKinds(**server, (*server)->Storage(*engine), {{.kind = NewBoat()}}).ok());
  REQUIRE((*server)->PrepareRun().ok());
  REQUIRE((*server)->Start().ok());
  CHECK((*server)->port() > 0);
  (*server)->Stop();

  server::Config bad;
  bad.clock = nullptr;
  CHECK(standalone->NewServer(std::move(bad)).status().reason() == Reason::kInvalid);
}

namespace {

// A server with boats of two versions, by InstallKinds() or by InstallAPIGroup(), of which the
// config serves what it likes.
std::unique_ptr<TestServer> StartBoats(const server::ResourceConfig& config, bool as_group) {
  testing::TestServerOptions options;
  const auto kind = NewBoat();
  if (as_group) {
    options.resources = {{.kind = kind, .strategy = rest::NewKindStrategy(kind)}};
  } else {
    options.kinds = {{.kind = kind}};
  }
  options.configure = [&config](server::Config& made) { made.resource_config = config; };
  auto server = testing::StartTestServer(std::move(options));
  INFO(server.status().ToString());
  REQUIRE(server.ok());
  return *std::move(server);
}

// The documents that name what is served.
std::string DocumentsOf(TestServer& server) {
  return server.Call("GET", "/apis").body + server.Call("GET", "/openapi/v2").body +
         server.Call("GET", "/openapi/v3").body + server.Call("GET", "/").body +
         server
             .Call("GET", "/apis", "",
                   {{"Accept",
                     "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}})
             .body;
}

}  // namespace

TEST_CASE("server: a disabled version is answered 404 and is in no document", "[server]") {
  server::ResourceConfig config;
  config.EnableVersions({{"harbor.example.com", "v1"}});
  config.DisableVersions({{"harbor.example.com", "v1beta1"}});
  for (const bool as_group : {false, true}) {
    const auto server = StartBoats(config, as_group);
    CHECK(server->server().ResourceEnabled({"harbor.example.com", "v1", "boats"}));
    CHECK_FALSE(server->server().ResourceEnabled({"harbor.example.com", "v1beta1", "boats"}));
    CHECK(server->Call("POST", kBoats, kBoat).code == 201);
    CHECK(server->Call("GET", std::string(kOldBoats) + "/a").code == 404);
    CHECK(server->Call("GET", "/apis/harbor.example.com/v1beta1").code == 404);
    CHECK(server->Call("GET", "/openapi/v3/apis/harbor.example.com/v1beta1").body.empty());
    const std::string documents = DocumentsOf(*server);
    CHECK(Contains(documents, "harbor.example.com/v1"));
    // DeleteOptions name all versions of the scheme, as upstream.
    CHECK_FALSE(Contains(documents, "harbor.example.com/v1beta1"));
  }
}

TEST_CASE("server: a group without a version that is enabled does not exist", "[server]") {
  server::ResourceConfig config;
  config.DisableVersions({{"harbor.example.com", "v1"}, {"harbor.example.com", "v1beta1"}});
  for (const bool as_group : {false, true}) {
    const auto server = StartBoats(config, as_group);
    CHECK(server->Call("GET", "/apis/harbor.example.com").code == 404);
    CHECK_FALSE(Contains(DocumentsOf(*server), "harbor.example.com"));
    // The store is the server's own, and ends with it.
    REQUIRE(server->store("boats") != nullptr);
    CHECK(server->Call("GET", "/readyz").code == 200);
  }
}

TEST_CASE("server: a disabled resource takes its subresources with it", "[server]") {
  server::ResourceConfig config;
  config.EnableVersions({{"harbor.example.com", "v1"}, {"harbor.example.com", "v1beta1"}});
  config.DisableResources({{"harbor.example.com", "v1", "boats"}});
  const auto server = StartBoats(config, /*as_group=*/false);
  CHECK(server->Call("GET", kBoats).code == 404);
  CHECK(server->Call("GET", std::string(kBoats) + "/a/status").code == 404);
  CHECK(server->Call("GET", kOldBoats).code == 200);
}

TEST_CASE("server: a version that the configuration does not know is served", "[server]") {
  server::ResourceConfig config;
  config.DisableVersions({{"other.example.com", "v1"}});
  const auto server = StartBoats(config, /*as_group=*/false);
  CHECK(server->Call("GET", kBoats).code == 200);
}
