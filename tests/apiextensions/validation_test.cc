#include "apiextensions/validation/validation.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiextensions/definitions.h"

namespace {

using namespace apiserver;
using namespace apiextensions_test;
using Texts = std::vector<std::string>;

// A schema, and the errors it has below spec.validation.openAPIV3Schema.
struct SchemaRow {
  const char* schema;
  Texts errors;
};

void CheckRows(const std::vector<SchemaRow>& rows) {
  for (const SchemaRow& row : rows) {
    INFO(row.schema);
    Texts expected;
    for (const std::string& error : row.errors) {
      expected.push_back("spec.validation.openAPIV3Schema" + error);
    }
    std::sort(expected.begin(), expected.end());
    CHECK(ErrorsOf(WithSchema(row.schema)) == expected);
  }
}

// A definition whose parts are given as JSON.
std::string Parts(const std::string& versions, const std::string& more = "") {
  return R"({"metadata":{"name":"as.b.c"},"spec":{"group":"b.c","scope":"Cluster","names":{"plural":
      "as","kind":"A"},"versions":[)" +
         versions + "]" + more + "}}";
}
const std::string kSchema = R"("schema":{"openAPIV3Schema":{"type":"object"}})";
const std::string kOneVersion = R"({"name":"v1","served":true,"storage":true,)" + kSchema + "}";

TEST_CASE("apiextensions: a sound definition has no errors") {
  CHECK(ErrorsOf(Parts(kOneVersion)) == Texts());
  CHECK(UpdateErrorsOf(Parts(kOneVersion), Parts(kOneVersion)) == Texts());
}

TEST_CASE("apiextensions: an empty definition is told everything that it lacks") {
  const Texts errors = ErrorsOf("{}");
  CHECK(errors ==
        Texts{"metadata.name: Required value: name or generateName is required",
              "spec.group: Required value", "spec.names.kind: Required value",
              "spec.names.listKind: Required value", "spec.names.plural: Required value",
              "spec.names.singular: Required value", "spec.scope: Required value",
              "spec.versions: Invalid value: null: must have exactly one version marked as storage "
              "version",
              "status.storedVersions: Invalid value: null: must have at least one stored version"});
}

TEST_CASE("apiextensions: what all versions have in common is named at the top") {
  const std::string bad =
      R"("additionalPrinterColumns":[{"name":"n","type":"odd","jsonPath":"x"}],"subresources":
         {"scale":{"specReplicasPath":".a","statusReplicasPath":""}})";
  const std::string v1 =
      R"({"name":"v1","served":true,"storage":true,)" + kSchema + "," + bad + "}";
  const std::string v2 = R"({"name":"v2","served":true,)" + kSchema + "," + bad + "}";
  const std::string v3 = R"({"name":"v3","served":true,)" + kSchema + "}";
  const Texts at_top = {
      "spec.additionalPrinterColumns[0].JSONPath: Invalid value: \"x\": must be a simple json path "
      "starting with .",
      "spec.additionalPrinterColumns[0].type: Invalid value: \"odd\": must be one of "
      "boolean,date,integer,number,string",
      "spec.subresources.scale.specReplicasPath: Invalid value: \".a\": should be a json path "
      "under "
      ".spec",
      "spec.subresources.scale.statusReplicasPath: Required value"};
  CHECK(ErrorsOf(Parts(v1)) == at_top);
  CHECK(ErrorsOf(Parts(v1 + "," + v2)) == at_top);
  const Texts apart = ErrorsOf(Parts(v1 + "," + v3));
  REQUIRE(apart.size() == 4);
  CHECK(apart[0].starts_with("spec.versions[0].additionalPrinterColumns[0].JSONPath: "));
  CHECK(apart[3] == "spec.versions[0].subresources.scale.statusReplicasPath: Required value");
}

TEST_CASE("apiextensions: versions are printed as Go's internal type") {
  const Texts errors = ErrorsOf(Parts(R"({"name":"v1","served":true,)" + kSchema + "}"));
  REQUIRE(errors.size() == 2);
  CHECK(
      errors[0] ==
      R"(spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,)"
      R"("Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,)"
      R"("AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version )"
      "marked as storage version");
}

