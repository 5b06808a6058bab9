// The handlers of one server: to its clients they are one.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "serving_chain.h"

using namespace apiserver;  // NOLINT: a test.
using Chain = testing::PetsBehindWidgets;
using testing::Contains;
using testing::kPets;
using testing::kWidgets;
using testing::Pet;
using testing::PetKind;
using testing::StartTestServer;
using testing::StoreOf;
using testing::WatchOf;
using testing::Widget;

namespace {

constexpr char kAggregated[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

}  // namespace

TEST_CASE("server: the resources of all handlers are created, read, listed and watched",
          "[server]") {
  Chain chain;
  const auto connection = chain.outer().LoopbackConnection();
  for (const auto& [path, body] : {std::pair(std::string(kWidgets), Widget("a", 1)),
                                   std::pair(std::string(kPets), Pet("a"))}) {
    INFO(path);
    const auto watch = WatchOf(*connection, path);
    CHECK(chain.server().Call("POST", path, body).code == 201);
    CHECK(chain.Get(path + "/a").code == 200);
    CHECK(Contains(chain.Get(path).body, R"("name":"a")"));
    CHECK(chain.Get(path + "/b").code == 404);
    CHECK(Contains(watch->Read(Context::Background()).value(), R"("type":"ADDED")"));
  }
  // Watches and lists of either are counted as such.
  CHECK(Contains(chain.Get("/metrics").body,
                 "apiserver_request_total{verb=\"LIST\",dry_run=\"\",group=\"zoo.example.com\","
                 "version=\"v1\",resource=\"pets\",subresource=\"\",scope=\"namespace\","
                 "component=\"apiserver\",code=\"200\"} 1\n"));
}

TEST_CASE("server: discovery shows the groups of all handlers", "[server]") {
  Chain chain;
  const std::string groups = chain.Get("/apis").body;
  CHECK(Contains(groups, R"("name":"example.com")"));
  CHECK(Contains(groups, R"("name":"zoo.example.com")"));
  CHECK(groups.find(R"("example.com")") < groups.find(R"("zoo.example.com")"));
  const std::string aggregated =
      chain.server().Call("GET", "/apis", "", {{"Accept", kAggregated}}).body;
  CHECK(Contains(aggregated, R"("resource":"widgets")"));
  CHECK(Contains(aggregated, R"("resource":"pets")"));
  CHECK(Contains(chain.Get("/apis/zoo.example.com").body,
                 R"("preferredVersion":{"groupVersion":"zoo.example.com/v1","version":"v1"})"));
  CHECK(Contains(chain.Get("/apis/zoo.example.com/v1").body, R"("name":"pets")"));
}

TEST_CASE("server: OpenAPI describes the kinds of all handlers", "[server]") {
  Chain chain;
  // What a handler knows but does not serve can be named in the options of requests.
  const auto schema = runtime::StructBuilder("com.example.zoo.v7.Cage").Build();
  REQUIRE(chain.inner()
              .scheme()
              .Add(runtime::Kind::New({.group = "zoo.example.com",
                                       .kind = "Cage",
                                       .plural = "cages",
                                       .versions = {{.version = "v7", .schema = schema}}})
                       .value())
              .ok());
  const std::string v2 = chain.Get("/openapi/v2").body;
  CHECK(Contains(v2, R"("com.example.v1.WidgetSpec":{)"));
  CHECK(Contains(v2, R"("com.example.zoo.v1.PetSpec":{)"));
  CHECK(openapi::Lint(v2) == std::vector<std::string>());
  CHECK(Contains(v2, R"({"group":"zoo.example.com","kind":"DeleteOptions","version":"v7"})"));
  const std::string index = chain.Get("/openapi/v3").body;
  CHECK(Contains(index, R"("apis/example.com/v1":{)"));
  CHECK(Contains(index, R"("apis/zoo.example.com/v1":{)"));
  const std::string pets = chain.Get("/openapi/v3/apis/zoo.example.com/v1").body;
  CHECK(Contains(pets, "What it eats."));
  CHECK(openapi::Lint(pets) == std::vector<std::string>());
}

TEST_CASE("server: definitions of one name in two handlers are each in their own document",
          "[server]") {
  const auto kind = [](const std::string& group, const char* field) {
    const auto schema = runtime::StructBuilder("shared.Thing")
                            .Field("metadata", runtime::ObjectMetaSchema())
                            .Field(field, runtime::StringSchema())
                            .Build();
    return runtime::Kind::New({.group = group,
                               .kind = "Thing",
                               .plural = "things",
                               .versions = {{.version = "v1", .schema = schema}}})
        .value();
  };
  const auto engine = storage::memory::NewEngine();
  const auto serve = [&](server::Handler& handler, Executor& pool, const runtime::KindPtr& thing) {
    REQUIRE(handler.scheme().Add(thing).ok());
    const auto store = StoreOf(*engine, pool, thing);
    server::APIGroupInfo group{.group = thing->group(), .storage = {}};
    group.storage["v1"]["things"] = store;
    REQUIRE(handler.InstallAPIGroup(std::move(group)).ok());
  };
  const auto server = StartTestServer({.install = [&](server::GenericAPIServer& api) -> Status {
                        serve(api, api.pool(), kind("one.example.com", "first"));
                        serve(*api.AddHandler({.name = "inner"}).value(), api.pool(),
                              kind("two.example.com", "second"));
                        return {};
                      }}).value();
  const std::string one = server->Call("GET", "/openapi/v3/apis/one.example.com/v1").body;
  CHECK(Contains(one, R"("first":{)"));
  CHECK_FALSE(Contains(one, R"("second":{)"));
  const std::string two = server->Call("GET", "/openapi/v3/apis/two.example.com/v1").body;
  CHECK(Contains(two, R"("second":{)"));
  CHECK_FALSE(Contains(two, R"("first":{)"));
}

TEST_CASE("server: the paths of all handlers stand in one index, and what is unknown is not found",
          "[server]") {
  Chain chain;
  const auto say = [](std::string what) {
    return [what](http::Exchange& exchange) {
      exchange.writer().Send({.code = 200}, http::Bytes(what));
      return http::Step::Done();
    };
  };
  REQUIRE(chain.outer().HandlePath("/of-outer", say("outer"), /*listed=*/true).ok());
  REQUIRE(chain.inner().HandlePath("/of-inner", say("inner"), /*listed=*/true).ok());
  CHECK(chain.Get("/of-outer").body == "outer");
  CHECK(chain.Get("/of-inner").body == "inner");
  const std::string index = chain.Get("/").body;
  for (const std::string path : {"/of-outer", "/of-inner", "/apis/example.com/v1",
                                 "/apis/zoo.example.com/v1", "/healthz", "/openapi/v3"}) {
    INFO(path);
    CHECK(Contains(index, "\"" + path + "\""));
  }
  const auto unknown = chain.Get("/no/such/path");
  CHECK(unknown.code == 404);
  CHECK(unknown.body == index);
  CHECK(chain.Get("/apis/no.example.com/v1/things").code == 404);
  CHECK(chain.Get("/apis/zoo.example.com/v1/widgets").code == 404);
  CHECK(chain.Get("/apis/zoo.example.com/v2").code == 404);
}

TEST_CASE("server: a group version belongs to one handler", "[server]") {
  Chain chain;
  const auto engine = storage::memory::NewEngine();
  const auto pets = [&](const std::string& version) {
    return StoreOf(*engine, chain.outer().pool(), PetKind(version));
  };
  const auto group = [&](const std::string& version) {
    return server::APIGroupInfo{"zoo.example.com", {{version, {{"pets", pets(version)}}}}};
  };
  REQUIRE(chain.outer().scheme().Add(PetKind("v1")).ok());
  const runtime::GroupVersionResource name{"zoo.example.com", "v1", "pets"};
  const std::string groups = chain.Get("/apis").body;
  REQUIRE(chain.server().Call("POST", kPets, Pet("a")).code == 201);
  for (const Status& refused :
       {chain.outer().InstallAPIGroup(group("v1")), chain.outer().ReplaceAPIGroup(group("v1")),
        chain.outer().InstallAPIResource({name, {{"pets", pets("v1")}}}),
        chain.outer().ReplaceAPIResource({name, {{"pets", pets("v1")}}}),
        chain.outer().RemoveAPIResource(name)}) {
    CHECK(refused.reason() == Reason::kConflict);
    CHECK(refused.message() ==
          "server: the handler \"test\" may not change zoo.example.com/v1, which the handler "
          "\"inner\" serves");
  }
  CHECK(chain.Get("/apis").body == groups);
  CHECK(chain.Get(std::string(kPets) + "/a").code == 200);

  // The handler whose it is may do all of it, and when it has gone it is free.
  CHECK(chain.inner().InstallAPIGroup(group("v1")).message() ==
        "server: zoo.example.com/v1 is served already; ReplaceAPIGroup() would replace it");
  CHECK(chain.inner().RemoveAPIResource(name).ok());
  CHECK(chain.outer().InstallAPIGroup(group("v1")).ok());
  CHECK(chain.inner().RemoveAPIResource(name).message() ==
        "server: the handler \"inner\" may not change zoo.example.com/v1, which the handler "
        "\"test\" serves");
}

namespace {

// Notes in which versions else a resource that is written is served.
class NotesVersions final : public admission::Plugin {
 public:
  std::string_view name() const override { return "NotesVersions"; }
  bool Handles(admission::Operation) const override { return true; }
  Status Validate(const Context&, const admission::Attributes& attributes) const override {
    for (const auto& each :
         attributes.equivalents->EquivalentResourcesFor(attributes.resource, "")) {
      *noted.Lock() += each.resource.version + " ";
    }
    return {};
  }

