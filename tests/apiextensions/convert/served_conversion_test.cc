// Objects of several versions over HTTP, converted by a webhook: the scenarios of
// apiextensions-apiserver/test/integration/conversion/conversion_test.go.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/test_server.h"
#include "contains.h"
#include "conversion_fixture.h"
#include "watch_lines.h"

using namespace apiserver;           // NOLINT: tests only.
using namespace apiserver::testing;  // NOLINT: tests only.

namespace {

constexpr char kStableApis[] = "/apis/stable.example.com/";
const std::vector<std::string> kServedVersions{"v1beta1", "v1alpha1", "v1beta2"};
const http::Headers kMerge{{"Content-Type", "application/merge-patch+json"}};

std::string Collection(const std::string& version) {
  return kStableApis + version + "/namespaces/default/multiversion";
}
std::string Item(const std::string& version, const std::string& name) {
  return Collection(version) + "/" + name;
}

// A server of MultiVersion over an engine that may outlive it.
struct ServedMultiVersion {
  explicit ServedMultiVersion(std::vector<std::string> reviews = {"v1", "v1beta1"},
                              const std::string& storage = "v1beta1",
                              storage::kv::Engine* engine = nullptr)
      : reviews_(std::move(reviews)), engine_(engine) {
    Start(storage);
  }
  // Starts again with another storage version, over the same engine.
  void Restart(const std::string& storage) {
    REQUIRE(engine_ != nullptr);
    server.reset();
    Start(storage);
  }

  http::ClientResponse Create(const std::string& name, const std::string& version,
                              const std::string& more = "") {
    return server->Call("POST", Collection(version), MultiVersion(name, version, more));
  }
  http::ClientResponse Get(const std::string& version, const std::string& name) {
    return server->Call("GET", Item(version, name));
  }
  // Returns what the engine holds.
  std::string Stored(const std::string& name) {
    const auto found = server->engine().Range(
        Context::Background(),
        {.key = "/registry/stable.example.com/multiversion/default/" + name, .end = ""});
    REQUIRE(found.ok());
    REQUIRE(found->kvs.size() == 1);
    return *found->kvs.front().value;
  }

  FakeConversionWebhook webhook;
  std::shared_ptr<metrics::Registry> registry = metrics::NewRegistry();
  std::shared_ptr<apiextensions::WebhookConverter> converter;
  std::unique_ptr<TestServer> server;

 private:
  void Start(const std::string& storage) {
    apiextensions::ConversionOptions conversion;
    conversion.new_client = webhook.Factory();
    conversion.metrics = registry;
    conversion.memory = std::make_shared<MemoryBudget>();
    converter = std::make_shared<apiextensions::WebhookConverter>(
        std::make_shared<apiextensions::ConversionCaller>(conversion),
        "multiversion.stable.example.com",
        apiextensions::ConversionWebhook{.client_config = {.url = "https://hook.test/convert"},
                                         .review_versions = reviews_});
    TestServerOptions options;
    options.kinds = {{.kind = MultiVersionKind(converter, storage)}};
    options.engine = engine_;
    server = std::move(StartTestServer(std::move(options))).value();
  }

  const std::vector<std::string> reviews_;
  storage::kv::Engine* const engine_;
};

// Returns an answer's object without metadata.
std::string WithoutMetadata(const std::string& body) {
  runtime::Arena arena;
  return ConversionJson(Without(ParseConversionJson(body, arena), "metadata", arena));
}

// verifyMultiVersionObject
std::string ExpectedIn(const std::string& version) {
  const std::string suffix = version == "v1beta2" ? "v2" : "";
  return R"({"apiVersion":"stable.example.com/)" + version + R"(","content)" + suffix +
         R"(":{"key":"value"},"kind":"MultiVersion","num)" + suffix +
         R"(":{"num1":1,"num2":1000000}})";
}

std::vector<std::string> ReviewsFrom(const std::string& first) {
  return first == "v1" ? std::vector<std::string>{"v1", "v1beta1"}
                       : std::vector<std::string>{"v1beta1", "v1"};
}

}  // namespace

// validateNonTrivialConverted
TEST_CASE("conversion over HTTP: an object reads in every version as that version has it",
          "[apiextensions]") {
  ServedMultiVersion served(ReviewsFrom(GENERATE(std::string("v1"), std::string("v1beta1"))));
  for (const std::string& created : kServedVersions) {
    const std::string name = "converted-" + created;
    const auto answer = served.Create(name, created, R"("foo":"garbage",)");
    CHECK(answer.code == 201);
    CHECK(WithoutMetadata(answer.body) == ExpectedIn(created));
    CHECK(WithoutMetadata(served.Stored(name)) == ExpectedIn("v1beta1"));
    for (const std::string& read : kServedVersions) {
      CHECK(WithoutMetadata(served.Get(read, name).body) == ExpectedIn(read));
    }
    const auto patched = served.server->Call(
        "PATCH", Item(created, name), R"({"metadata":{"annotations":{"main":"true"}}})", kMerge);
    CHECK(patched.code == 200);
    CHECK(WithoutMetadata(patched.body) == ExpectedIn(created));
    CHECK(WithoutMetadata(served.Stored(name)) == ExpectedIn("v1beta1"));
    CHECK(Contains(served.Stored(name), R"("main":"true")"));
  }
}

