// What is large is made on the pool, whatever its form.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>

#include "latch.h"
#include "widget_server.h"

using apiserver::Status;
using apiserver::testing::GetAlone;
using apiserver::testing::TestServer;
namespace runtime = apiserver::runtime;

namespace {

constexpr char kManyThings[] = "/apis/example.com/v1/namespaces/default/things";
constexpr char kManyOldThings[] = "/apis/example.com/v1alpha1/namespaces/default/things";

// Where things were converted, which happens when an answer is made in the other version.
struct Conversions {
  std::atomic<apiserver::Executor*> pool = nullptr;
  std::atomic<int> on_pool = 0;
  std::atomic<int> on_loop = 0;
};

runtime::KindPtr ManyThingsKind(Conversions& conversions) {
  const auto count = [&conversions](runtime::Object&) {
    if (apiserver::Executor* const pool = conversions.pool) {
      ++(pool->Inside() ? conversions.on_pool : conversions.on_loop);
    }
    return Status();
  };
  const auto schema = apiserver::testing::WidgetSchema;
  return runtime::Kind::New({.group = "example.com",
                             .kind = "Thing",
                             .plural = "things",
                             .versions = {{.version = "v1", .schema = schema("v1", "size")},
                                          {.version = "v1alpha1",
                                           .schema = schema("v1alpha1", "size"),
                                           .to_hub = count,
                                           .from_hub = count}}})
      .value();
}

std::unique_ptr<TestServer> StartWithThings(Conversions& conversions, int things) {
  auto options = apiserver::testing::OnOneLoop();
  options.resources = {{.kind = ManyThingsKind(conversions),
                        .strategy = std::make_shared<apiserver::testing::WidgetStrategy>(),
                        .configure = [](auto& store) { store.functions_inline = true; }}};
  auto server = std::move(apiserver::testing::StartTestServer(std::move(options))).value();
  for (int i = 0; i < things; ++i) {
    const std::string name = "t" + std::to_string(i);
    REQUIRE(server->Call("POST", kManyThings, R"({"metadata":{"name":")" + name + R"("}})").code ==
            201);
  }
  conversions.pool = &server->server().pool();
  return server;
}

struct Form {
  std::string query;
  std::string accept;
};

std::vector<Form> Forms() {
  return {{"", "application/json"},
          {"?pretty=true", "application/json"},
          {"", "application/yaml"},
          {"?includeObject=Object", "application/json;as=Table;v=v1;g=meta.k8s.io"},
          {"", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}};
}

}  // namespace

TEST_CASE("server: a short list is made on its loop, a long one on the pool, in every form",
          "[server]") {
  const Form form = GENERATE(from_range(Forms()));
  CAPTURE(form.query, form.accept);
  Conversions conversions;

  {
    const auto server = StartWithThings(conversions, 3);
    CHECK(GetAlone(*server, kManyOldThings + form.query, {{"Accept", form.accept}}).code == 200);
    CHECK(conversions.on_loop > 0);
    CHECK(conversions.on_pool == 0);
  }
  conversions.pool = nullptr;
  conversions.on_loop = 0;
  {
    const auto server = StartWithThings(conversions, 40);
    CHECK(GetAlone(*server, kManyOldThings + form.query, {{"Accept", form.accept}}).code == 200);
    CHECK(conversions.on_loop == 0);
    CHECK(conversions.on_pool == 40);
  }
}
