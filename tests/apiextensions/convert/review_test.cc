// The ConversionReview that is sent and the answers to it: TestCreateConversionReviewObjects and
// TestGetConvertedObjectsFromResponse of
// apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter_test.go.
#include "apiextensions/convert/review.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "conversion_json.h"

using namespace apiserver;           // NOLINT: tests only.
using namespace apiserver::testing;  // NOLINT: tests only.
using apiextensions::ConversionBatch;
using runtime::Value;

namespace {

// Returns the converted objects as JSON, or the error.
std::string ConvertedText(const std::string& version, std::string_view answer) {
  runtime::Arena arena;
  const auto objects = apiextensions::ConvertedObjectsOf({.uid = "uid", .version = version},
                                                         ParseConversionJson(answer, arena));
  if (!objects.ok()) return std::string(objects.status().message());
  std::string text;
  for (const Value& object : *objects) text += ConversionJson(object);
  return text;
}

// Returns the content of the accepted object as JSON, or the error.
std::string AcceptedText(std::size_t count, std::string_view converted) {
  runtime::Arena arena;
  const ConversionBatch batch{
      .from = {"example.com", "v1", "Foo"}, .to = {"example.com", "v2"}, .count = count};
  const Value original = ParseConversionJson(
      R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a","uid":"1"},"a":1})",
      arena);
  const auto content = apiextensions::AcceptConverted(batch, count - 1, original,
                                                      ParseConversionJson(converted, arena), arena);
  if (content.ok()) return ConversionJson(*content);
  CHECK(content.status().code() == 500);
  CHECK(content.status().reason() == Reason::kUnknown);
  return std::string(content.status().message());
}

}  // namespace

TEST_CASE("conversion: the first review version that is known is chosen", "[apiextensions]") {
  const auto chosen = [](std::vector<std::string> versions) {
    const auto version = apiextensions::ReviewVersionOf(versions);
    return version.ok() ? *version : std::string(version.status().message());
  };
  CHECK(chosen({"v1", "v1beta1", "v2"}) == "v1");
  CHECK(chosen({"v1beta1", "v1", "v2"}) == "v1beta1");
  CHECK(chosen({"v2", "v1"}) == "v1");
  CHECK(chosen({"vx"}) == "no supported conversion review versions");
  CHECK(chosen({}) == "no supported conversion review versions");
}

TEST_CASE("conversion: a review is sent as upstream encodes it", "[apiextensions]") {
  const std::vector<std::string_view> objects{R"({"a":1})", R"({"b":2})"};
  const auto review =
      apiextensions::NewConversionReview("v1", "uid", {"example.com", "v2"}, objects);
  CHECK(review.uid == "uid");
  CHECK(review.version == "v1");
  CHECK(review.json ==
        R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":)"
        R"({"uid":"uid","desiredAPIVersion":"example.com/v2","objects":[{"a":1},{"b":2}]},)"
        R"("response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}})"
        "\n");
  const auto beta = apiextensions::NewConversionReview("v1beta1", "u\"d", {"", "v2"}, {});
  CHECK(beta.json.starts_with(
      R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1beta1","request":)"
      R"({"uid":"u\"d","desiredAPIVersion":"v2","objects":[]},)"));
}

TEST_CASE("conversion: answers of v1beta1 need neither kind nor uid", "[apiextensions]") {
  CHECK(ConvertedText("v1beta1", R"({"response":{"result":{"status":"Success"}}})").empty());
  CHECK(ConvertedText("v1beta1",
                      R"({"response":{"result":{"status":"Success"},)"
                      R"("convertedObjects":[{"kind":"Widget"}]}})") == R"({"kind":"Widget"})");
  CHECK(ConvertedText("v1beta1", R"({"response":{"result":{}}})") ==
        "response.result.status was '', not 'Success'");
  CHECK(ConvertedText("v1beta1", R"({"response":{"result":{"status":"Failure"}}})") ==
        "response.result.status was 'Failure', not 'Success'");
  CHECK(ConvertedText("v1beta1",
                      R"({"response":{"result":{"status":"Failure",)"
                      R"("message":"some failure message"}}})") == "some failure message");
  CHECK(ConvertedText("v1beta1", "{}") == "no response provided");
  CHECK(ConvertedText("v1beta1", R"({"response":null})") == "no response provided");
}

TEST_CASE("conversion: answers of v1 name their kind and their review", "[apiextensions]") {
  const std::string head = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview",)";
  const std::string wrong_kind =
      "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got ";
  const auto text = [](const std::string& answer) { return ConvertedText("v1", answer); };
  const std::string fine = R"("response":{"uid":"uid","result":{"status":"Success"}}})";

  CHECK(text(head + fine).empty());
  CHECK(text(head + R"("response":{"uid":"uid","result":{"status":"Success"},)"
                    R"("convertedObjects":[{"kind":"Widget"},null]}})") ==
        R"({"kind":"Widget"}null)");
  CHECK(text(head + R"("response":{"result":{"status":"Success"}}})") ==
        R"(expected response.uid="uid", got "")");
  CHECK(text(R"({"kind":"ConversionReview",)" + fine) == wrong_kind + "/, Kind=ConversionReview");
  CHECK(text(R"({"apiVersion":"apiextensions.k8s.io/v1",)" + fine) ==
        wrong_kind + "apiextensions.k8s.io/v1, Kind=");
  CHECK(text(R"({"apiVersion":"apiextensions.k8s.io/v2","kind":"ConversionReview",)" + fine) ==
        wrong_kind + "apiextensions.k8s.io/v2, Kind=ConversionReview");
  CHECK(text(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview2",)" + fine) ==
        wrong_kind + "apiextensions.k8s.io/v1, Kind=ConversionReview2");
  CHECK(text(R"({"apiVersion":"a/b/c","kind":"ConversionReview",)" + fine) ==
        wrong_kind + "/, Kind=ConversionReview");
  CHECK(text(head + R"("response":{"uid":"uid","result":{"status":""}}})") ==
        "response.result.status was '', not 'Success'");
  CHECK(text(head + R"("response":{"uid":"uid","result":{"status":"Failure"}}})") ==
        "response.result.status was 'Failure', not 'Success'");
  CHECK(text(head + R"("response":{"uid":"uid","result":{"status":"Failure",)"
                    R"("message":"some failure message"}}})") == "some failure message");
  CHECK(text(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"})") ==
        "no response provided");
}