TEST_CASE("apiextensions: a conversion is checked as the internal type has it") {
  const auto conversion = [](const std::string& json) {
    return ErrorsOf(Parts(kOneVersion, ",\"conversion\":" + json));
  };
  CHECK(conversion(R"({"strategy":"Odd"})") ==
        Texts{"spec.conversion.strategy: Unsupported value: \"Odd\": supported values: \"None\", "
              "\"Webhook\""});
  CHECK(conversion(R"({"strategy":"Webhook"})") ==
        Texts{"spec.conversion.conversionReviewVersions: Required value",
              "spec.conversion.webhookClientConfig: Required value: required when strategy is set "
              "to Webhook"});
  CHECK(conversion(R"({"strategy":"Webhook","webhook":{"conversionReviewVersions":["v3","v3","V"],
        "clientConfig":{"service":{"name":"","namespace":"n","port":0}}}})")
            .size() == 5);
  CHECK(
      conversion(R"({"strategy":"None","webhook":{"conversionReviewVersions":["v1"],
        "clientConfig":{"url":"https://a.b"}}})") ==
      Texts{"spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy "
            "is not set to Webhook",
            "spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is "
            "not set to Webhook"});
}

TEST_CASE("apiextensions: schemas may not say what is no part of a structural schema") {
  CheckRows({
      {R"({"type":"object","$ref":"#/a","id":"i"})",
       {".$ref: Forbidden: $ref is not supported", ".id: Forbidden: id is not supported"}},
      {R"({"type":"object","properties":{"a":{"$ref":"#/properties/a"}}})",
       {".properties[a].$ref: Forbidden: $ref is not supported"}},
      {R"({"type":"object","$schema":"s"})",
       {": Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"}},
      {R"({"type":"object","properties":{"a":{"type":"strin"}}})",
       {".properties[a].type: Unsupported value: \"strin\": supported values: \"array\", "
        "\"boolean\", \"integer\", \"number\", \"object\", \"string\""}},
      {R"({"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}]}}})",
       {".properties[a].items: Forbidden: items must be a schema object and not an array"}},
      {R"({"type":"object","nullable":true})",
       {".nullable: Forbidden: nullable cannot be true at the root"}},
      {R"({"type":"object","properties":{"a":{"type":"string","pattern":"("}}})",
       {".properties[a].pattern: Invalid value: \"(\": must be a valid regular expression, but "
        "isn't: error parsing regexp: missing closing ): `(`"}},
      {R"({"type":"array"})",
       {".items: Required value: must be specified",
        ".type: Invalid value: \"array\": must be object at the root"}},
      {R"({"type":"object","properties":{"a":{"items":{}}}})",
       {".properties[a].items.type: Required value: must not be empty for specified array items",
        ".properties[a].type: Required value: must not be empty for specified object fields"}},
      {R"({"type":"object","anyOf":[{"properties":{"a":{"title":"t"}}}]})",
       {".anyOf[0].properties[a].title: Forbidden: must be empty to be structural",
        ".properties[a]: Required value: because it is defined in "
        "spec.validation.openAPIV3Schema.anyOf[0].properties[a]"}},
  });
}

TEST_CASE("apiextensions: int-or-string may spell out its types, and nothing else") {
  CheckRows({{R"({"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true,
                 "anyOf":[{"type":"integer"},{"type":"string"}]}}})",
              {}},
             {R"({"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true,
                 "allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]},{"minimum":1}]}}})",
              {}},
             {R"({"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true,
                 "anyOf":[{"type":"string"},{"type":"integer"}]}}})",
              {".properties[a].anyOf[0].type: Forbidden: must be empty to be structural",
               ".properties[a].anyOf[1].type: Forbidden: must be empty to be structural"}}});
}

TEST_CASE("apiextensions: rules compile, and cost no more than allowed") {
  CheckRows(
      {{R"({"type":"object","properties":{"a":{"type":"string","x-kubernetes-validations":
           [{"rule":"self == 'x'"}]}}})",
        {}},
       {R"({"type":"object","properties":{"a":{"type":"string","x-kubernetes-validations":
           [{"rule":""},{"rule":"x","message":" ","reason":"Odd"}]}}})",
        {".properties[a].x-kubernetes-validations[0].rule: Required value: rule is not specified",
         ".properties[a].x-kubernetes-validations[1].message: Invalid value: \" \": must be "
         "non-empty if specified",
         ".properties[a].x-kubernetes-validations[1].reason: Unsupported value: \"Odd\": supported "
         "values: \"FieldValueDuplicate\", \"FieldValueForbidden\", \"FieldValueInvalid\", "
         "\"FieldValueRequired\""}},
       {R"({"type":"object","properties":{"a":{"type":"integer","x-kubernetes-validations":
           [{"rule":"self + 1"}]},"b":{"type":"odd"}}})",
        {".properties[b].type: Unsupported value: \"odd\": supported values: \"array\", "
         "\"boolean\", \"integer\", \"number\", \"object\", \"string\""}}});
}