  mutable Guarded<std::string> noted;
};

}  // namespace

TEST_CASE("server: versions of a group may be different handlers'", "[server]") {
  const auto notes = std::make_shared<NotesVersions>();
  Chain chain({.name = "inner"}, {.admission = {notes}});
  const auto engine = storage::memory::NewEngine();
  const runtime::KindPtr newer = PetKind("v2");
  REQUIRE(chain.outer().scheme().Add(newer).ok());
  const auto pets = StoreOf(*engine, chain.outer().pool(), newer);
  REQUIRE(chain.outer().InstallAPIGroup({"zoo.example.com", {{"v2", {{"pets", pets}}}}}).ok());
  const std::string group = chain.Get("/apis/zoo.example.com").body;
  CHECK(Contains(group, R"("groupVersion":"zoo.example.com/v1")"));
  CHECK(Contains(group,
                 R"("preferredVersion":{"groupVersion":"zoo.example.com/v2","version":"v2"})"));
  const std::string v2 = chain.Get("/openapi/v2").body;
  CHECK(Contains(v2, R"("com.example.zoo.v1.PetSpec":{)"));
  CHECK(Contains(v2, R"("com.example.zoo.v2.PetSpec":{)"));
  CHECK(chain.Get("/apis/zoo.example.com/v2/namespaces/default/pets").code == 200);
  // What admission is told of the versions of either.
  CHECK(chain.server().Call("POST", kPets, Pet("a")).code == 201);
  CHECK(*notes->noted.Lock() == "v1 v2 ");
}
