// What a conversion webhook may change of metadata: TestRestoreObjectMeta of
// apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter_test.go, and the errors'
// texts.
#include "apiextensions/convert/metadata_guard.h"

#include <catch2/catch.hpp>
#include <string>

#include "conversion_json.h"

using namespace apiserver;           // NOLINT: tests only.
using namespace apiserver::testing;  // NOLINT: tests only.
using runtime::Value;

namespace {

// Returns the metadata as JSON, or the error.
std::string RestoredText(std::string_view original, std::string_view converted) {
  runtime::Arena arena;
  const auto restored = apiextensions::RestoredMetadata(
      ParseConversionJson(original, arena), ParseConversionJson(converted, arena), arena);
  return restored.ok() ? ConversionJson(*restored) : std::string(restored.status().message());
}

std::string SameText(std::string_view original, std::string_view converted) {
  runtime::Arena arena;
  return std::string(apiextensions::CheckSameObject(ParseConversionJson(original, arena),
                                                    ParseConversionJson(converted, arena))
                         .message());
}

}  // namespace

TEST_CASE("conversion: labels and annotations are the webhook's, all else is restored",
          "[apiextensions]") {
  struct Row {
    const char* name;
    const char* original;
    const char* converted;
    const char* restored;
  };
  const Row rows[] = {
      {"no original metadata", R"({"spec":{}})", R"({"metadata":{},"spec":{}})", "{}"},
      {"changed label, annotations and non-label",
       R"({"metadata":{"foo":"bar","labels":{"a":"A","b":"B"},"annotations":{"a":"1","b":"2"}}})",
       R"({"metadata":{"foo":"abc","labels":{"a":"AA","b":"B"},"annotations":{"a":"1","b":"22"}}})",
       R"({"foo":"bar","labels":{"a":"AA","b":"B"},"annotations":{"a":"1","b":"22"}})"},
      {"added labels and annotations", R"({"metadata":{"foo":"bar"}})",
       R"({"metadata":{"foo":"abc","labels":{"a":"AA","b":"B"},"annotations":{"a":"1","b":"22"}}})",
       R"({"foo":"bar","labels":{"a":"AA","b":"B"},"annotations":{"a":"1","b":"22"}})"},
      {"added labels and annotations, with nil before",
       R"({"metadata":{"foo":"bar","labels":null,"annotations":null}})",
       R"({"metadata":{"foo":"abc","labels":{"a":"AA","b":"B"},"annotations":{"a":"1","b":"22"}}})",
       R"({"foo":"bar","labels":{"a":"AA","b":"B"},"annotations":{"a":"1","b":"22"}})"},
      {"removed labels and annotations",
       R"({"metadata":{"foo":"bar","labels":{"a":"A","b":"B"},"annotations":{"a":"1","b":"2"}}})",
       R"({"metadata":{"foo":"abc"}})", R"({"foo":"bar"})"},
      {"nil'ed labels and annotations",
       R"({"metadata":{"foo":"bar","labels":{"a":"A","b":"B"},"annotations":{"a":"1","b":"2"}}})",
       R"({"metadata":{"foo":"abc","labels":null,"annotations":null}})", R"({"foo":"bar"})"},
      {"other metadata is dropped", R"({"metadata":{"name":"x","generation":3}})",
       R"({"metadata":{"name":"x","generation":42,"garbage":"foo","finalizers":["foo"],)"
       R"("resourceVersion":"42"}})",
       R"({"name":"x","generation":3})"},
      {"unchanged labels are not judged", R"({"metadata":{"labels":{"a/b/c":"x"}}})",
       R"({"metadata":{"labels":{"a/b/c":"x"}}})", R"({"labels":{"a/b/c":"x"}})"},
      {"empty labels are no change", R"({"metadata":{}})", R"({"metadata":{"labels":{}}})",
       R"({"labels":{}})"}};
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(RestoredText(row.original, row.converted) == row.restored);
  }
}