// validateNonTrivialConvertedList
TEST_CASE("conversion over HTTP: a list in another version is one call", "[apiextensions]") {
  ServedMultiVersion served;
  for (const std::string& created : kServedVersions) {
    REQUIRE(served.Create("converted-" + created, created, R"("foo":"garbage",)").code == 201);
  }
  for (const std::string& listed : kServedVersions) {
    const std::size_t before = served.webhook.calls();
    const auto answer = served.server->Call("GET", Collection(listed));
    REQUIRE(answer.code == 200);
    runtime::Arena arena;
    const auto items = ParseConversionJson(answer.body, arena)["items"].items();
    REQUIRE(items.size() == 3);
    for (const runtime::Value& item : items) {
      CHECK(ConversionJson(Without(item, "metadata", arena)) == ExpectedIn(listed));
    }
    CHECK(served.webhook.calls() - before <= 1);
  }
}

// validateMixedStorageVersions, validateStorageVersion
TEST_CASE("conversion over HTTP: objects stored in several versions read the same",
          "[apiextensions]") {
  const auto engine = storage::memory::NewEngine({});
  ServedMultiVersion served({"v1", "v1beta1"}, "v1alpha1", engine.get());
  for (const std::string stored : {"v1alpha1", "v1beta1", "v1beta2"}) {
    served.Restart(stored);
    const std::string name = "mixedstorage-stored-as-" + stored;
    REQUIRE(served.Create(name, stored).code == 201);
    CHECK(Contains(served.Stored(name), "stable.example.com/" + stored));
  }
  for (const std::string& read : kServedVersions) {
    for (const std::string& stored : kServedVersions) {
      CHECK(WithoutMetadata(served.Get(read, "mixedstorage-stored-as-" + stored).body) ==
            ExpectedIn(read));
    }
    const auto list = served.server->Call("GET", Collection(read));
    CHECK(list.code == 200);
  }
}

// A storage migration is a write that changes nothing.
TEST_CASE("conversion over HTTP: a write that changes nothing stores the new storage version",
          "[apiextensions]") {
  const auto engine = storage::memory::NewEngine({});
  ServedMultiVersion served({"v1", "v1beta1"}, "v1beta1", engine.get());
  for (const char* name : {"put", "patch", "apply"}) {
    REQUIRE(served.Create(name, "v1beta1").code == 201);
  }
  served.Restart("v1beta2");
  const std::string version = GENERATE(std::string("v1beta1"), std::string("v1beta2"));
  const std::string before = served.Get(version, "put").body;
  REQUIRE(served.server->Call("PUT", Item(version, "put"), before).code == 200);
  REQUIRE(served.server->Call("PATCH", Item(version, "patch"), "{}", kMerge).code == 200);
  for (const char* name : {"put", "patch"}) {
    INFO(name);
    CHECK(Contains(served.Stored(name), "stable.example.com/v1beta2"));
    CHECK(WithoutMetadata(served.Stored(name)) == ExpectedIn("v1beta2"));
  }
  CHECK(Contains(served.Stored("apply"), "stable.example.com/v1beta1"));
  // Once it is stored so, the same write is none.
  const std::string migrated = served.Get(version, "put").body;
  CHECK(migrated != before);
  REQUIRE(served.server->Call("PUT", Item(version, "put"), migrated).code == 200);
  CHECK(served.Get(version, "put").body == migrated);
}

