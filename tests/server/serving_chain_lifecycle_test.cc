// The handlers of one server start, are ill and stop as one.
#include <catch2/catch.hpp>

#include <functional>
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
using testing::TestServerOptions;
using testing::WatchOf;
using testing::Widget;

namespace {

// What happened, in its order.
using Events = Guarded<std::vector<std::string>>;

server::Hook Noting(Events& events, const std::string& what) {
  return [&events, what](const server::HookContext&) -> Status {
    events.Lock()->push_back(what);
    return {};
  };
}

// Refuses every write, in the name of `who`.
class Refuses final : public admission::Plugin {
 public:
  explicit Refuses(std::string who) : who_(std::move(who)) {}
  std::string_view name() const override { return who_; }
  bool Handles(admission::Operation) const override { return true; }
  bool validates() const override { return true; }
  Status Validate(const Context&, const admission::Attributes&) const override {
    return {Reason::kForbidden, who_ + " refuses"};
  }

 private:
  const std::string who_;
};

}  // namespace

TEST_CASE("server: the hooks of all handlers run, and storages go after them", "[server]") {
  // Tells when it is destroyed.
  class Last final : public rest::Storage,
                     public rest::Scoper,
                     public rest::SingularNameProvider,
                     public rest::Getter {
   public:
    Last(Events& events, runtime::KindPtr kind) : events_(events), kind_(std::move(kind)) {}
    std::unique_ptr<runtime::Object> New() const override {
      return std::make_unique<runtime::Object>(kind_, "v2");
    }
    void Destroy() override { events_.Lock()->push_back("destroyed"); }
    bool NamespaceScoped() const override { return true; }
    std::string GetSingularName() const override { return "pet"; }
    Result<runtime::ObjectPtr> Get(const Context&, std::string_view,
                                   const meta::GetOptions&) override {
      return Status(Reason::kNotFound, "");
    }

   private:
    Events& events_;
    const runtime::KindPtr kind_;
  };
  Events events;
  TestServerOptions options;
  server::Handler* inner = nullptr;
  options.install = [&](server::GenericAPIServer& api) -> Status {
    inner = api.AddHandler({.name = "other"}).value();
    REQUIRE(api.AddPostStartHook("outer", Noting(events, "start")).ok());
    REQUIRE(inner->AddPostStartHook("inner", Noting(events, "start")).ok());
    REQUIRE(api.AddPreShutdownHook("outer", Noting(events, "stop")).ok());
    // While it runs, what the other handlers serve is still there.
    const auto stop = [&events](const server::HookContext& hook) -> Status {
      const auto got = hook.server.LoopbackConnection()->Call(hook.ctx, {.target = kPets});
      events.Lock()->push_back(got.ok() && got->code == 200 ? "stop" : "too late");
      return {};
    };
    REQUIRE(inner->AddPreShutdownHook("inner", stop).ok());
    const auto storage = std::make_shared<Last>(events, PetKind("v2"));
    return inner->InstallAPIResource({{"zoo.example.com", "v2", "pets"}, {{"pets", storage}}});
  };
  Chain chain({.name = "inner"}, std::move(options));

  CHECK(*events.Lock() == std::vector<std::string>{"start", "start"});
  const std::string ready = chain.Get("/readyz?verbose").body;
  CHECK(Contains(ready, "[+]poststarthook/outer ok\n"));
  CHECK(Contains(ready, "[+]poststarthook/inner ok\n"));
  const auto connection = chain.outer().LoopbackConnection();
  const auto widgets = WatchOf(*connection, kWidgets);
  const auto pets = WatchOf(*connection, kPets);

  chain.outer().Stop();

  CHECK(*events.Lock() == std::vector<std::string>{"start", "start", "stop", "stop", "destroyed"});
  // Their clean ends.
  CHECK(widgets->Read(Context::Background()).value().empty());
  CHECK(pets->Read(Context::Background()).value().empty());
  CHECK(chain.Get(kPets).code == 503);
}

TEST_CASE("server: a hook of one handler that fails fails the start", "[server]") {
  TestServerOptions options;
  options.install = [](server::GenericAPIServer& api) {
    return api.AddHandler({.name = "inner"}).value()->AddPostStartHook("bad", [](const auto&) {
      return Status(Reason::kInternalError, "no luck");
    });
  };
  CHECK(StartTestServer(std::move(options)).status().message() == "hook bad failed: no luck");
}

TEST_CASE("server: a handler that is ill makes the server ill", "[server]") {
  Chain chain;
  REQUIRE(chain.Get("/readyz").code == 200);
  REQUIRE(chain.inner()
              .AddHealthCheck(
                  {.name = "inner-check",
                   .check = [](const Context&) { return Status(Reason::kInternalError, "ill"); }})
              .ok());
  for (const std::string path : {"/readyz", "/livez", "/healthz"}) {
    INFO(path);
    const auto all = chain.Get(path);
    CHECK(all.code == 500);
    CHECK(Contains(all.body, "[-]inner-check failed: reason withheld\n"));
    CHECK(Contains(all.body, "[+]ping ok\n"));
    CHECK(chain.Get(path + "/inner-check").body == "internal server error: ill\n");
    CHECK(chain.Get(path + "?exclude=inner-check").code == 200);
  }
  CHECK_FALSE(chain.outer().ready());
}

