// CustomResourceDefinitions with a conversion webhook, as a client meets them: the scenarios of
// apiextensions-apiserver/test/integration/conversion/conversion_test.go that change a definition.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiextensions/fixture.h"
#include "contains.h"
#include "conversion_fixture.h"
#include "text/base64.h"
#include "watch_lines.h"

using namespace apiserver;           // NOLINT: tests only.
using namespace apiserver::testing;  // NOLINT: tests only.

namespace {

const std::string kMultiVersionDefinition =
    std::string(kDefinitions) + "/multiversion.stable.example.com";

std::string DefinedCollection(const std::string& version) {
  return "/apis/stable.example.com/" + version + "/namespaces/default/multiversion";
}
std::string DefinedItem(const std::string& version, const std::string& name) {
  return DefinedCollection(version) + "/" + name;
}

std::string ConversionByWebhook(const std::string& review = "v1", const std::string& path = "") {
  return R"({"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://hook.test/convert)" +
         path + R"("},"conversionReviewVersions":[")" + review + "\"]}}";
}

// A server that serves definitions, and the webhook that they name.
struct DefinedMultiVersion {
  DefinedMultiVersion() {
    TestServerOptions options;
    options.engine = engine.get();
    options.install = [this](server::GenericAPIServer& api) {
      apiextensions::Options served;
      served.new_webhook_client = webhook.Factory();
      return apiextensions::Install(api, api.Storage(*engine), std::move(served)).status();
    };
    server = std::move(StartTestServer(std::move(options))).value();
  }

  // Changes the definition, which is made first.
  using Change = std::function<runtime::Value(const runtime::Value& spec, runtime::Arena& arena)>;
  void Define(const Change& change, std::string_view storage = "v1beta1") {
    runtime::Arena arena;
    const auto now = server->Call("GET", kMultiVersionDefinition);
    const bool exists = now.code == 200;
    auto definition = ParseConversionJson(exists ? now.body : MultiVersionCrd(storage), arena);
    definition = With(definition, "spec", change(definition["spec"], arena), arena);
    const auto answer =
        server->Call(exists ? "PUT" : "POST", exists ? kMultiVersionDefinition : kDefinitions,
                     ConversionJson(definition));
    INFO(answer.body);
    REQUIRE(answer.code / 100 == 2);
    AwaitServed();
  }
  void Convert(const std::string& conversion) {
    Define([&](const runtime::Value& spec, runtime::Arena& arena) {
      return With(spec, "conversion", ParseConversionJson(conversion, arena), arena);
    });
  }
  // Changes each version of the definition.
  void ChangeVersions(
      const std::function<runtime::Value(const runtime::Value&, runtime::Arena&)>& change) {
    Define([&](const runtime::Value& spec, runtime::Arena& arena) {
      runtime::ListBuilder versions(arena);
      for (const runtime::Value& version : spec["versions"].items()) {
        versions.Add(change(version, arena));
      }
      return With(spec, "versions", versions.Build(), arena);
    });
  }
  void StoreAs(const std::string& name) {
    ChangeVersions([&](const runtime::Value& version, runtime::Arena& arena) {
      return With(version, "storage", runtime::Value::Bool(version["name"].AsString() == name),
                  arena);
    });
  }
  void Serve(const std::string& name, bool served) {
    ChangeVersions([&](const runtime::Value& version, runtime::Arena& arena) {
      if (version["name"].AsString() != name) return version;
      return With(version, "served", runtime::Value::Bool(served), arena);
    });
  }
  // Waits until the definition is established.
  void AwaitServed() { AwaitReason("InitialNamesAccepted"); }
  // Waits until a condition of the definition has this reason.
  void AwaitReason(const std::string& reason) {
    REQUIRE(Eventually([&] {
      return Contains(server->Call("GET", kMultiVersionDefinition).body,
                      R"("reason":")" + reason + "\"");
    }));
  }
  http::ClientResponse Create(const std::string& name, const std::string& version,
                              const std::string& more = "") {
    return server->Call("POST", DefinedCollection(version), MultiVersion(name, version, more));
  }
  http::ClientResponse Get(const std::string& version, const std::string& name) {
    return server->Call("GET", DefinedItem(version, name));
  }
  std::string Stored(const std::string& name) {
    const auto found = engine->Range(
        Context::Background(),
        {.key = "/registry/stable.example.com/multiversion/default/" + name, .end = ""});
    REQUIRE(found.ok());
    REQUIRE(found->kvs.size() == 1);
    return *found->kvs.front().value;
  }

