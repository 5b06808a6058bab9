// Small writes that begin on an event loop, and those that may not.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/rest/warnings.h"
#include "apiserver/storage/memory/engine.h"
#include "contains.h"
#include "latch.h"
#include "storage/held_engine.h"
#include "widget_server.h"

namespace apiserver::inline v0::testing {

namespace {

// Keeps where the steps of writes ran: "create:loop update:pool".
class Places {
 public:
  void Note(const std::string& step, const Context& ctx) {
    auto text = text_.Lock();
    text->append(text->empty() ? "" : " ").append(step).append(ctx.may_block() ? ":pool" : ":loop");
  }
  std::string Take() { return std::exchange(*text_.Lock(), {}); }

 private:
  Guarded<std::string> text_;
};

// The strategy of widgets, which notes where it runs.
class NotingStrategy final : public rest::Strategy {
 public:
  NotingStrategy(Places& places, bool runs_inline) : places_(places), inline_(runs_inline) {}
  bool NamespaceScoped() const override { return true; }
  bool RunsInline() const override { return inline_; }
  bool AllowCreateOnUpdate() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  void PrepareForCreate(const Context& ctx, runtime::Object&) const override {
    places_.Note("create", ctx);
  }
  void PrepareForUpdate(const Context& ctx, runtime::Object&,
                        const runtime::Object&) const override {
    places_.Note("update", ctx);
  }
  field::ErrorList Validate(const Context& ctx, const runtime::Object& widget) const override {
    return widgets_.Validate(ctx, widget);
  }

 private:
  Places& places_;
  const bool inline_;
  const WidgetStrategy widgets_;
};

// A plugin that, for an object of a color, says that it has to wait.
class WaitingPlugin final : public admission::Plugin {
 public:
  explicit WaitingPlugin(Places& places) : places_(places) {}
  std::string_view name() const override { return "Waiting"; }
  bool Handles(admission::Operation) const override { return true; }
  bool RunsInline(admission::Operation, std::string_view) const override { return true; }
  Status Admit(const Context& ctx, admission::Attributes& attributes) const override {
    rest::AddWarning(ctx, "admitted");
    return Wait(ctx, attributes, "admit");
  }
  Status Validate(const Context& ctx, const admission::Attributes& attributes) const override {
    return Wait(ctx, attributes, "validate");
  }

 private:
  Status Wait(const Context& ctx, const admission::Attributes& attributes,
              std::string_view phase) const {
    if ((*attributes.object)["spec"]["color"].AsString() != phase) return {};
    places_.Note(std::string(phase), ctx);
    return ctx.may_block() ? Status() : Status(Reason::kWouldBlock, "the plugin has to wait");
  }
  Places& places_;
};

struct Served {
  explicit Served(bool runs_inline, TestServerOptions options = OnOneLoop()) {
    options.resources = {
        {.kind = WidgetKind(),
         .strategy = std::make_shared<NotingStrategy>(places, runs_inline),
         .configure = [](registry::StoreOptions& store) { store.functions_inline = true; }}};
    server = std::move(StartTestServer(std::move(options))).value();
    // The cache has to be filled before anything is done on a loop.
    (void)server->Call("GET", kWidgets);
  }

  http::ClientResponse Send(const std::string& method, const std::string& target,
                            const std::string& body, const std::string& type = "") {
    http::Headers headers;
    headers.Add("Content-Type", type.empty() ? "application/json" : type);
    return CallAlone(
        *server, {.method = method, .target = target, .headers = std::move(headers), .body = body});
  }
  http::ClientResponse Create(const std::string& body) { return Send("POST", kWidgets, body); }
  http::ClientResponse Merge(const std::string& body) {
    return Send("PATCH", kWidgetA, body, "application/merge-patch+json");
  }

  Places places;
  std::unique_ptr<TestServer> server;
};

std::string Colored(const std::string& name, const std::string& color) {
  return R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":")" + name +
         R"("},"spec":{"size":1,"color":")" + color + "\"}}";
}

}  // namespace

TEST_CASE("server: small writes begin on the loop if all on their way can", "[server]") {
  const bool runs_inline = GENERATE(true, false);
  const std::string place = runs_inline ? ":loop" : ":pool";
  Served s(runs_inline);
  CHECK(s.Create(Widget("a", 1)).code == 201);
  CHECK(s.places.Take() == "create" + place);
  CHECK(s.Send("PUT", kWidgetA, Widget("a", 2)).code == 200);
  CHECK(s.places.Take() == "update" + place);
  CHECK(s.Send("PUT", std::string(kWidgets) + "/b", Widget("b", 2)).code == 201);
  CHECK(s.places.Take() == "create" + place);
  CHECK(s.Merge(R"({"spec":{"size":3}})").code == 200);
  CHECK(s.places.Take() == "update" + place);
  CHECK(s.Send("PATCH", kWidgetA, R"([{"op":"replace","path":"/spec/size","value":4}])",
               "application/json-patch+json")
            .code == 200);
  CHECK(s.places.Take() == "update" + place);
  CHECK(Contains(s.server->Call("GET", kWidgetA).body, R"("size":4)"));
}

