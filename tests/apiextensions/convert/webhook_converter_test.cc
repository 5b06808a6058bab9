// Objects that a webhook converts: what it is sent, how often it is called, and what of its answers
// is believed. Upstream: webhook_converter.go and metrics_test.go of
// apiextensions-apiserver/pkg/apiserver/conversion.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiextensions/convert/none.h"
#include "apiserver/runtime/settle.h"
#include "apiserver/testing/server/fake_clock.h"
#include "conversion_fixture.h"

using namespace apiserver;           // NOLINT: tests only.
using namespace apiserver::testing;  // NOLINT: tests only.
using apiextensions::ConversionOptions;
using apiextensions::ConversionWebhook;
using runtime::Object;

namespace {

// A kind whose converter calls a fake webhook.
struct WebhookKind {
  explicit WebhookKind(ConversionOptions options = {},
                       std::vector<std::string> versions = {"v1", "v1beta1"}) {
    options.new_client = webhook.Factory();
    options.metrics = registry;
    options.memory = memory;
    caller = std::make_shared<apiextensions::ConversionCaller>(options);
    converter = std::make_shared<apiextensions::WebhookConverter>(
        caller, "multiversion.stable.example.com",
        ConversionWebhook{.client_config = {.url = "https://hook.test/convert"},
                          .review_versions = std::move(versions)});
    kind = MultiVersionKind(converter);
  }
  // Returns an object as it is read from storage.
  std::shared_ptr<Object> Make(std::string_view name, std::string_view version = "v1beta1",
                               std::string_view revision = "7") const {
    auto object = std::make_shared<Object>(kind, version);
    object->SetRoot(ParseConversionJson(MultiVersion(name, version), object->arena()));
    REQUIRE(runtime::Settle(*object).ok());
    object->Edit("metadata", "uid") = "uid-" + std::string(name);
    if (!revision.empty()) object->Edit("metadata", "resourceVersion") = revision;
    return object;
  }
  // Converts it, and returns the content as JSON or the error.
  std::string ConvertedTo(std::string_view version, Object& object,
                          const Context& ctx = Context::Background()) const {
    const Status status = runtime::Convert(ctx, object, version);
    return status.ok() ? ConversionJson(object.root()) : std::string(status.message());
  }
  bool Counted(const std::string& line) const {
    return registry->Serialize().find(line) != std::string::npos;
  }

  FakeConversionWebhook webhook;
  std::shared_ptr<metrics::Registry> registry = metrics::NewRegistry();
  std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>();
  std::shared_ptr<apiextensions::ConversionCaller> caller;
  std::shared_ptr<apiextensions::WebhookConverter> converter;
  runtime::KindPtr kind;
};

const std::string kFailedHead =
    "conversion webhook for stable.example.com/v1beta1, Kind=MultiVersion ";
std::string ContentJson(const Object& object) { return ConversionJson(object.root()); }

}  // namespace

TEST_CASE("conversion webhook: it is sent whole objects and asked for a version",
          "[apiextensions]") {
  WebhookKind multi;
  const auto object = multi.Make("a");
  REQUIRE(runtime::Convert(Context::Background(), *object, "v1beta2").ok());
  CHECK(object->version() == "v1beta2");
  CHECK(ConversionJson((*object)["contentv2"]) == R"({"key":"value"})");
  CHECK((*object)["content"].is_null());
  CHECK(object->uid() == "uid-a");

  const auto sent = multi.webhook.requests();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].url == "https://hook.test/convert?timeout=30s");
  CHECK(sent[0].timeout == std::chrono::seconds(30));
  CHECK(sent[0].headers.Get("Content-Type") == "application/json");
  CHECK(sent[0].headers.Get("User-Agent") == "kube-apiserver-admission");
  runtime::Arena arena;
  const auto review = ParseConversionJson(sent[0].body, arena);
  CHECK(review["apiVersion"].AsString() == "apiextensions.k8s.io/v1");
  CHECK(review["request"]["desiredAPIVersion"].AsString() == "stable.example.com/v1beta2");
  const auto asked = review["request"]["objects"].at(0);
  CHECK(asked["apiVersion"].AsString() == "stable.example.com/v1beta1");
  CHECK(asked["kind"].AsString() == "MultiVersion");
  CHECK(asked["metadata"]["resourceVersion"].AsString() == "7");
}