TEST_CASE("conversion: members of a wrong type make an answer malformed", "[apiextensions]") {
  const auto text = [](const std::string& response) {
    return ConvertedText("v1beta1", R"({"response":)" + response + "}");
  };
  CHECK(text("[]") ==
        "json: cannot unmarshal array into Go struct field "
        "ConversionReview.response of type v1.ConversionResponse");
  CHECK(text(R"({"convertedObjects":{}})") ==
        "json: cannot unmarshal object into Go struct field "
        "ConversionResponse.response.convertedObjects of type []runtime.RawExtension");
  CHECK(text(R"({"result":"Success"})") ==
        "json: cannot unmarshal string into Go struct field ConversionResponse.response.result of "
        "type v1.Status");
  CHECK(text(R"({"result":{"status":1}})") ==
        "json: cannot unmarshal number into Go struct field Status.response.result.status of type "
        "string");
  // A text of a stranger has an end.
  CHECK(text(R"({"result":{"message":")" + std::string(1 << 20, 'x') + "\"}}").size() < 10'000);
}

TEST_CASE("conversion: a converted object is accepted without its kind", "[apiextensions]") {
  CHECK(AcceptedText(1, R"({"apiVersion":"example.com/v2","kind":"Foo","metadata":{"name":"a",)"
                        R"("uid":"1","labels":{"l":"x"},"generation":7},"b":2})") ==
        R"({"metadata":{"name":"a","uid":"1","labels":{"l":"x"}},"b":2})");
}

TEST_CASE("conversion: a single object that is refused has upstream's words", "[apiextensions]") {
  const std::string head = "conversion webhook for example.com/v1, Kind=Foo returned invalid ";
  const auto with = [](const std::string& members) {
    return AcceptedText(1, R"({"apiVersion":"example.com/v2","kind":"Foo",)" + members + "}");
  };
  CHECK(AcceptedText(1, R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{}})") ==
        head +
            "object at index 0: invalid groupVersion (expected example.com/v2, received "
            "example.com/v1)");
  CHECK(AcceptedText(1, R"({"apiVersion":"example.com/v2","kind":"Bar","metadata":{}})") ==
        head + "object at index 0: invalid kind (expected Foo, received Bar)");
  CHECK(with(R"("metadata":{"name":"b"})") == head + "object: must have the same name: a != b");
  CHECK(with(R"("metadata":{"name":"a","uid":"2"})") ==
        head + "object: must have the same UID: 1 != 2");
  CHECK(with(R"("metadata":{"name":"a","uid":"1","labels":{"x":1}})") ==
        head + "metadata: metadata.labels[x] must be a string, but is int64 in converted object");
  CHECK(AcceptedText(1, R"({"apiVersion":"example.com/v2"})") ==
        R"(Object 'Kind' is missing in '{"apiVersion":"example.com/v2"}')");
  CHECK(AcceptedText(1, R"({"apiVersion":"a/b/c","kind":"Foo"})") ==
        R"(Object 'Kind' is missing in '{"apiVersion":"a/b/c","kind":"Foo"}')");
  CHECK(AcceptedText(1, "null") == "unexpected end of JSON input");
  CHECK(AcceptedText(1, "[]") ==
        "json: cannot unmarshal array into Go value of type map[string]interface {}");
}

TEST_CASE("conversion: an object of a list that is refused is named by its place",
          "[apiextensions]") {
  const std::string head = "conversion webhook for example.com/v1, Kind=Foo returned invalid ";
  CHECK(AcceptedText(3, R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{}})") ==
        head +
            "converted object at index 2: invalid groupVersion (expected example.com/v2, "
            "received example.com/v1)");
  CHECK(AcceptedText(3, R"({"apiVersion":"example.com/v2","kind":"Bar","metadata":{}})") ==
        head + "converted object at index 2: invalid kind (expected Foo, received Bar)");
  CHECK(AcceptedText(3, R"({"apiVersion":"example.com/v2","kind":"Foo","metadata":{}})") ==
        head + "converted object at index 2: must have the same name: a != ");
  CHECK(AcceptedText(3, R"({"apiVersion":"example.com/v2","kind":"Foo","metadata":{"name":"a",)"
                        R"("uid":"1","annotations":[]}})") ==
        head +
            "metadata in object at index 2: invalid metadata.annotations of type []interface "
            "{} in converted object");
  CHECK(AcceptedText(3, "null") ==
        head + "converted object at index 2: unexpected end of JSON input");
}