  FakeConversionWebhook webhook;
  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine({});
  std::unique_ptr<TestServer> server;
};

}  // namespace

// validateNonTrivialConverted, validateStorageVersion
TEST_CASE("defined conversion: the storage version changes, objects stay readable in all versions",
          "[apiextensions]") {
  DefinedMultiVersion defined;
  defined.Convert(ConversionByWebhook(GENERATE(std::string("v1"), std::string("v1beta1"))));
  for (const std::string stored : {"v1beta1", "v1alpha1", "v1beta2"}) {
    defined.StoreAs(stored);
    REQUIRE(defined.Create("as-" + stored, "v1beta2").code == 201);
    CHECK(Contains(defined.Stored("as-" + stored), "stable.example.com/" + stored));
  }
  for (const std::string stored : {"v1beta1", "v1alpha1", "v1beta2"}) {
    CHECK(Contains(defined.Get("v1beta1", "as-" + stored).body, R"("content":{"key":"value"})"));
    CHECK(Contains(defined.Get("v1alpha1", "as-" + stored).body, R"("num":{"num1":1)"));
    CHECK(Contains(defined.Get("v1beta2", "as-" + stored).body, R"("numv2":{"num1":1)"));
  }
  const auto listed = defined.server->Call("GET", DefinedCollection("v1beta2"));
  CHECK(listed.code == 200);
  CHECK_FALSE(Contains(listed.body, R"("num":)"));
}

// A storage migration: a write that changes nothing is written where the storage version changed.
TEST_CASE("defined conversion: a write that changes nothing stores the new storage version",
          "[apiextensions]") {
  DefinedMultiVersion defined;
  defined.Convert(ConversionByWebhook());
  REQUIRE(defined.Create("a", "v1beta1").code == 201);
  defined.StoreAs("v1beta2");
  CHECK(Contains(defined.server->Call("GET", kMultiVersionDefinition).body,
                 R"("storedVersions":["v1beta1","v1beta2"])"));
  CHECK(Contains(defined.Stored("a"), "stable.example.com/v1beta1"));
  const std::string before = defined.Get("v1beta1", "a").body;
  REQUIRE(defined.server->Call("PUT", DefinedItem("v1beta1", "a"), before).code == 200);
  CHECK(Contains(defined.Stored("a"), "stable.example.com/v1beta2"));
  const std::string after = defined.Get("v1beta1", "a").body;
  CHECK(after != before);
  REQUIRE(defined.server->Call("PUT", DefinedItem("v1beta1", "a"), after).code == 200);
  CHECK(defined.Get("v1beta1", "a").body == after);
}

// validateServed, TestWebhookNotCalledForUnusedVersions
TEST_CASE("defined conversion: a version that is not served is not converted to",
          "[apiextensions]") {
  DefinedMultiVersion defined;
  defined.Convert(ConversionByWebhook());
  REQUIRE(defined.Create("marker", "v1alpha1").code == 201);
  defined.Serve("v1alpha1", false);
  CHECK(defined.Get("v1alpha1", "marker").code == 404);
  const std::size_t before = defined.webhook.calls();
  CHECK(defined.Get("v1beta1", "marker").code == 200);
  CHECK(defined.Get("v1beta2", "marker").code == 200);
  const auto requests = defined.webhook.requests();
  for (std::size_t i = before; i < requests.size(); ++i) {
    CHECK_FALSE(Contains(requests[i].body, R"("desiredAPIVersion":"stable.example.com/v1alpha1")"));
  }
  defined.Serve("v1alpha1", true);
  CHECK(defined.Get("v1alpha1", "marker").code == 200);
}