TEST_CASE("apiextensions: default values are valid by the schemas that they stand in") {
  CheckRows(
      {{R"({"type":"object","properties":{"a":{"type":"string","enum":["a"],"default":"b"},
           "b":{"type":"object","properties":{"c":{"type":"integer"}},"default":{"c":"x"}},
           "d":{"type":"object","default":{"e":1}},
           "f":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"default":{"e":1}},
           "g":{"type":"integer","default":3,"x-kubernetes-validations":[{"rule":"self < 3"}]}}})",
        {".properties[a].default: Unsupported value: \"b\": supported values: \"a\"",
         ".properties[b].default.c: Invalid value: \"string\": c in body must be of type integer: "
         "\"string\"",
         ".properties[d].default: Invalid value: {\"e\":1}: must not have unknown fields",
         ".properties[g].default: Invalid value: 3: failed rule: self < 3"}}});
}

TEST_CASE("apiextensions: an update may keep faults that it did not bring") {
  const std::string set = WithSchema(
      R"({"type":"object","properties":{"a":{"type":"array","x-kubernetes-list-type":"set",
          "items":{"type":"object"}}}})");
  CHECK(ErrorsOf(set) ==
        Texts{"spec.validation.openAPIV3Schema.properties[a].items.x-kubernetes-map-type: Invalid "
              "value: null: must be atomic as item of a list with x-kubernetes-list-type=set"});
  CHECK(UpdateErrorsOf(set, set) == Texts());
  const std::string keys = WithSchema(
      R"({"type":"object","properties":{"a":{"type":"array","x-kubernetes-list-type":"map",
          "x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":
          {"k":{"type":"string","nullable":true}}}}}})");
  CHECK(ErrorsOf(keys).size() == 2);
  CHECK(UpdateErrorsOf(keys, keys) == Texts());
}

TEST_CASE("apiextensions: what identifies the resource does not change") {
  const std::string old = Parts(kOneVersion);
  std::string next = old;
  next.replace(next.find(R"("as","kind")"), 4, "\"bs\"");
  const Texts errors = UpdateErrorsOf(next, old);
  REQUIRE_FALSE(errors.empty());
  CHECK(errors.back() == "spec.names.plural: Invalid value: \"bs\": field is immutable");
}

TEST_CASE("apiextensions: schemas of strangers take linear time") {
  std::string wide = R"({"type":"object","allOf":[{})";
  for (int i = 0; i < 200'000; ++i) wide += ",{}";
  CHECK(ErrorsOf(WithSchema(wide + "]}")) == Texts());

  std::string bad = R"({"type":"object","anyOf":[{})";
  for (int i = 0; i < 100'000; ++i) bad += R"(,{"type":"x"})";
  CHECK(ErrorsOf(WithSchema(bad + "]}")).size() == field::kErrorsMax);

  std::string deep;
  for (int i = 0; i < 3000; ++i) deep += R"({"type":"object","properties":{"a":)";
  deep += R"({"type":"object"})";
  for (int i = 0; i < 3000; ++i) deep += "}}";
  CHECK(ErrorsOf(WithSchema(deep)) ==
        Texts{"spec.validation.openAPIV3Schema: Forbidden: must not be nested deeper than 200 "
              "schemas"});

  std::string keys = R"({"type":"object","properties":{"a":{"type":"array",
      "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k")";
  for (int i = 0; i < 100'000; ++i) keys += ",\"k\"";
  keys += R"(],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}}}})";
  CHECK(ErrorsOf(WithSchema(keys)).size() < field::kErrorsMax);
}

TEST_CASE("apiextensions: many versions take linear time") {
  std::string versions = kOneVersion;
  for (int i = 0; i < 20'000; ++i) versions += R"(,{"name":"v1"})";
  CHECK_FALSE(UpdateErrorsOf(Parts(versions), Parts(versions)).empty());
}

}  // namespace