TEST_CASE("conversion webhook: all objects of a list are one call", "[apiextensions]") {
  WebhookKind multi;
  std::vector<std::shared_ptr<Object>> objects;
  std::vector<Object*> together;
  for (int i = 0; i < 500; ++i) {
    // Some are in the version that is wanted already.
    objects.push_back(multi.Make("o" + std::to_string(i), i % 5 == 0 ? "v1beta2" : "v1beta1"));
    together.push_back(objects.back().get());
  }
  REQUIRE(runtime::Convert(Context::Background(), together, "v1beta2").ok());
  CHECK(multi.webhook.batches() == std::vector<std::size_t>{400});
  for (int i = 0; i < 500; ++i) {
    CHECK(objects[static_cast<std::size_t>(i)]->name() == "o" + std::to_string(i));
    CHECK(objects[static_cast<std::size_t>(i)]->version() == "v1beta2");
  }
}

TEST_CASE("conversion webhook: a call has a size, more objects take more calls",
          "[apiextensions]") {
  WebhookKind multi({.request_bytes_max = 1024});
  std::vector<std::shared_ptr<Object>> objects;
  std::vector<Object*> together;
  for (int i = 0; i < 10; ++i) {
    objects.push_back(multi.Make("o" + std::to_string(i)));
    together.push_back(objects.back().get());
  }
  objects[4]->Edit("content", "key") = std::string(3000, 'x');
  REQUIRE(runtime::Convert(Context::Background(), together, "v1beta2").ok());
  std::size_t sum = 0;
  for (const std::size_t size : multi.webhook.batches()) {
    CHECK(size < 6);
    sum += size;
  }
  CHECK(sum == 10);
  CHECK(multi.webhook.calls() > 3);
}

TEST_CASE("conversion webhook: the same object is converted once to each version",
          "[apiextensions]") {
  WebhookKind multi;
  for (int i = 0; i < 3; ++i) {
    const auto object = multi.Make("a");
    REQUIRE(runtime::Convert(Context::Background(), *object, "v1beta2").ok());
    CHECK(ConversionJson((*object)["numv2"]) == R"({"num1":1,"num2":1000000})");
  }
  CHECK(multi.webhook.calls() == 1);
  REQUIRE(runtime::Convert(Context::Background(), *multi.Make("a"), "v1alpha1").ok());
  CHECK(multi.webhook.calls() == 2);
  REQUIRE(
      runtime::Convert(Context::Background(), *multi.Make("a", "v1beta1", "8"), "v1beta2").ok());
  CHECK(multi.webhook.calls() == 3);
  // Of a list, only what is not known is sent.
  const auto known = multi.Make("a");
  const auto other = multi.Make("b");
  Object* const both[] = {known.get(), other.get()};
  REQUIRE(runtime::Convert(Context::Background(), both, "v1beta2").ok());
  CHECK(multi.webhook.batches() == std::vector<std::size_t>{1, 1, 1, 1});
  CHECK(multi.memory->encodings.used() > 0);
}

TEST_CASE("conversion webhook: the same object twice in a list is sent once", "[apiextensions]") {
  WebhookKind multi;
  const auto first = multi.Make("a");
  const auto second = multi.Make("a");
  Object* const both[] = {first.get(), second.get()};
  REQUIRE(runtime::Convert(Context::Background(), both, "v1beta2").ok());
  CHECK(multi.webhook.batches() == std::vector<std::size_t>{1});
  CHECK(ContentJson(*first) == ContentJson(*second));
}

TEST_CASE("conversion webhook: what is not stored yet is not kept", "[apiextensions]") {
  WebhookKind multi;
  const auto used = multi.memory->encodings.used();
  for (int i = 0; i < 2; ++i) {
    REQUIRE(
        runtime::Convert(Context::Background(), *multi.Make("a", "v1beta2", ""), "v1beta1").ok());
  }
  CHECK(multi.webhook.calls() == 2);
  CHECK(multi.memory->encodings.used() == used);
}