TEST_CASE("server: applies, large bodies and large objects are for the pool", "[server]") {
  Served s(/*runs_inline=*/true);
  CHECK(
      s.Send("PATCH", kWidgetA + "?fieldManager=me", Widget("a", 1), "application/apply-patch+yaml")
          .code == 201);
  CHECK(s.places.Take() == "create:pool");
  const std::string large(40'000, 'x');
  CHECK(s.Create(Colored("large", large)).code == 201);
  CHECK(s.places.Take() == "create:pool");
  const std::string path = std::string(kWidgets) + "/large";
  CHECK(s.Send("PATCH", path, R"({"spec":{"size":2}})", "application/merge-patch+json").code ==
        200);
  CHECK(s.places.Take() == "update:pool");
  // Once it is small, it is for the loop.
  CHECK(s.Send("PATCH", path, R"({"spec":{"color":"red"}})", "application/merge-patch+json").code ==
        200);
  CHECK(s.places.Take() == "update:pool");
  CHECK(s.Send("PATCH", path, R"({"spec":{"size":3}})", "application/merge-patch+json").code ==
        200);
  CHECK(s.places.Take() == "update:loop");
}

TEST_CASE("server: writes are answered on the loop as they are on the pool", "[server]") {
  Served loop(/*runs_inline=*/true);
  Served pool(/*runs_inline=*/false);
  const auto same = [&](const std::string& method, const std::string& target,
                        const std::string& body, int code, const std::string& type = "") {
    INFO(method << " " << target << " " << body);
    const auto ours = loop.Send(method, target, body, type);
    const auto theirs = pool.Send(method, target, body, type);
    CHECK(ours.code == code);
    CHECK(theirs.code == code);
    CHECK(ours.headers.GetAll("Warning") == theirs.headers.GetAll("Warning"));
    // A created object has a name, a uid and a time of its own.
    if (code < 300) return;
    CHECK(ours.body == theirs.body);
  };
  const std::string all = kWidgets;
  same("POST", all, Widget("a", 1), 201);
  same("POST", all, Widget("a", 1), 409);
  same("POST", all, Widget("b", 11), 422);
  same("POST", all, "{", 400);
  same("POST", all + "?dryRun=All", Widget("c", 1), 201);
  same("POST", all, R"({"metadata":{"generateName":"g-"},"spec":{"size":1}})", 201);
  same("POST", all, R"({"metadata":{"name":"w"},"spec":{"size":1,"unknown":1}})", 201);
  same("POST", all + "?fieldValidation=Strict", R"({"metadata":{"name":"x"},"unknown":1})", 400);
  same("PUT", kWidgetA, Widget("a", 12), 422);
  same("PUT", kWidgetA, Widget("b", 1), 400);
  same("PUT", kWidgetA + "?dryRun=All", Widget("a", 2), 200);
  same("PUT", kWidgetA, R"({"metadata":{"name":"a","resourceVersion":"1"},"spec":{"size":1}})",
       409);
  same("PATCH", all + "/none", R"({"spec":{"size":1}})", 404, "application/merge-patch+json");
  same("PATCH", kWidgetA, R"([{"op":"test","path":"/spec/size","value":9}])", 422,
       "application/json-patch+json");
  same("PATCH", kWidgetA, R"([{"op":"remove"}])", 422, "application/json-patch+json");
  CHECK_FALSE(Contains(loop.places.Take(), "update:pool"));
}

TEST_CASE("server: a write whose plugin has to wait begins again on the pool", "[server]") {
  const std::string phase = GENERATE("admit", "validate");
  Places plugin;
  TestServerOptions options = OnOneLoop();
  options.admission = {std::make_shared<WaitingPlugin>(plugin)};
  Served s(/*runs_inline=*/true, std::move(options));
  const auto created = s.Create(Colored("a", phase));
  CHECK(created.code == 201);
  // A warning of both attempts is told once.
  CHECK(created.headers.GetAll("Warning").size() == 1);
  CHECK(plugin.Take() == phase + ":loop " + phase + ":pool");
  CHECK(s.Merge(R"({"spec":{"size":2}})").code == 200);
  CHECK(plugin.Take() == phase + ":loop " + phase + ":pool");
  CHECK(s.Send("PUT", kWidgetA, Colored("a", phase)).code == 200);
  CHECK(plugin.Take() == phase + ":loop " + phase + ":pool");
}

namespace {

// An engine on another machine: who may not wait is told so.
class FarEngine final : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;
  Result<apiserver::storage::kv::RangeResponse> Range(
      const Context& ctx, const apiserver::storage::kv::RangeRequest& request) override {
    if (!ctx.may_block()) return Status(Reason::kWouldBlock, "the engine is far away");
    return ForwardingEngine::Range(ctx, request);
  }
  Result<apiserver::storage::kv::TxnResponse> Txn(
      const Context& ctx, const apiserver::storage::kv::TxnRequest& request) override {
    if (!ctx.may_block()) return Status(Reason::kWouldBlock, "the engine is far away");
    return ForwardingEngine::Txn(ctx, request);
  }
};

}  // namespace

TEST_CASE("server: writes that race over a far engine and began on the loop all happen",
          "[server]") {
  const auto memory = apiserver::storage::memory::NewEngine();
  FarEngine far(*memory);
  HeldEngine held(far);
  TestServerOptions options = OnOneLoop();
  options.engine = &held;
  Served s(/*runs_inline=*/true, std::move(options));
  REQUIRE(s.Create(Widget("a", 1)).code == 201);
  // A name that is taken, and one that has gone, are found without the loop.
  CHECK(s.Create(Widget("a", 1)).code == 409);
  CHECK(s.Send("PUT", std::string(kWidgets) + "/b", Widget("b", 1)).code == 201);

  held.Hold();
  Meanwhile first([&] { return s.Merge(R"({"spec":{"size":2}})").body; });
  Meanwhile second([&] { return s.Merge(R"({"spec":{"color":"red"}})").body; });
  REQUIRE(held.WaitFor(2));
  held.Release();
  CHECK(Contains(first.Await(), R"("kind":"Widget")"));
  CHECK(Contains(second.Await(), R"("kind":"Widget")"));
  const std::string now = s.server->Call("GET", kWidgetA).body;
  CHECK(Contains(now, R"("size":2)"));
  CHECK(Contains(now, R"("color":"red")"));
}

}  // namespace apiserver::inline v0::testing
