#include "apiserver/codec/schema_loader.h"

#include "apiserver/codec/yaml.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::codec {
namespace {

using runtime::Field;
using runtime::SchemaPtr;
using runtime::SchemaType;

constexpr std::string_view kWidgetCrd = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema: {openAPIV3Schema: {type: object}}
  - name: v1
    served: true
    storage: true
    selectableFields: [{jsonPath: .spec.size}]
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec:
            type: object
            description: What it should be.
            required: [size]
            properties:
              size: {type: integer, format: int32, minimum: 1, maximum: 9, exclusiveMaximum: true}
              mode: {type: string, enum: [a, b], default: a, maxLength: 3, pattern: '^[ab]$'}
              when: {type: string, format: date-time, nullable: true}
              port: {x-kubernetes-int-or-string: true}
              free: {x-kubernetes-preserve-unknown-fields: true}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true}
              labels: {type: object, additionalProperties: {type: string}}
              tags: {type: array, items: {type: string}, x-kubernetes-list-type: set, maxItems: 4}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, properties: {name: {type: string}}}
              embedded: {type: object, x-kubernetes-embedded-resource: true}
              ref: {type: object, x-kubernetes-map-type: atomic, properties: {a: {type: number}}}
)";

TEST_CASE("codec: a CustomResourceDefinition makes a kind", "[codec]") {
  const auto options = KindOptionsFromCrd(kWidgetCrd);
  REQUIRE(options.ok());

  const auto kind = runtime::Kind::New(*options);

  REQUIRE(kind.ok());
  CHECK((*kind)->plural() == "widgets");
  CHECK((*kind)->list_kind() == "WidgetList");
  CHECK((*kind)->short_names() == std::vector<std::string>{"wd"});
  CHECK((*kind)->namespaced());
  CHECK((*kind)->semantics() == runtime::Semantics::kCustomResource);
  CHECK((*kind)->hub_version() == "v1");
  CHECK((*kind)->storage_version() == "v1");
  CHECK((*kind)->selectable_fields() == std::vector<std::string>{"spec.size"});
  CHECK((*kind)->versions()[0].deprecation_warning == "example.com/v1beta1 Widget is deprecated");
  REQUIRE((*kind)->versions()[1].columns.size() == 1);
  CHECK((*kind)->versions()[1].columns[0].json_path == ".spec.size");
  CHECK((*kind)->versions()[1].columns[0].priority == 1);
}

TEST_CASE("codec: schemas keep types, bounds and Kubernetes' extensions", "[codec]") {
  const auto options = KindOptionsFromCrd(kWidgetCrd);
  REQUIRE(options.ok());
  const runtime::Schema& root = *options->versions[1].schema;
  REQUIRE(root.fields().size() == 2);
  CHECK(root.fields()[0].name() == "metadata");
  CHECK(root.fields()[0].schema == runtime::ObjectMetaSchema());
  CHECK(root.fields()[1].required);
  CHECK(root.DescriptionOf(root.fields()[1]) == "What it should be.");
  const runtime::Schema& spec = *root.fields()[1].schema;
  const auto at = [&](std::string_view name) -> const Field& { return *spec.FindField(name); };

  CHECK(at("size").required);
  CHECK(at("size").schema->bits == 32);
  CHECK(at("size").schema->constraints().minimum() == 1);
  CHECK(at("size").schema->constraints().exclusive_maximum());
  CHECK(at("mode").default_value()->AsString() == "a");
  CHECK(at("mode").schema->constraints().enum_values().size() == 2);
  CHECK(at("mode").schema->constraints().max_length() == 3);
  CHECK(at("mode").schema->constraints().pattern() == "^[ab]$");
  CHECK(at("when").schema->type == SchemaType::kString);
  CHECK(at("when").schema->nullable);
  CHECK(at("when").schema->constraints().format() == "date-time");
  CHECK(at("port").schema->type == SchemaType::kIntOrString);
  CHECK(at("free").schema->type == SchemaType::kAny);
  CHECK(at("open").schema->type == SchemaType::kStruct);
  CHECK(at("open").schema->preserve_unknown_fields);
  CHECK(at("labels").schema->type == SchemaType::kMap);
  CHECK(at("labels").schema->items()->type == SchemaType::kString);
  CHECK(at("tags").schema->list_type == runtime::Schema::ListType::kSet);
  CHECK(at("tags").schema->constraints().max_items() == 4);
  CHECK(at("parts").schema->list_map_keys() == std::vector<std::string_view>{"name"});
  CHECK(at("embedded").schema->embedded_resource);
  CHECK(at("ref").schema->atomic);
  CHECK(at("ref").schema->fields()[0].schema->type == SchemaType::kNumber);
}