TEST_CASE("conversion webhook: those who want the same at once share a call", "[apiextensions]") {
  WebhookKind multi;
  multi.webhook.Hang();
  std::vector<std::shared_ptr<Object>> objects;
  for (int i = 0; i < 8; ++i) objects.push_back(multi.Make("a"));
  std::atomic<int> converted = 0;
  {
    std::vector<Thread> readers;
    for (const auto& object : objects) {
      readers.emplace_back("reader", [&, object] {
        if (runtime::Convert(Context::Background(), *object, "v1beta2").ok()) ++converted;
      });
    }
    multi.webhook.WaitForCalls(1);
    multi.webhook.Release();
  }
  CHECK(converted == 8);
  CHECK(multi.webhook.calls() == 1);
  for (const auto& object : objects) CHECK(object->version() == "v1beta2");
}

TEST_CASE("conversion webhook: different objects do not wait for each other", "[apiextensions]") {
  WebhookKind multi;
  multi.webhook.Hang();
  std::vector<std::shared_ptr<Object>> objects;
  for (int i = 0; i < 8; ++i) objects.push_back(multi.Make("o" + std::to_string(i)));
  std::atomic<int> converted = 0;
  {
    std::vector<Thread> readers;
    for (const auto& object : objects) {
      readers.emplace_back("reader", [&, object] {
        if (runtime::Convert(Context::Background(), *object, "v1beta2").ok()) ++converted;
      });
    }
    multi.webhook.WaitForCalls(8);
    multi.webhook.Release();
  }
  CHECK(converted == 8);
}

TEST_CASE("conversion webhook: a caller that leaves takes nobody with it", "[apiextensions]") {
  WebhookKind multi;
  multi.webhook.Hang();
  const Context leaving = Context::Child(Context::Background());
  const auto first = multi.Make("a");
  const auto second = multi.Make("a");
  std::string left;
  Status stayed(Reason::kUnknown, "not run");
  {
    Thread leaves("leaves", [&] { left = multi.ConvertedTo("v1beta2", *first, leaving); });
    multi.webhook.WaitForCalls(1);
    Thread stays("stays",
                 [&] { stayed = runtime::Convert(Context::Background(), *second, "v1beta2"); });
    leaving.Cancel(Status(Reason::kTimeout, "the client left"));
    multi.webhook.WaitForCalls(2);
    multi.webhook.Release();
  }
  CHECK(left == kFailedHead +
                    "failed: Post \"https://hook.test/convert?timeout=30s\": context "
                    "canceled");
  CHECK(stayed.ok());
  CHECK(first->version() == "v1beta1");
  CHECK(second->version() == "v1beta2");
}

TEST_CASE("conversion webhook: no call takes longer than the request may", "[apiextensions]") {
  FakeClock clock;
  WebhookKind multi({.clock = &clock});
  const auto deadline = clock.Now() + std::chrono::milliseconds(3500);
  const Context ctx = Context::Child(Context::Background(), deadline);
  REQUIRE(runtime::Convert(ctx, *multi.Make("a"), "v1beta2").ok());
  const auto sent = multi.webhook.requests();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].timeout == std::chrono::milliseconds(3500));
  // As upstream, whose URL is made before the request is known.
  CHECK(sent[0].url == "https://hook.test/convert?timeout=30s");
  clock.Advance(std::chrono::seconds(4));
  const auto late = multi.Make("b");
  CHECK(multi.ConvertedTo("v1beta2", *late, ctx) ==
        kFailedHead +
            "failed: Post \"https://hook.test/convert?timeout=30s\": context deadline "
            "exceeded");
  CHECK(multi.webhook.calls() == 1);
}

