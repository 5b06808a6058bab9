// When a definition is not established because of its webhook's CA bundle:
// apiextensions-apiserver/test/integration/cabundle_test.go.
#include "apiextensions/convert/ca_bundle.h"

#include <catch2/catch.hpp>
#include <string>

#include "conversion_json.h"
#include "text/base64.h"

using namespace apiserver;           // NOLINT: tests only.
using namespace apiserver::testing;  // NOLINT: tests only.

namespace {

std::string ConversionWithBundle(std::string_view bundle) {
  std::string json = R"({"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://h",)";
  json += "\"caBundle\":\"";
  text::AppendBase64(bundle, json);
  return json + R"("},"conversionReviewVersions":["v1"]}})";
}

bool IsInvalid(std::string_view conversion) {
  runtime::Arena arena;
  return apiextensions::HasInvalidCABundle(ParseConversionJson(conversion, arena));
}

bool MayBeInvalid(std::string_view established, const std::string& conversion) {
  runtime::Arena arena;
  const std::string json =
      R"({"spec":{"conversion":)" + conversion +
      R"(},"status":{"conditions":[{"type":"NamesAccepted","status":"True"},)" +
      R"({"type":"Established","status":")" + std::string(established) + "\"}]}}";
  return apiextensions::MayHaveInvalidCABundle(ParseConversionJson(json, arena));
}

}  // namespace

TEST_CASE("conversion: a CA bundle without a certificate is invalid, none is valid",
          "[apiextensions]") {
  CHECK_FALSE(IsInvalid("null"));
  CHECK_FALSE(IsInvalid(R"({"strategy":"None"})"));
  CHECK_FALSE(IsInvalid(ConversionWithBundle("")));
  CHECK(IsInvalid(ConversionWithBundle("Cg==")));
  CHECK(IsInvalid(ConversionWithBundle(" \n")));
  CHECK(
      IsInvalid(ConversionWithBundle("-----BEGIN CERTIFICATE-----\n!\n-----END "
                                     "CERTIFICATE-----\n")));
  CHECK(IsInvalid(R"({"webhook":{"clientConfig":{"caBundle":"!"}}})"));
}

TEST_CASE("conversion: an invalid CA bundle may stay, or come before a definition is established",
          "[apiextensions]") {
  const std::string invalid = ConversionWithBundle("bad");
  CHECK(MayBeInvalid("False", "null"));
  CHECK(MayBeInvalid("False", invalid));
  CHECK(MayBeInvalid("True", invalid));
  CHECK_FALSE(MayBeInvalid("True", "null"));
  CHECK_FALSE(MayBeInvalid("True", ConversionWithBundle("")));
  runtime::Arena arena;
  CHECK(apiextensions::MayHaveInvalidCABundle(ParseConversionJson("{}", arena)));
}