// expectConversionFailureMessage
TEST_CASE("defined conversion: a webhook that fails is every verb's answer, nothing is deleted",
          "[apiextensions]") {
  DefinedMultiVersion defined;
  defined.Convert(ConversionByWebhook());
  defined.ChangeVersions([](const runtime::Value& version, runtime::Arena& arena) {
    return With(version, "subresources",
                ParseConversionJson(R"({"status":{},"scale":{"specReplicasPath":".spec.num.num1",)"
                                    R"("statusReplicasPath":".status.num.num2"}})",
                                    arena),
                arena);
  });
  REQUIRE(defined.Create("a", "v1beta1").code == 201);
  defined.webhook.AnswerWith("apiextensions.k8s.io/v1",
                             R"({"uid":"UID","result":{"status":"Failure","message":"custom"}})");
  const std::string item = DefinedItem("v1beta2", "a");
  const http::Headers merge{{"Content-Type", "application/merge-patch+json"}};
  const std::string annotate = R"({"metadata":{"annotations":{"patch":"true"}}})";
  const std::string scale = R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":)"
                            R"({"name":"a"},"spec":{"replicas":42}})";
  struct Row {
    const char* verb;
    http::ClientResponse answer;
  };
  const Row rows[] = {
      {"get", defined.server->Call("GET", item)},
      {"list", defined.server->Call("GET", DefinedCollection("v1beta2"))},
      {"create", defined.Create("b", "v1beta2")},
      {"update", defined.server->Call("PUT", item, MultiVersion("a", "v1beta2"))},
      {"patch", defined.server->Call("PATCH", item, R"({"numv2":{"num1":3}})", merge)},
      {"delete", defined.server->Call("DELETE", item)},
      {"deletecollection", defined.server->Call("DELETE", DefinedCollection("v1beta2"))},
      {"status-get", defined.server->Call("GET", item + "/status")},
      {"status-update",
       defined.server->Call("PUT", item + "/status", MultiVersion("a", "v1beta2"))},
      {"status-patch", defined.server->Call("PATCH", item + "/status", annotate, merge)},
      {"scale-get", defined.server->Call("GET", item + "/scale")},
      {"scale-update", defined.server->Call("PUT", item + "/scale", scale)},
      {"scale-patch", defined.server->Call("PATCH", item + "/scale", annotate, merge)}};
  for (const Row& row : rows) {
    INFO(row.verb << ": " << row.answer.body);
    CHECK(row.answer.code == 500);
    // All but a create begin with the stored object.
    const std::string from = std::string_view(row.verb) == "create" ? "v1beta2" : "v1beta1";
    CHECK(Contains(row.answer.body, "conversion webhook for stable.example.com/" + from +
                                        ", Kind=MultiVersion failed: custom"));
  }
  CHECK(defined.Get("v1beta1", "a").code == 200);
  CHECK(defined.Get("v1beta1", "b").code == 404);
  CHECK(defined.server->Call("DELETE", DefinedItem("v1beta1", "a")).code == 200);
}

// validateDefaulting
TEST_CASE("defined conversion: defaults are those of the request's and of the stored version",
          "[apiextensions]") {
  DefinedMultiVersion defined;
  defined.Convert(ConversionByWebhook());
  for (const std::string created : {"v1beta1", "v1alpha1", "v1beta2"}) {
    const std::string name = "defaulting-" + created;
    const auto answer = defined.Create(name, created, R"("defaults":{},)");
    REQUIRE(answer.code == 201);
    const std::string both = created == "v1beta1" ? R"("defaults":{"v1beta1":true})"
                             : created == "v1alpha1"
                                 ? R"("defaults":{"v1alpha1":true,"v1beta1":true})"
                                 : R"("defaults":{"v1beta1":true,"v1beta2":true})";
    CHECK(Contains(answer.body, both));
    CHECK(Contains(defined.Stored(name), R"("defaults":{")" + created + R"(":true})"));
    for (const std::string read : {"v1alpha1", "v1beta2"}) {
      if (read == created) continue;
      const std::string body = defined.Get(read, name).body;
      CHECK(Contains(body, both));
      CHECK_FALSE(Contains(body, "\"" + read + "\":true"));
    }
  }
}