TEST_CASE("conversion webhook: a failed call has upstream's words and changes nothing",
          "[apiextensions]") {
  WebhookKind multi;
  struct Row {
    Result<http::ClientResponse> response;
    std::string error;
  };
  const std::string post = "failed: Post \"https://hook.test/convert?timeout=30s\": ";
  const Row rows[] = {
      {Status(Reason::kServiceUnavailable, "dial tcp 10.0.0.1:443: connect: connection refused"),
       post + "dial tcp 10.0.0.1:443: connect: connection refused"},
      {Status(Reason::kTimeout, "late"), post + "context deadline exceeded"},
      {http::ClientResponse{.code = 422,
                            .headers = {{"Content-Type", "text/plain"}},
                            .body = "Cannot handle v1 ConversionReview\n"},
       "failed: the server rejected our request due to an error in our request"},
      {http::ClientResponse{.code = 200},
       "failed: 0-length response with status code: 200 and "
       "content type: "},
      {http::ClientResponse{.code = 200, .body = "{"},
       "failed: couldn't get version/kind; json parse error: unexpected end of JSON input"},
      {http::ClientResponse{.code = 200, .body = "{}"},
       "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got "
       "/, Kind="},
      {http::ClientResponse{.code = 200,
                            .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                                    R"("message":"not me"})"},
       "failed: not me"}};
  for (const Row& row : rows) {
    multi.webhook.Answer([&](const client::HttpRequest&) { return row.response; });
    const auto object = multi.Make("a");
    const std::string before = ContentJson(*object);
    CHECK(multi.ConvertedTo("v1beta2", *object) == kFailedHead + row.error);
    CHECK(object->version() == "v1beta1");
    CHECK(ContentJson(*object) == before);
  }
  // Errors are not kept.
  multi.webhook.Convert(ConvertNontrivial);
  CHECK(runtime::Convert(Context::Background(), *multi.Make("a"), "v1beta2").ok());
}

TEST_CASE("conversion webhook: answers that lie are refused", "[apiextensions]") {
  for (const std::string version : {"v1", "v1beta1"}) {
    WebhookKind multi({}, {version});
    const auto error = [&](const std::string& response) {
      multi.webhook.AnswerWith("apiextensions.k8s.io/" + version, response);
      return multi.ConvertedTo("v1beta2", *multi.Make("a"));
    };
    CHECK(error(R"({"uid":"UID","result":{"status":"Success"},"convertedObjects":[]})") ==
          kFailedHead + "returned 0 objects, expected 1");
    CHECK(error(R"({"uid":"UID","result":{"status":"Success"},"convertedObjects":[{},{}]})") ==
          kFailedHead + "returned 2 objects, expected 1");
    CHECK(error(R"({"uid":"UID","result":{"status":"Failure","message":"custom"}})") ==
          kFailedHead + "failed: custom");
    CHECK(error(R"({"uid":"UID","result":{"status":"Success"},"convertedObjects":[)"
                R"({"apiVersion":"stable.example.com/v1beta1","kind":"MultiVersion"}]})") ==
          kFailedHead +
              "returned invalid object at index 0: invalid groupVersion (expected "
              "stable.example.com/v1beta2, received stable.example.com/v1beta1)");
    const std::string other = error(R"({"uid":"another","result":{"status":"Success"}})");
    CHECK(other.starts_with(
        kFailedHead + (version == "v1" ? "failed: expected response.uid=" : "returned 0 objects")));
  }
  WebhookKind unknown({}, {"v2"});
  CHECK(unknown.ConvertedTo("v1beta2", *unknown.Make("a")) ==
        "no supported conversion review versions");
  CHECK(unknown.webhook.calls() == 0);
}

TEST_CASE("conversion webhook: one wrong object fails the list, the others are kept",
          "[apiextensions]") {
  WebhookKind multi;
  multi.webhook.Convert(
      [](const runtime::Value& object, std::string_view desired, runtime::Arena& arena) {
        auto made = ConvertNontrivial(object, desired, arena);
        if (object["metadata"]["name"].AsString() != "b") return made;
        const auto metadata = With(made["metadata"], "uid", runtime::Value::String("42"), arena);
        return With(made, "metadata", metadata, arena);
      });
  std::vector<std::shared_ptr<Object>> objects{multi.Make("a"), multi.Make("b"), multi.Make("c")};
  std::vector<Object*> together{objects[0].get(), objects[1].get(), objects[2].get()};
  const Status status = runtime::Convert(Context::Background(), together, "v1beta2");
  CHECK(status.message() == kFailedHead +
                                "returned invalid converted object at index 1: must have "
                                "the same UID: uid-b != 42");
  CHECK(status.code() == 500);
  for (const auto& object : objects) CHECK(object->version() == "v1beta1");
  // The two good ones need no further call.
  CHECK(runtime::Convert(Context::Background(), *objects[0], "v1beta2").ok());
  CHECK(runtime::Convert(Context::Background(), *objects[2], "v1beta2").ok());
  CHECK(multi.webhook.calls() == 1);
}