TEST_CASE("codec: a schema that is not structural is refused with the culprit's path", "[codec]") {
  const auto message = [](std::string_view text) {
    const auto schema = SchemaFromText(text);
    return schema.ok() ? "" : std::string(schema.status().message());
  };
  CHECK(message("{type: object, properties: {a: {}}}") == "a: must have a type");
  CHECK(message("{type: object, properties: {a: {type: array}}}") == "a: an array must have items");
  CHECK(message("{type: object, properties: {a: {$ref: x}}}") ==
        "a: $ref is not allowed in a structural schema");
  CHECK(message("{type: object, properties: {a: {type: object, properties: {b: {type: file}}}}}") ==
        "a.b: unknown type \"file\"");
  CHECK(message("{type: object, properties: {}, additionalProperties: {type: string}}").empty());
  CHECK(message("{type: object, properties: {a: {type: string}}, "
                "additionalProperties: {type: string}}") ==
        "the schema: properties and additionalProperties are mutually exclusive");
  CHECK(message("[]") == "the schema: must be an object");
}

TEST_CASE("codec: a schema keeps its junctors", "[codec]") {
  const auto schema = SchemaFromText(R"({type: object, properties: {
      p: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]},
      l: {type: array, items: {type: string, default: x, title: Word}}},
    allOf: [{required: [p, q]}, {properties: {p: {minimum: 1}}}],
    oneOf: [{not: {required: [l]}}, {properties: {l: {items: {maxLength: 2}, minItems: 3}}}],
    not: {maxProperties: 0}})");
  REQUIRE(schema.ok());
  const runtime::Schema& root = **schema;
  CHECK(root.has_junctors());
  CHECK(root.limits_values);
  REQUIRE(root.all_of().size() == 2);
  CHECK(root.all_of()[0]->type == SchemaType::kAny);
  CHECK(root.all_of()[0]->required_names() == std::vector<std::string_view>{"p", "q"});
  CHECK(root.all_of()[1]->FindField("p")->schema->constraints().minimum() == 1);
  CHECK(root.any_of().empty());
  REQUIRE(root.one_of().size() == 2);
  CHECK(root.one_of()[0]->not_of()->required_names().size() == 1);
  const runtime::Schema& list = *root.one_of()[1]->FindField("l")->schema;
  CHECK(list.items()->constraints().max_length() == 2);
  CHECK(list.constraints().min_items() == 3);
  CHECK(root.not_of()->constraints().max_properties() == 0);
  const runtime::Schema& port = *root.FindField("p")->schema;
  REQUIRE(port.any_of().size() == 2);
  CHECK(port.any_of()[0]->type == SchemaType::kInteger);
  CHECK(port.any_of()[1]->type == SchemaType::kString);
  const runtime::Schema& items = *root.FindField("l")->schema->items();
  REQUIRE(items.default_value() != nullptr);
  CHECK(items.default_value()->AsString() == "x");
  CHECK(items.title() == "Word");
  CHECK(items.has_defaults);
  CHECK(root.has_defaults);
}

TEST_CASE("codec: additionalProperties stand beside properties as Kubernetes takes them",
          "[codec]") {
  const auto schema = SchemaFromText(R"({type: object, properties: {
      open: {type: object, properties: {a: {type: string}}, additionalProperties: true,
             required: [a, b]},
      shut: {type: object, additionalProperties: false},
      any: {type: object, additionalProperties: true, required: [c]},
      free: {x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}},
             items: {type: integer}, additionalProperties: {type: boolean, default: true}}}})");
  REQUIRE(schema.ok());
  const auto at = [&](std::string_view name) -> const runtime::Schema& {
    return *(*schema)->FindField(name)->schema;
  };
  CHECK(at("open").type == SchemaType::kStruct);
  CHECK(at("open").members() == runtime::AnySchema());
  CHECK(at("open").FindField("a")->required);
  CHECK(at("open").required_names() == std::vector<std::string_view>{"b"});
  CHECK_FALSE(at("open").closed());
  CHECK(at("shut").type == SchemaType::kMap);
  CHECK(at("shut").closed());
  CHECK(at("any").items() == runtime::AnySchema());
  CHECK(at("any").required_names() == std::vector<std::string_view>{"c"});
  CHECK(at("free").type == SchemaType::kAny);
  CHECK(at("free").FindField("a") != nullptr);
  CHECK(at("free").items()->type == SchemaType::kInteger);
  CHECK(at("free").members()->default_value()->AsBool());
  CHECK(at("free").MemoryBytes() > sizeof(runtime::Schema));
}