TEST_CASE("server: storages of all handlers are part of readiness", "[server]") {
  // Is never ready.
  class Cold final : public rest::Storage,
                     public rest::Scoper,
                     public rest::SingularNameProvider,
                     public rest::Getter,
                     public rest::StorageWithReadiness {
   public:
    std::unique_ptr<runtime::Object> New() const override {
      return std::make_unique<runtime::Object>(kind_, "v2");
    }
    bool NamespaceScoped() const override { return true; }
    std::string GetSingularName() const override { return "pet"; }
    Status ReadinessCheck() const override { return {Reason::kServiceUnavailable, "cold"}; }
    Result<runtime::ObjectPtr> Get(const Context&, std::string_view,
                                   const meta::GetOptions&) override {
      return Status(Reason::kNotFound, "");
    }

   private:
    const runtime::KindPtr kind_ = PetKind("v2");
  };
  Chain chain;
  const runtime::GroupVersionResource name{"zoo.example.com", "v2", "pets"};
  REQUIRE(chain.inner().InstallAPIResource({name, {{"pets", std::make_shared<Cold>()}}}).ok());
  CHECK(chain.Get("/readyz/storage").body == "internal server error: cold\n");
  REQUIRE(chain.inner().RemoveAPIResource(name).ok());
  CHECK(chain.Get("/readyz/storage").body == "ok");
}

TEST_CASE("server: names of checks, hooks and paths are one handler's", "[server]") {
  TestServerOptions options;
  std::vector<std::string> refused;
  options.install = [&refused](server::GenericAPIServer& api) -> Status {
    server::Handler& inner = *api.AddHandler({.name = "second"}).value();
    const auto fine = [](const auto&) { return Status(); };
    const auto done = [](http::Exchange&) { return http::Step::Done(); };
    const auto both = [&](const std::function<Status(server::Handler&)>& add) {
      REQUIRE(add(api).ok());
      const Status status = add(inner);
      CHECK(status.reason() == Reason::kConflict);
      refused.emplace_back(status.message());
    };
    both([&](auto& to) { return to.AddHealthCheck({.name = "same", .check = fine}); });
    both([&](auto& to) { return to.AddPostStartHook("same", fine); });
    both([&](auto& to) { return to.AddPreShutdownHook("same", fine); });
    both([&](auto& to) { return to.HandlePath("/same", done, true); });
    both([&](auto& to) { return to.HandlePathWithoutBody("/also/", done, true); });
    return {};
  };
  Chain chain({.name = "inner"}, std::move(options));
  CHECK(refused == std::vector<std::string>{
                       "there is a health check same already", "there is a hook same already",
                       "there is a hook same already", "the path /same is served already",
                       "the path /also/ is served already"});
}

TEST_CASE("server: a handler has the server's admission, or its own", "[server]") {
  const auto post = [](Chain& chain, const std::string& path, const std::string& body) {
    const auto answer = chain.server().Call("POST", path, body);
    return answer.code == 201 ? "created" : answer.body;
  };
  const auto refuses = [](const std::string& who) { return std::make_shared<Refuses>(who); };
  {
    Chain shared({.name = "inner"}, {.admission = {refuses("outer")}});
    CHECK(Contains(post(shared, kWidgets, Widget("a", 1)), "outer refuses"));
    CHECK(Contains(post(shared, kPets, Pet("a")), "outer refuses"));
  }
  std::vector<std::shared_ptr<const admission::Plugin>> own{refuses("inner")};
  Chain apart({.name = "inner", .admission = std::move(own)});
  CHECK(post(apart, kWidgets, Widget("a", 1)) == "created");
  CHECK(Contains(post(apart, kPets, Pet("a")), "inner refuses"));
}

TEST_CASE("server: a handler needs a name of its own, and comes before PrepareRun", "[server]") {
  TestServerOptions options;
  options.install = [](server::GenericAPIServer& api) -> Status {
    CHECK(api.AddHandler({.name = "inner"}).status().message() ==
          "server: there is a handler \"inner\" already");
    CHECK(api.AddHandler({.name = "test"}).status().reason() == Reason::kConflict);
    CHECK(api.AddHandler({}).status().reason() == Reason::kInvalid);
    return {};
  };
  Chain chain({.name = "inner"}, std::move(options));
  CHECK(chain.outer().AddHandler({.name = "late"}).status().message() ==
        "server: the handler \"late\" comes too late: PrepareRun was called");
}