TEST_CASE(
    "conversion webhook: what the version's schema does not know is pruned, nothing is "
    "defaulted",
    "[apiextensions]") {
  WebhookKind multi;
  multi.webhook.Convert(
      [](const runtime::Value& object, std::string_view desired, runtime::Arena& arena) {
        auto made = ConvertNontrivial(object, desired, arena);
        made = With(made, "foo", runtime::Value::String("garbage"), arena);
        return With(made, "defaults", ParseConversionJson(R"({"v1beta1":true})", arena), arena);
      });
  const auto object = multi.Make("a");
  REQUIRE(runtime::Convert(Context::Background(), *object, "v1beta2").ok());
  CHECK((*object)["foo"].is_null());
  CHECK(ConversionJson((*object)["defaults"]) == R"({"v1beta1":true})");
}

TEST_CASE("conversion webhook: another webhook is called from the next call on",
          "[apiextensions]") {
  WebhookKind multi;
  REQUIRE(runtime::Convert(Context::Background(), *multi.Make("a"), "v1beta2").ok());
  const ConversionWebhook same{.client_config = {.url = "https://hook.test/convert"},
                               .review_versions = {"v1", "v1beta1"}};
  ConversionWebhook next = same;
  next.client_config.ca_bundle = "another authority";
  CHECK(same == same);
  CHECK_FALSE(same == next);

  // The same webhook keeps its results, another one's are not known.
  multi.converter->Swap(same);
  REQUIRE(runtime::Convert(Context::Background(), *multi.Make("a"), "v1beta2").ok());
  CHECK(multi.webhook.calls() == 1);
  multi.converter->Swap(next);
  REQUIRE(runtime::Convert(Context::Background(), *multi.Make("a"), "v1beta2").ok());
  CHECK(multi.webhook.calls() == 2);
  const auto clients = multi.webhook.clients();
  REQUIRE(clients.size() == 2);
  CHECK(clients[0].tls.ca_pem.empty());
  CHECK(clients[1].tls.ca_pem == "another authority");
}

TEST_CASE("conversion webhook: a call that is running ends as it began", "[apiextensions]") {
  WebhookKind multi;
  multi.webhook.Hang();
  const auto object = multi.Make("a");
  Status status(Reason::kUnknown, "not run");
  {
    Thread reader("reader",
                  [&] { status = runtime::Convert(Context::Background(), *object, "v1beta2"); });
    multi.webhook.WaitForCalls(1);
    multi.converter->Swap({.client_config = {.url = "https://other.test/"}});
    multi.webhook.Release();
  }
  CHECK(status.ok());
  CHECK(multi.webhook.requests()[0].url.starts_with("https://hook.test/"));
}

TEST_CASE("conversion webhook: an empty object needs no call", "[apiextensions]") {
  WebhookKind multi;
  Object empty(multi.kind, "v1beta1");
  CHECK(runtime::Convert(Context::Background(), empty, "v1beta2").ok());
  CHECK(empty.version() == "v1beta2");
  CHECK(multi.webhook.calls() == 0);
}

TEST_CASE("conversion webhook: where nothing may wait it is not called", "[apiextensions]") {
  WebhookKind multi;
  const auto object = multi.Make("a");
  const Status status =
      runtime::Convert(Context::Background().WithMayBlock(false), *object, "v1beta2");
  CHECK(status.reason() == Reason::kWouldBlock);
  CHECK(multi.webhook.calls() == 0);
}