TEST_CASE("codec: a root schema keeps what it says about names", "[codec]") {
  runtime::Arena arena;
  const auto root = [&arena](std::string_view metadata) {
    const std::string text =
        "{type: object, properties: {metadata: {type: object" + std::string(metadata) + "}}}";
    return RootSchemaFromOpenApi(ParseYaml(text, arena).value()).value();
  };
  CHECK(root("")->fields()[0].schema == runtime::ObjectMetaSchema());
  const SchemaPtr named = root(", properties: {name: {type: string, maxLength: 3}}");
  const runtime::Schema& metadata = *named->fields()[0].schema;
  CHECK(metadata.FindField("name")->schema->constraints().max_length() == 3);
  CHECK(metadata.FindField("labels")->schema ==
        runtime::ObjectMetaSchema()->FindField("labels")->schema);
}

TEST_CASE("codec: a schema keeps its rules in CEL", "[codec]") {
  const auto schema = SchemaFromText(R"({type: object, x-kubernetes-validations: [
      {rule: self.a > 0, message: too small, reason: FieldValueForbidden, fieldPath: .a},
      {rule: self == oldSelf, messageExpression: "'x'", optionalOldSelf: true, unknown: 1}],
    properties: {a: {type: integer}, b: {type: array, items: {type: string,
      x-kubernetes-validations: [{rule: self != ''}]}}}})");
  REQUIRE(schema.ok());
  const std::vector<runtime::ValidationRule> rules = (*schema)->rules();
  REQUIRE(rules.size() == 2);
  CHECK(rules[0] == runtime::ValidationRule{.rule = "self.a > 0",
                                            .message = "too small",
                                            .reason = "FieldValueForbidden",
                                            .field_path = ".a"});
  CHECK(rules[1] == runtime::ValidationRule{.rule = "self == oldSelf",
                                            .message = "",
                                            .message_expression = "'x'",
                                            .optional_old_self = true});
  const Field& list = *(*schema)->FindField("b");
  CHECK(list.schema->rules().empty());
  CHECK(list.schema->items()->rules()[0].rule == "self != ''");
}

TEST_CASE("codec: rules that a schema cannot have are refused", "[codec]") {
  const auto message = [](std::string_view text) {
    const auto schema = SchemaFromText(text);
    return schema.ok() ? "" : std::string(schema.status().message());
  };
  CHECK(message("{type: string, x-kubernetes-validations: {rule: a}}") ==
        "the schema: x-kubernetes-validations must be an array");
  CHECK(message("{type: object, properties: {a: {type: string, "
                "x-kubernetes-validations: [1]}}}") ==
        "a: x-kubernetes-validations must hold objects");
  CHECK(message("{type: string, x-kubernetes-validations: [{rule: 1}]}") ==
        "the schema: x-kubernetes-validations: rule must be a string");
  CHECK(message("{type: string, x-kubernetes-validations: [{rule: a, optionalOldSelf: 1}]}") ==
        "the schema: x-kubernetes-validations: optionalOldSelf must be a boolean");
  // A rule there would never run.
  for (const std::string_view nested :
       {"allOf: [{}, {x-kubernetes-validations: [{rule: a}]}]",
        "anyOf: [{items: {x-kubernetes-validations: [{rule: a}]}}]",
        "oneOf: [{properties: {b: {not: {x-kubernetes-validations: [{rule: a}]}}}}]",
        "not: {additionalProperties: {x-kubernetes-validations: [{rule: a}]}}"}) {
    INFO(nested);
    CHECK(message("{type: object, properties: {a: {type: string, " + std::string(nested) + "}}}") ==
          "a: x-kubernetes-validations within allOf, anyOf, oneOf or not must be empty to be "
          "structural");
  }
  CHECK(message("{type: string, allOf: [{properties: {x-kubernetes-validations: {}}}]}").empty());
}

TEST_CASE("codec: a schema nested without end is refused", "[codec]") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "{type: array, items: ";
  text += "{type: string}" + std::string(1000, '}');
  CHECK(SchemaFromText(text).status().reason() == Reason::kInvalid);
}

}  // namespace
}  // namespace apiserver::inline v0::codec
