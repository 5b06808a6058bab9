// Resources that come and go while the server serves.
#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/registry/store.h"
#include "latch.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Contains;
using testing::kWidgets;
using testing::Latch;
using testing::Meanwhile;
using testing::StartWidgetServer;
using testing::TestServer;
using testing::Widget;

namespace {

constexpr char kThingsVersion[] = "/apis/things.example.com/v1";

// A kind that no scheme knows: "Thing7", "things7".
runtime::KindPtr NumberedKind(int number) {
  const std::string suffix = std::to_string(number);
  const auto schema = runtime::StructBuilder("com.example.things.v1.Thing" + suffix)
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("size", runtime::IntegerSchema(32))
                          .Build();
  return runtime::Kind::New({.group = "things.example.com",
                             .kind = "Thing" + suffix,
                             .plural = "things" + suffix,
                             .versions = {{.version = "v1", .schema = schema}}})
      .value();
}

class ThingStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
};

runtime::GroupVersionResource Things(int number) {
  return {"things.example.com", "v1", "things" + std::to_string(number)};
}

std::string PathOf(int number) {
  return std::string(kThingsVersion) + "/namespaces/default/things" + std::to_string(number);
}

std::string Thing(int number, const std::string& name) {
  return R"({"apiVersion":"things.example.com/v1","kind":"Thing)" + std::to_string(number) +
         R"(","metadata":{"name":")" + name + R"("},"size":3})";
}

server::APIResourceInfo NewThings(TestServer& server, int number) {
  const std::shared_ptr<rest::Storage> store =
      registry::NewStore({.engine = &server.engine(), .executor = &server.server().pool()},
                         {.kind = NumberedKind(number),
                          .strategy = std::make_shared<ThingStrategy>(),
                          .functions_inline = true})
          .value();
  return {Things(number), {{Things(number).resource, store}}};
}

// A watch that has begun.
std::unique_ptr<http::ClientStream> WatchNumbered(http::Connection& connection,
                                                  const std::string& path) {
  auto stream = connection.Open({.target = path + "?watch=1"}).value();
  REQUIRE(stream->Head(Context::Background()).value().code == 200);
  return stream;
}

}  // namespace

TEST_CASE("server: a resource comes and goes while the server serves", "[server]") {
  const auto server = StartWidgetServer();
  const std::string before = server->Call("GET", "/openapi/v3").body;
  CHECK(server->Call("GET", PathOf(1)).code == 404);

  REQUIRE(server->server().InstallAPIResource(NewThings(*server, 1)).ok());
  CHECK(server->Call("POST", PathOf(1), Thing(1, "a")).code == 201);
  CHECK(Contains(server->Call("GET", PathOf(1)).body, R"("name":"a")"));
  CHECK(Contains(server->Call("GET", "/apis").body, R"("name":"things.example.com")"));
  CHECK(Contains(server->Call("GET", "/apis/things.example.com").body,
                 R"("preferredVersion":{"groupVersion":"things.example.com/v1","version":"v1"})"));
  CHECK(Contains(server->Call("GET", kThingsVersion).body, R"("name":"things1")"));
  CHECK(Contains(server->Call("GET", "/openapi/v3").body, "apis/things.example.com/v1?hash="));
  CHECK(Contains(server->Call("GET", "/openapi/v3/apis/things.example.com/v1").body,
                 "com.example.things.v1.Thing1"));
  CHECK(Contains(server->Call("GET", "/openapi/v2").body, "com.example.things.v1.Thing1List"));

  REQUIRE(server->server().RemoveAPIResource(Things(1)).ok());
  CHECK(server->Call("GET", PathOf(1)).code == 404);
  CHECK(server->Call("POST", PathOf(1), Thing(1, "b")).code == 404);
  CHECK_FALSE(Contains(server->Call("GET", "/apis").body, "things.example.com"));
  CHECK(server->Call("GET", "/apis/things.example.com").code == 404);
  CHECK(server->Call("GET", kThingsVersion).code == 404);
  CHECK(server->Call("GET", "/openapi/v3").body == before);
  CHECK(server->Call("GET", "/openapi/v3/apis/things.example.com/v1").body.empty());
  CHECK_FALSE(Contains(server->Call("GET", "/openapi/v2").body, "Thing1"));
  CHECK(server->Call("GET", kWidgets).code == 200);
  const Status again = server->server().RemoveAPIResource(Things(1));
  CHECK(again.reason() == Reason::kNotFound);
  CHECK(again.message() == "server: things1 of things.example.com/v1 is not served");
}