TEST_CASE("conversion: malformed metadata is refused in upstream's words", "[apiextensions]") {
  struct Row {
    const char* name;
    const char* original;
    const char* converted;
    const char* error;
  };
  const Row rows[] = {
      {"no converted metadata", R"({"metadata":{}})", R"({"spec":{}})",
       "missing metadata in converted object"},
      {"invalid converted metadata", R"({"metadata":{}})", R"({"metadata":["foo"]})",
       "invalid metadata of type []interface {} in converted object"},
      {"null metadata", R"({"metadata":{}})", R"({"metadata":null})",
       "invalid metadata of type <nil> in converted object"},
      {"invalid original metadata", R"({"metadata":["foo"]})", R"({"metadata":{}})",
       "invalid metadata of type []interface {} in input object"},
      {"labels that are no map", R"({"metadata":{}})", R"({"metadata":{"labels":"x"}})",
       "invalid metadata.labels of type string in converted object"},
      {"annotations that are a number", R"({"metadata":{}})", R"({"metadata":{"annotations":1}})",
       "invalid metadata.annotations of type int64 in converted object"},
      {"original labels that are no map", R"({"metadata":{"labels":true}})",
       R"({"metadata":{"labels":{}}})", "invalid metadata.labels of type bool in original object"},
      {"nil values", R"({"metadata":{"foo":"bar"}})", R"({"metadata":{"labels":{"a":null}}})",
       "metadata.labels[a] must be a string, but is <nil> in converted object"},
      {"a number as value", R"({"metadata":{}})", R"({"metadata":{"annotations":{"a":1.5}}})",
       "metadata.annotations[a] must be a string, but is float64 in converted object"},
      {"an object as value", R"({"metadata":{}})", R"({"metadata":{"labels":{"a":{}}}})",
       "metadata.labels[a] must be a string, but is map[string]interface {} in converted object"},
      {"invalid label value", R"({"metadata":{}})", R"({"metadata":{"labels":{"foo":"a b"}}})",
       "metadata.labels: Invalid value: \"a b\": a valid label must be an empty string or consist "
       "of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
       "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
       "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"}};
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(RestoredText(row.original, row.converted) == row.error);
  }
}

TEST_CASE("conversion: changed labels and annotations are validated", "[apiextensions]") {
  const auto refused = [](const std::string& converted, const char* path) {
    return RestoredText(R"({"metadata":{}})", converted).starts_with(path);
  };
  CHECK(refused(R"({"metadata":{"labels":{"some/non-qualified/label":"x"}}})",
                "metadata.labels: Invalid value: \"some/non-qualified/label\""));
  CHECK(refused(R"({"metadata":{"annotations":{"some/non-qualified/label":"x"}}})",
                "metadata.annotation: Invalid value: \"some/non-qualified/label\""));
  CHECK(refused(R"({"metadata":{"labels":{"foo":")" + std::string(64, 'x') + "\"}}}",
                "metadata.labels: Invalid value"));
  CHECK(refused(
      R"({"metadata":{"annotations":{"foo":")" + std::string((256 << 10) + 1, 'x') + "\"}}}",
      "metadata.annotation: Too long"));
  CHECK(refused(R"({"metadata":{"labels":{"foo":"üäö"}}})", "metadata.labels: Invalid value"));
}

TEST_CASE("conversion: an object stays itself", "[apiextensions]") {
  const std::string original =
      R"({"kind":"Foo","metadata":{"name":"a","namespace":"n","uid":"1"}})";
  CHECK(SameText(original, original).empty());
  CHECK(SameText(original, R"({"kind":"Bar","metadata":{"name":"a","namespace":"n","uid":"1"}})") ==
        "must have the same kind: Foo != Bar");
  CHECK(SameText(original, R"({"kind":"Foo","metadata":{"name":"b","namespace":"n","uid":"1"}})") ==
        "must have the same name: a != b");
  CHECK(SameText(original, R"({"kind":"Foo","metadata":{"name":"a","uid":"1"}})") ==
        "must have the same namespace: n != ");
  CHECK(SameText(original, R"({"kind":"Foo","metadata":{"name":"a","namespace":"n","uid":2}})") ==
        "must have the same UID: 1 != ");
  // A text of a stranger has an end.
  CHECK(SameText(original,
                 R"({"kind":"Foo","metadata":{"name":")" + std::string(1 << 20, 'x') + "\"}}")
            .size() < 20'000);
}