namespace {

// metadataMutatingConverter
runtime::Value ConvertMutating(const runtime::Value& object, std::string_view desired,
                               runtime::Arena& arena) {
  runtime::Value made = ConvertNontrivial(object, desired, arena);
  runtime::Value metadata = made["metadata"];
  if (!Contains(metadata["name"].AsString(), "mutation")) return made;
  std::string to(desired);
  const auto mark = [&](std::string_view field) {
    runtime::Value marks = metadata[field];
    marks = With(marks.is_null() ? runtime::Value::Map({}) : marks, "to",
                 runtime::Value::String(arena.Copy(to)), arena);
    metadata = With(metadata, field, marks, arena);
  };
  mark("annotations");
  std::replace(to.begin(), to.end(), '/', '.');
  mark("labels");
  for (const auto& [key, json] :
       {std::pair("generation", "42"), std::pair("resourceVersion", "\"42\""),
        std::pair("finalizers", "[\"foo\"]"), std::pair("garbage", "\"foo\""),
        std::pair("ownerReferences", R"([{"apiVersion":"v1","kind":"Namespace","name":"default",)"
                                     R"("uid":"1234"}])")}) {
    metadata = With(metadata, key, ParseConversionJson(json, arena), arena);
  }
  return With(made, "metadata", metadata, arena);
}

// validateObjectMetaMutationObject
void CheckMutated(const runtime::Value& object, bool mutated) {
  const runtime::Value metadata = object["metadata"];
  CHECK(metadata["annotations"]["to"].is_null() == !mutated);
  CHECK(metadata["labels"]["to"].is_null() == !mutated);
  CHECK(metadata["finalizers"].is_null());
  CHECK(metadata["ownerReferences"].is_null());
  CHECK(metadata["garbage"].is_null());
  CHECK(metadata["generation"].AsInt() == 1);
  CHECK(metadata["resourceVersion"].AsString() != "42");
}

}  // namespace

// validateObjectMetaMutation
TEST_CASE(
    "conversion over HTTP: labels and annotations of the webhook stay, other metadata does "
    "not",
    "[apiextensions]") {
  ServedMultiVersion served(ReviewsFrom(GENERATE(std::string("v1"), std::string("v1beta1"))));
  served.webhook.Convert(ConvertMutating);
  runtime::Arena arena;
  const auto check = [&](const http::ClientResponse& answer, bool mutated) {
    INFO(answer.body);
    CHECK(answer.code / 100 == 2);
    CheckMutated(ParseConversionJson(answer.body, arena), mutated);
  };
  check(served.Create("objectmeta-mutation-v1beta1", "v1beta1"), false);
  check(served.Get("v1beta2", "objectmeta-mutation-v1beta1"), true);
  check(served.Create("objectmeta-mutation-v1beta2", "v1beta2"), true);
  const auto list = served.server->Call("GET", Collection("v1beta2"));
  const auto items = ParseConversionJson(list.body, arena)["items"].items();
  REQUIRE(items.size() == 2);
  for (const runtime::Value& item : items) CheckMutated(item, true);
}

// validateUIDMutation
TEST_CASE("conversion over HTTP: a webhook that changes the UID fails the create",
          "[apiextensions]") {
  ServedMultiVersion served(ReviewsFrom(GENERATE(std::string("v1"), std::string("v1beta1"))));
  served.webhook.Convert(
      [](const runtime::Value& object, std::string_view desired, runtime::Arena& arena) {
        const auto uid = runtime::Value::String("42");
        return With(ConvertNoop(object, desired, arena), "metadata",
                    With(object["metadata"], "uid", uid, arena), arena);
      });
  const auto answer = served.Create("uid-mutation", "v1beta2");
  CHECK(answer.code == 500);
  CHECK(Contains(answer.body, "must have the same UID"));
  CHECK(served.Get("v1beta1", "uid-mutation").code == 404);
}

namespace {

struct FailingConversion {
  const char* name;
  std::function<void(FakeConversionWebhook&, const std::string& version)> set;
  const char* message;
};

std::vector<FailingConversion> FailingConversions() {
  const auto answers = [](const char* response) {
    return [response](FakeConversionWebhook& webhook, const std::string& version) {
      webhook.AnswerWith("apiextensions.k8s.io/" + version, response);
    };
  };
  return {{"empty-response",
           answers(R"({"uid":"UID","convertedObjects":[],"result":{"status":"Success"}})"),
           "returned 0 objects, expected 1"},
          {"failure-message",
           answers(R"({"uid":"UID","convertedObjects":[],"result":{"status":"Failure",)"
                   R"("message":"custom webhook conversion error"}})"),
           "custom webhook conversion error"},
          {"server-error",
           [](FakeConversionWebhook& webhook, const std::string& version) {
             webhook.Answer([version](const client::HttpRequest&) {
               return http::ClientResponse{
                   .code = 422,
                   .headers = {{"Content-Type", "text/plain"}},
                   .body = "Cannot handle " + version + " ConversionReview\n"};
             });
           },
           "the server rejected our request"}};
}

}  // namespace