TEST_CASE("defined conversion: the webhook is replaced with the definition", "[apiextensions]") {
  DefinedMultiVersion defined;
  defined.Convert(ConversionByWebhook());
  REQUIRE(defined.Create("a", "v1beta1").code == 201);
  REQUIRE(defined.Get("v1beta2", "a").code == 200);
  CHECK(defined.webhook.requests().back().url == "https://hook.test/convert?timeout=30s");
  defined.Convert(ConversionByWebhook("v1beta1", "/next"));
  REQUIRE(defined.Get("v1alpha1", "a").code == 200);
  CHECK(defined.webhook.requests().back().url == "https://hook.test/convert/next?timeout=30s");
  CHECK(Contains(defined.webhook.requests().back().body, "apiextensions.k8s.io/v1beta1"));
  // Without a webhook, what a version does not know is not shown.
  const std::size_t calls = defined.webhook.calls();
  defined.Convert(R"({"strategy":"None"})");
  const std::string plain = defined.Get("v1beta2", "a").body;
  CHECK_FALSE(Contains(plain, R"("numv2":)"));
  CHECK_FALSE(Contains(plain, R"("num1":1)"));
  CHECK(defined.webhook.calls() == calls);
}

TEST_CASE("defined conversion: each event is converted once a version, whoever watches",
          "[apiextensions]") {
  DefinedMultiVersion defined;
  defined.Convert(ConversionByWebhook());
  std::vector<std::unique_ptr<Lines>> watches;
  for (int i = 0; i < 4; ++i) {
    for (const std::string version : {"v1beta1", "v1alpha1", "v1beta2"}) {
      watches.push_back(std::make_unique<Lines>(
          *defined.server, DefinedCollection(version) + "?watch=1&resourceVersion=0"));
    }
  }
  for (int i = 0; i < 10; ++i) {
    const std::string name = "event-" + std::to_string(i);
    REQUIRE(defined.Create(name, "v1beta1").code == 201);
    for (const auto& watch : watches) CHECK(Contains(watch->Next(), name));
  }
  std::size_t objects = 0;
  for (const std::size_t size : defined.webhook.batches()) objects += size;
  CHECK(objects == 20);
}

TEST_CASE("defined conversion: while its webhook hangs a definition's storage version is served",
          "[apiextensions]") {
  DefinedMultiVersion defined;
  defined.Convert(ConversionByWebhook());
  REQUIRE(defined.Create("a", "v1beta1").code == 201);
  defined.webhook.Hang();
  http::ClientResponse late;
  {
    Thread reader("reader", [&] { late = defined.Get("v1beta2", "a"); });
    defined.webhook.WaitForCalls(1);
    for (int i = 0; i < 10; ++i) {
      const std::string name = "b" + std::to_string(i);
      CHECK(defined.Create(name, "v1beta1").code == 201);
      CHECK(defined.Get("v1beta1", name).code == 200);
    }
    CHECK(defined.server->Call("GET", DefinedCollection("v1beta1")).code == 200);
    // The definition may be changed, too: its webhook replaced, or itself deleted.
    defined.Convert(ConversionByWebhook("v1", "/next"));
    CHECK(defined.Get("v1beta1", "a").code == 200);
    defined.webhook.Release();
  }
  CHECK(late.code == 200);
  CHECK(Contains(late.body, "numv2"));
}

// cabundle_test.go
TEST_CASE("defined conversion: a definition whose CA bundle is invalid is not established",
          "[apiextensions]") {
  DefinedMultiVersion defined;
  const auto with_bundle = [&](const std::string& bundle) {
    std::string conversion = ConversionByWebhook();
    std::string member = R"("caBundle":")";
    text::AppendBase64(bundle, member);
    conversion.insert(conversion.find(R"("url")"), member + "\",");
    runtime::Arena arena;
    auto definition = ParseConversionJson(MultiVersionCrd(), arena);
    const auto spec =
        With(definition["spec"], "conversion", ParseConversionJson(conversion, arena), arena);
    return ConversionJson(With(definition, "spec", spec, arena));
  };
  REQUIRE(defined.server->Call("POST", kDefinitions, with_bundle("bad")).code == 201);
  defined.AwaitReason("InvalidCABundle");
  CHECK(Contains(defined.server->Call("GET", kMultiVersionDefinition).body,
                 "The conversion webhook CABundle is invalid"));
  // Once it is repaired the definition is established.
  defined.Convert(ConversionByWebhook());
  CHECK(defined.Create("a", "v1beta1").code == 201);
}