TEST_CASE("server: a resource that comes back has what was stored, and documents of its own",
          "[server]") {
  const auto server = StartWidgetServer();
  REQUIRE(server->server().InstallAPIResource(NewThings(*server, 1)).ok());
  REQUIRE(server->Call("POST", PathOf(1), Thing(1, "a")).code == 201);
  REQUIRE(server->Call("GET", kThingsVersion).code == 200);
  REQUIRE(server->server().RemoveAPIResource(Things(1)).ok());

  REQUIRE(server->server().InstallAPIResource(NewThings(*server, 2)).ok());
  CHECK_FALSE(Contains(server->Call("GET", kThingsVersion).body, "things1"));
  REQUIRE(server->server().InstallAPIResource(NewThings(*server, 1)).ok());
  CHECK(Contains(server->Call("GET", kThingsVersion).body, "things1"));
  CHECK(Contains(server->Call("GET", PathOf(1)).body, R"("name":"a")"));
}

TEST_CASE("server: a resource is installed once, and replaced when that is asked for", "[server]") {
  const auto server = StartWidgetServer();
  REQUIRE(server->server().InstallAPIResource(NewThings(*server, 1)).ok());
  const Status twice = server->server().InstallAPIResource(NewThings(*server, 1));
  CHECK(twice.reason() == Reason::kConflict);
  CHECK(twice.message() ==
        "server: things1 of things.example.com/v1 is served already; ReplaceAPIResource() would "
        "replace it");
  CHECK(server->server().ReplaceAPIResource(NewThings(*server, 1)).ok());
  CHECK(server->Call("POST", PathOf(1), Thing(1, "a")).code == 201);

  auto several = NewThings(*server, 2);
  several.storage["things3"] = several.storage["things2"];
  CHECK(server->server().InstallAPIResource(std::move(several)).reason() == Reason::kInvalid);
  CHECK(server->Call("GET", PathOf(2)).code == 404);
}

TEST_CASE("server: watches of a resource that goes end, and others go on", "[server]") {
  const auto server = StartWidgetServer();
  REQUIRE(server->server().InstallAPIResource(NewThings(*server, 1)).ok());
  REQUIRE(server->server().InstallAPIResource(NewThings(*server, 2)).ok());
  const auto connection = server->server().LoopbackConnection();
  const auto first = WatchNumbered(*connection, PathOf(1));
  const auto second = WatchNumbered(*connection, PathOf(2));

  REQUIRE(server->server().RemoveAPIResource(Things(1)).ok());
  // Its clean end.
  CHECK(first->Read(Context::Background()).value().empty());
  REQUIRE(server->Call("POST", PathOf(2), Thing(2, "a")).code == 201);
  CHECK(Contains(second->Read(Context::Background()).value(), R"("type":"ADDED")"));
}

TEST_CASE("server: a watch that is over keeps nothing of its server", "[server]") {
  auto server = StartWidgetServer();
  const std::weak_ptr<metrics::Registry> metrics = server->server().metrics();
  REQUIRE(server->Call("GET", std::string(kWidgets) + "?watch=1&timeoutSeconds=1").code == 200);

  server = nullptr;

  CHECK(metrics.expired());
}