// expectConversionFailureMessage
TEST_CASE("conversion over HTTP: a webhook that fails is every verb's answer in that version",
          "[apiextensions]") {
  const FailingConversion failing = GENERATE(from_range(FailingConversions()));
  const std::string review = GENERATE(std::string("v1"), std::string("v1beta1"));
  ServedMultiVersion served(ReviewsFrom(review));
  failing.set(served.webhook, review);
  const std::string name = failing.name;
  REQUIRE(served.Create(name, "v1beta1").code == 201);
  const std::string item = Item("v1beta2", name);
  std::string body = MultiVersion(name, "v1beta2");
  const std::string patch = R"({"metadata":{"annotations":{"patch":"true"}}})";
  struct Row {
    const char* verb;
    http::ClientResponse answer;
  };
  const Row rows[] = {{"get", served.server->Call("GET", item)},
                      {"list", served.server->Call("GET", Collection("v1beta2"))},
                      {"create", served.Create("other", "v1beta2")},
                      {"update", served.server->Call("PUT", item, body)},
                      {"patch", served.server->Call("PATCH", item, patch, kMerge)}};
  for (const Row& row : rows) {
    INFO(row.verb << ": " << row.answer.body);
    CHECK(row.answer.code == 500);
    CHECK(Contains(row.answer.body, failing.message));
  }
  // In the storage version nothing has changed, and all works.
  const auto still = served.Get("v1beta1", name);
  CHECK(WithoutMetadata(still.body) == ExpectedIn("v1beta1"));
  CHECK(served.server->Call("DELETE", Item("v1beta1", name)).code == 200);
}

// TestWebhookNotCalledForUnusedVersions
TEST_CASE("conversion over HTTP: only versions that are asked for are converted to",
          "[apiextensions]") {
  ServedMultiVersion served;
  REQUIRE(served.Create("marker", "v1beta1").code == 201);
  REQUIRE(served.Get("v1beta1", "marker").code == 200);
  REQUIRE(served.server->Call("GET", Collection("v1beta1")).code == 200);
  Lines watch(*served.server, Collection("v1beta1") + "?watch=1&resourceVersion=0");
  CHECK(Contains(watch.Next(), "ADDED"));
  CHECK(served.webhook.calls() == 0);
  REQUIRE(served.Get("v1beta2", "marker").code == 200);
  for (const client::HttpRequest& request : served.webhook.requests()) {
    CHECK(Contains(request.body, R"("desiredAPIVersion":"stable.example.com/v1beta2")"));
  }
}

TEST_CASE("conversion over HTTP: while a webhook hangs the storage version is served",
          "[apiextensions]") {
  ServedMultiVersion served;
  REQUIRE(served.Create("a", "v1beta1").code == 201);
  Lines watch(*served.server, Collection("v1beta1") + "?watch=1&resourceVersion=0");
  CHECK(Contains(watch.Next(), "ADDED"));
  served.webhook.Hang();
  http::ClientResponse listed;
  {
    Thread list("list", [&] { listed = served.server->Call("GET", Collection("v1beta2")); });
    served.webhook.WaitForCalls(1);
    for (int i = 0; i < 20; ++i) {
      const std::string name = "b" + std::to_string(i);
      CHECK(served.Create(name, "v1beta1").code == 201);
      CHECK(served.Get("v1beta1", name).code == 200);
      CHECK(Contains(watch.Next(), name));
    }
    CHECK(served.server->Call("GET", Collection("v1beta1")).code == 200);
    served.webhook.Release();
  }
  CHECK(listed.code == 200);
  CHECK(Contains(listed.body, "numv2"));
}

TEST_CASE("conversion over HTTP: a webhook may be replaced by another one while it hangs",
          "[apiextensions]") {
  ServedMultiVersion served;
  REQUIRE(served.Create("a", "v1beta1").code == 201);
  served.webhook.Hang();
  http::ClientResponse old;
  {
    Thread reader("reader", [&] { old = served.Get("v1beta2", "a"); });
    served.webhook.WaitForCalls(1);
    served.converter->Swap(
        {.client_config = {.url = "https://other.test/convert"}, .review_versions = {"v1"}});
    served.webhook.Release();
  }
  CHECK(old.code == 200);
  CHECK(served.Get("v1alpha1", "a").code == 200);
  CHECK(served.webhook.requests().back().url.starts_with("https://other.test/"));
}

TEST_CASE("conversion over HTTP: each event is converted once a version, whoever watches",
          "[apiextensions]") {
  ServedMultiVersion served;
  std::vector<std::unique_ptr<Lines>> watches;
  for (int i = 0; i < 5; ++i) {
    for (const std::string& version : kServedVersions) {
      watches.push_back(std::make_unique<Lines>(
          *served.server, Collection(version) + "?watch=1&resourceVersion=0"));
    }
  }
  for (int i = 0; i < 10; ++i) {
    const std::string name = "event-" + std::to_string(i);
    REQUIRE(served.Create(name, "v1beta1").code == 201);
    for (const auto& watch : watches) CHECK(Contains(watch->Next(), name));
  }
  std::size_t objects = 0;
  for (const std::size_t size : served.webhook.batches()) objects += size;
  // Ten events, to the two versions that are not stored.
  CHECK(objects == 20);
}
