// Which converter a definition gets.
#include "apiextensions/convert/converters.h"

#include <catch2/catch.hpp>
#include <string>

#include "conversion_fixture.h"

using namespace apiserver;           // NOLINT: tests only.
using namespace apiserver::testing;  // NOLINT: tests only.

namespace {

std::string DefinitionWith(const std::string& uid, const std::string& conversion) {
  return R"({"metadata":{"name":"foos.example.com","uid":")" + uid + R"("},"spec":{)" +
         (conversion.empty() ? "" : R"("conversion":)" + conversion) + "}}";
}

std::string WebhookAtUrl(const std::string& url) {
  return R"({"strategy":"Webhook","webhook":{"clientConfig":{"url":")" + url +
         R"("},"conversionReviewVersions":["v1"]}})";
}

struct DefinedConverters {
  DefinedConverters() {
    options.new_client = webhook.Factory();
    options.metrics = registry;
    converters = std::make_unique<apiextensions::Converters>(options);
  }
  Result<std::shared_ptr<const runtime::VersionConverter>> For(const std::string& definition) {
    runtime::Arena arena;
    return converters->For(ParseConversionJson(definition, arena));
  }

  FakeConversionWebhook webhook;
  std::shared_ptr<metrics::Registry> registry = metrics::NewRegistry();
  apiextensions::ConversionOptions options;
  std::unique_ptr<apiextensions::Converters> converters;
};

}  // namespace

TEST_CASE("conversion: the strategy of a definition chooses its converter", "[apiextensions]") {
  DefinedConverters defined;
  CHECK_FALSE(defined.For(DefinitionWith("1", "")).value()->may_wait());
  CHECK_FALSE(defined.For(DefinitionWith("1", R"({"strategy":"None"})")).value()->may_wait());
  CHECK(defined.For(DefinitionWith("1", WebhookAtUrl("https://a.test"))).value()->may_wait());
  CHECK(defined.For(DefinitionWith("1", R"({"strategy":"Other"})")).status().message() ==
        "unknown conversion strategy \"Other\" for CRD foos.example.com");
}

TEST_CASE("conversion: a definition keeps its converter, which calls the webhook it names now",
          "[apiextensions]") {
  DefinedConverters defined;
  const auto first = defined.For(DefinitionWith("1", WebhookAtUrl("https://a.test"))).value();
  const auto second = defined.For(DefinitionWith("1", WebhookAtUrl("https://b.test"))).value();
  CHECK(first == second);
  CHECK(first != defined.For(DefinitionWith("2", WebhookAtUrl("https://a.test"))).value());

  runtime::Object object(MultiVersionKind(first), "v1beta1");
  object.Edit("metadata", "name") = "a";
  REQUIRE(runtime::Convert(Context::Background(), object, "v1beta2").ok());
  CHECK(defined.webhook.requests().at(0).url == "https://b.test/?timeout=30s");
}

TEST_CASE("conversion: converters that are not used are forgotten", "[apiextensions]") {
  DefinedConverters defined;
  const auto used = defined.For(DefinitionWith("used", WebhookAtUrl("https://a.test"))).value();
  for (int i = 0; i < 500; ++i) {
    REQUIRE(defined.For(DefinitionWith(std::to_string(i), WebhookAtUrl("https://a.test"))).ok());
  }
  CHECK(defined.For(DefinitionWith("used", WebhookAtUrl("https://a.test"))).value() == used);
}