TEST_CASE("server: one version of a resource goes, and its store serves the other", "[server]") {
  const auto server = StartWidgetServer();
  REQUIRE(server->Call("POST", kWidgets, Widget("a", 1)).code == 201);
  const std::string old = "/apis/example.com/v1alpha1/namespaces/default/widgets";
  REQUIRE(server->server().RemoveAPIResource({"example.com", "v1alpha1", "widgets"}).ok());
  CHECK(server->Call("GET", old).code == 404);
  CHECK(server->Call("POST", kWidgets, Widget("b", 1)).code == 201);
  CHECK(Contains(server->Call("GET", kWidgets).body, R"("name":"b")"));
  CHECK_FALSE(Contains(server->Call("GET", "/apis/example.com").body, "v1alpha1"));
}

namespace {

// A resource that is read slowly.
class SlowStorage final : public rest::Storage,
                          public rest::Scoper,
                          public rest::SingularNameProvider,
                          public rest::Getter {
 public:
  std::unique_ptr<runtime::Object> New() const override {
    return std::make_unique<runtime::Object>(kind_, "v1");
  }
  void Destroy() override {
    ++*destroyed.Lock();
    destroyed.NotifyAll();
  }
  bool NamespaceScoped() const override { return true; }
  std::string GetSingularName() const override { return "thing"; }
  Result<runtime::ObjectPtr> Get(const Context&, std::string_view name,
                                 const meta::GetOptions&) override {
    latch.Pass();
    auto object = New();
    object->Edit("metadata", "name") = runtime::Value::String(name);
    return runtime::ObjectPtr(std::move(object));
  }

  Latch latch;
  Guarded<int> destroyed{0};

 private:
  const runtime::KindPtr kind_ = NumberedKind(1);
};

}  // namespace

TEST_CASE("server: a storage is destroyed after the last request that is in it", "[server]") {
  const auto server = StartWidgetServer();
  const auto slow = std::make_shared<SlowStorage>();
  REQUIRE(server->server().InstallAPIResource({Things(1), {{"things1", slow}}}).ok());
  Meanwhile read([&] { return std::to_string(server->Call("GET", PathOf(1) + "/a").code); });
  REQUIRE(slow->latch.WaitUntilEntered());

  REQUIRE(server->server().RemoveAPIResource(Things(1)).ok());
  CHECK(server->Call("GET", PathOf(1) + "/a").code == 404);
  CHECK(*slow->destroyed.Lock() == 0);
  slow->latch.LetGo();
  CHECK(read.Await() == "200");
  auto destroyed = slow->destroyed.Lock();
  CHECK(destroyed.WaitUntil(RealClock().Now() + testing::kGenerous,
                            [&destroyed] { return *destroyed == 1; }));
}

TEST_CASE("server: many resources come and go while clients read and watch them", "[server]") {
  constexpr int kResources = 50;
  constexpr int kClients = 8;
  const auto server = StartWidgetServer();
  std::atomic<bool> over = false;
  Guarded<std::vector<std::string>> wrong;
  std::vector<Thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back("client", [&, i] {
      const auto connection = server->server().LoopbackConnection();
      for (int n = i; !over; n = (n + 1) % kResources) {
        for (const std::string& target :
             {PathOf(n), PathOf(n) + "?watch=1&timeoutSeconds=1", std::string(kThingsVersion)}) {
          const auto got = connection->Call(Context::Background(), {.target = target});
          if (!got.ok() || (got->code != 200 && got->code != 404)) {
            wrong.Lock()->push_back(target + ": " + std::to_string(got.ok() ? got->code : 0));
          }
        }
      }
    });
  }
  for (int round = 0; round < 2; ++round) {
    for (int n = 0; n < kResources; ++n) {
      CHECK(server->server().InstallAPIResource(NewThings(*server, n)).ok());
      CHECK(server->Call("POST", PathOf(n), Thing(n, "a" + std::to_string(round))).code == 201);
    }
    for (int n = 0; n < kResources; ++n) {
      CHECK(server->server().RemoveAPIResource(Things(n)).ok());
    }
  }
  over = true;
  clients.clear();
  CHECK(*wrong.Lock() == std::vector<std::string>());
  CHECK(server->Call("GET", kThingsVersion).code == 404);
  CHECK(server->Call("GET", kWidgets).code == 200);
}