// metrics_test.go
TEST_CASE("conversion webhook: calls are counted under upstream's names", "[apiextensions]") {
  WebhookKind multi;
  REQUIRE(runtime::Convert(Context::Background(), *multi.Make("a"), "v1beta2").ok());
  CHECK(
      multi.Counted("apiserver_conversion_webhook_request_total{result=\"success\","
                    "failure_type=\"\"} 1"));
  CHECK(
      multi.Counted("apiserver_conversion_webhook_duration_seconds_count{result=\"success\","
                    "failure_type=\"\"} 1"));
  CHECK(
      multi.Counted("apiserver_crd_conversion_webhook_duration_seconds_count{crd_name=\""
                    "multiversion.stable.example.com\",from_version=\"v1beta1\",to_version=\""
                    "v1beta2\",succeeded=\"true\"} 1"));
  const auto fails = [&](const std::string& response, const std::string& type) {
    multi.webhook.AnswerWith("apiextensions.k8s.io/v1", response);
    CHECK_FALSE(runtime::Convert(Context::Background(), *multi.Make("b"), "v1beta2").ok());
    return multi.Counted(
        "apiserver_conversion_webhook_request_total{result=\"failure\","
        "failure_type=\"conversion_webhook_" +
        type + "_failure\"} 1");
  };
  CHECK(fails(R"({"uid":"UID","result":{"status":"Failure"}})", "malformed_response"));
  CHECK(fails(R"({"uid":"UID","result":{"status":"Success"}})", "partial_response"));
  CHECK(fails(R"({"uid":"UID","result":{"status":"Success"},"convertedObjects":[1]})",
              "invalid_converted_object"));
  multi.webhook.Answer([](const client::HttpRequest&) { return Status(Reason::kTimeout, "late"); });
  CHECK_FALSE(runtime::Convert(Context::Background(), *multi.Make("b"), "v1beta2").ok());
  CHECK(multi.Counted("failure_type=\"conversion_webhook_call_failure\"} 1"));
  CHECK(multi.Counted("to_version=\"v1beta2\",succeeded=\"false\"} 4"));
}

TEST_CASE("conversion webhook: it is read from spec.conversion", "[apiextensions]") {
  const auto read = [](std::string_view json) {
    runtime::Arena arena;
    return apiextensions::ConversionWebhookOf(ParseConversionJson(json, arena));
  };
  const auto url = read(R"({"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://h/c",)"
                        R"("caBundle":"Y2E="},"conversionReviewVersions":["v1","v1beta1"]}})");
  CHECK(url.client_config.url == "https://h/c");
  CHECK(url.client_config.ca_bundle == "ca");
  CHECK_FALSE(url.client_config.service.has_value());
  CHECK(url.review_versions == std::vector<std::string>{"v1", "v1beta1"});
  const auto service = read(R"({"webhook":{"clientConfig":{"service":{"namespace":"n",)"
                            R"("name":"s","path":"/p","port":8443},"caBundle":"IAo="}}})");
  REQUIRE(service.client_config.service.has_value());
  CHECK(service.client_config.service->namespace_ == "n");
  CHECK(service.client_config.service->name == "s");
  CHECK(service.client_config.service->path == "/p");
  CHECK(service.client_config.service->port == 8443);
  // White space is no bundle; what is no base64 is one that nothing fits.
  CHECK(service.client_config.ca_bundle.empty());
  CHECK(read(R"({"webhook":{"clientConfig":{"caBundle":"!"}}})").client_config.ca_bundle ==
        "malformed");
  CHECK(read(R"({"webhook":{"clientConfig":{"service":{}}}})").client_config.service->port == 443);
  CHECK_FALSE(url == service);
}

TEST_CASE("conversion None: apiVersion changes, then the version's schema prunes",
          "[apiextensions]") {
  const auto kind = MultiVersionKind(apiextensions::NewNoneConverter());
  CHECK_FALSE(kind->converter().may_wait());
  Object object(kind, "v1beta1");
  object.SetRoot(ParseConversionJson(MultiVersion("a", "v1beta1"), object.arena()));
  REQUIRE(runtime::Settle(object).ok());
  REQUIRE(runtime::Convert(Context::Background().WithMayBlock(false), object, "v1alpha1").ok());
  CHECK(object.version() == "v1alpha1");
  CHECK(ConversionJson(object["content"]) == R"({"key":"value"})");
  // The members that only v1beta1 knows are gone, and no default of v1beta2 has come.
  REQUIRE(runtime::Convert(Context::Background(), object, "v1beta2").ok());
  CHECK(object["content"].is_null());
  CHECK(object["num"].is_null());
  CHECK(object["defaults"].is_null());
  CHECK(object.name() == "a");
}
