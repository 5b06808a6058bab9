#include "apiserver/codec/crd.h"

#include <catch2/catch.hpp>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apiserver/codec/schema_loader.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::codec {
namespace {

using runtime::FieldParts;
using runtime::KindOptions;
using runtime::KindVersion;
using runtime::OwnedValue;
using runtime::Schema;
using runtime::SchemaParts;
using runtime::SchemaPool;
using runtime::SchemaPtr;
using runtime::SchemaType;

constexpr std::string_view kCrd = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: pets.zoo.example.com
spec:
  group: zoo.example.com
  names:
    kind: Pet
    listKind: PetList
    plural: pets
    shortNames:
    - pt
    singular: pet
  scope: Namespaced
  versions:
  - additionalPrinterColumns:
    - jsonPath: .spec.species
      name: Species
      type: string
    name: v1
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              replicas:
                default: 1
                format: int32
                minimum: 1
                type: integer
              species:
                enum:
                - cat
                - dog
                type: string
                x-kubernetes-validations:
                - optionalOldSelf: true
                  rule: oldSelf.orValue(self) == self
            required:
            - species
            type: object
            x-kubernetes-validations:
            - fieldPath: .replicas
              message: one dog
              messageExpression: '''one '' + self.species'
              reason: FieldValueForbidden
              rule: self.species != 'dog' || self.replicas == 1
          status:
            properties:
              mood:
                type: string
            type: object
        type: object
    selectableFields:
    - jsonPath: .spec.species
    served: true
    storage: true
    subresources:
      scale:
        specReplicasPath: .spec.replicas
        statusReplicasPath: .status.replicas
      status: {}
  - deprecated: true
    deprecationWarning: use v1
    name: v1beta1
    schema:
      openAPIV3Schema:
        type: object
    served: false
    storage: false
)";

TEST_CASE("codec: a CustomResourceDefinition is read with its subresources", "[codec]") {
  const auto options = KindOptionsFromCrd(kCrd);
  REQUIRE(options.ok());
  const KindVersion& v1 = options->versions[0];
  CHECK(v1.status_subresource == true);
  CHECK(v1.scale == runtime::ScalePaths{});
  CHECK(options->versions[1].status_subresource == false);
  CHECK_FALSE(options->versions[1].scale.has_value());
  // The schema has a status, but nothing says that it is a subresource.
  std::string without(kCrd);
  without.erase(without.find("      status: {}\n"), 17);
  CHECK(KindOptionsFromCrd(without)->versions[0].status_subresource == false);
}

TEST_CASE("codec: a kind is written as the CustomResourceDefinition it was read from", "[codec]") {
  const auto kind = runtime::Kind::New(KindOptionsFromCrd(kCrd).value());
  REQUIRE(kind.ok());

  CHECK(CrdFromKind(**kind).value() == kCrd);
}

TEST_CASE("codec: what only a Go type has is written as JSON shows it", "[codec]") {
  const SchemaPtr inner = runtime::StructBuilder("")
                              .Field("deep", runtime::BooleanSchema(), {.required = true})
                              .Build();
  const SchemaPtr schema = runtime::StructBuilder("Types")
                               .Field("time", runtime::TimeSchema(), {.description = "When."})
                               .Field("amount", runtime::QuantitySchema())
                               .Field("data", runtime::BytesSchema())
                               .Field("raw", runtime::RawExtensionSchema())
                               .Field("", inner, {.inlined = true})
                               .Field("any", runtime::MapOf(runtime::AnySchema()))
                               .Build();
  runtime::Arena arena;
  std::string text;
  AppendYaml(OpenApiFromSchema(*schema, arena).value(), text);
  CHECK(text == R"(properties:
  amount:
    x-kubernetes-int-or-string: true
  any:
    additionalProperties: true
    type: object
  data:
    format: byte
    type: string
  deep:
    type: boolean
  raw:
    type: object
    x-kubernetes-preserve-unknown-fields: true
  time:
    description: When.
    format: date-time
    type: string
required:
- deep
type: object
)");
}

TEST_CASE("codec: a kind that a CustomResourceDefinition cannot describe is refused", "[codec]") {
  const auto refused = [](auto change) {
    const SchemaPtr schema = runtime::StructBuilder("")
                                 .Field("metadata", runtime::ObjectMetaSchema())
                                 .Field("a", runtime::StringSchema())
                                 .Build();
    KindOptions options{.group = "example.com", .kind = "Widget", .plural = "widgets"};
    options.versions = {{.version = "v1", .schema = schema}, {.version = "v2", .schema = schema}};
    change(options);
    const auto kind = runtime::Kind::New(std::move(options));
    if (!kind.ok()) return kind.status().ToString();
    return std::string(CrdFromKind(**kind).status().message());
  };
  CHECK(refused([](KindOptions&) {}).empty());
  CHECK(refused([](KindOptions& options) { options.group = ""; }) ==
        "widgets: a custom resource has a group");
  CHECK(refused([](KindOptions& options) {
          options.versions[1].to_hub = [](runtime::Object&) { return Status(); };
          options.versions[1].from_hub = options.versions[1].to_hub;
        }) == "widgets.example.com, version v2: is converted by code");
  CHECK(refused([](KindOptions& options) {
          options.versions[0].set_defaults = [](runtime::Object&) {};
        }) == "widgets.example.com, version v1: has defaults that code sets");
  CHECK(refused([](KindOptions& options) {
          options.versions[1].schema = runtime::StructBuilder("")
                                           .Field("metadata", runtime::ObjectMetaSchema())
                                           .Field("b", runtime::StringSchema())
                                           .Build();
          options.versions[1].conversions = {{"b", "a"}};
        }) == "widgets.example.com, version v2: has fields of other names");
  CHECK(refused([](KindOptions& options) { options.versions[1].schema = runtime::AnySchema(); }) ==
        "widgets.example.com, version v2: is no object");
}

TEST_CASE("codec: what a CustomResourceDefinition can say of a kind is written", "[codec]") {
  const auto schema_with = [](const char* field) {
    return runtime::StructBuilder("")
        .Field("metadata", runtime::ObjectMetaSchema())
        .Field(field, runtime::StringSchema())
        .Build();
  };
  KindOptions options{.group = "example.com", .kind = "Widget", .plural = "widgets"};
  options.versions = {{.version = "v1", .schema = schema_with("a")},
                      {.version = "v2",
                       .schema = schema_with("b"),
                       .set_defaults = [](runtime::Object&) {},
                       .conversions = {{"b", "a"}}}};
  options.selectable_fields = {"a"};
  const auto kind = runtime::Kind::New(std::move(options));
  REQUIRE(kind.ok());

  const PartialCrd all = PartialCrdFromKind(**kind).value();
  CHECK(all.needs_webhook);
  CHECK(all.omitted ==
        std::vector<std::string>{"widgets.example.com, version v2: has fields of other names",
                                 "widgets.example.com, version v2: has defaults that code sets"});
  CHECK(all.yaml.find("  conversion:\n    strategy: Webhook\n") != std::string::npos);
  CHECK(KindOptionsFromCrd(all.yaml).value().versions.size() == 2);

  const PartialCrd one = PartialCrdFromKind(**kind, "v2").value();
  CHECK_FALSE(one.needs_webhook);
  CHECK(one.omitted.size() == 1);
  CHECK(one.yaml.find("conversion:") == std::string::npos);
  const KindOptions read = KindOptionsFromCrd(one.yaml).value();
  CHECK(read.versions.size() == 1);
  CHECK(read.storage_version == "v2");
  CHECK(read.selectable_fields.empty());  // "a" is a name of v1's.
  CHECK(KindOptionsFromCrd(PartialCrdFromKind(**kind, "v1").value().yaml)->selectable_fields ==
        std::vector<std::string>{"a"});

  const Status missing = PartialCrdFromKind(**kind, "v3").status();
  CHECK(missing.reason() == Reason::kNotFound);
  CHECK(missing.message() == "widgets.example.com has no version v3; it has v1, v2");
}

TEST_CASE("codec: of a kind that can be said in full nothing is left out", "[codec]") {
  const auto kind = runtime::Kind::New(KindOptionsFromCrd(kCrd).value());
  REQUIRE(kind.ok());
  const PartialCrd crd = PartialCrdFromKind(**kind).value();
  CHECK(crd.yaml == kCrd);
  CHECK(crd.omitted.empty());
  CHECK_FALSE(crd.needs_webhook);
}

TEST_CASE("codec: a schema without end is not written", "[codec]") {
  SchemaPtr deep = runtime::StringSchema();
  for (int i = 0; i < 300; ++i) deep = runtime::ListOf(deep);
  SchemaPtr wide = runtime::StringSchema();
  for (int i = 0; i < 40; ++i) {
    wide = runtime::StructBuilder("").Field("a", wide).Field("b", wide).Build();
  }
  runtime::Arena arena;
  CHECK(OpenApiFromSchema(*deep, arena).status().reason() == Reason::kInvalid);
  CHECK(OpenApiFromSchema(*wide, arena).status().message().find("too many parts") !=
        std::string_view::npos);
}

// Random kinds of what a CustomResourceDefinition can say; repeatable.
class Maker {
 public:
  explicit Maker(SchemaPool& pool) : pool_(pool) {}

  KindOptions Options() {
    KindOptions options{.group = "example.com", .kind = "Widget", .plural = "widgets"};
    options.singular = Chance() ? "widget" : "gadget";
    options.list_kind = Chance() ? "WidgetList" : "Widgets";
    if (Chance()) options.short_names = {"w", "wd"};
    if (Chance()) options.categories = {"all"};
    options.namespaced = Chance();
    options.semantics = runtime::Semantics::kCustomResource;
    for (const char* const name : {"v2", "v1", "v1beta1"}) {
      options.versions.push_back(Version(name));
      if (Chance()) break;
    }
    options.hub_version = options.versions[random_() % options.versions.size()].version;
    options.storage_version = options.hub_version;
    if (Chance()) options.selectable_fields = {"spec.a"};
    return options;
  }

 private:
  bool Chance() { return random_() % 2 == 0; }
  std::string Word() {
    constexpr const char* kWords[] = {"plain", "1",   "true",      "two words", "# no comment",
                                      "a: b",  "~",   "\"q\"",     "ä",         "line\nfeed",
                                      " lead", "0x1", "2020-01-01"};
    return kWords[random_() % std::size(kWords)];
  }
  std::optional<double> Bound() {
    constexpr double kBounds[] = {0, 1, -3, 0.5, 1e18, -2.25};
    if (Chance()) return std::nullopt;
    return kBounds[random_() % std::size(kBounds)];
  }
  std::optional<std::int64_t> Count() {
    if (Chance()) return std::nullopt;
    return static_cast<std::int64_t>(random_() % 5);
  }

  KindVersion Version(std::string name) {
    KindVersion version{.version = std::move(name), .schema = Root()};
    version.served = Chance();
    if (Chance()) version.deprecation_warning = Word();
    if (Chance()) {
      version.columns = {{.name = Word(), .type = "string", .json_path = ".spec.a"},
                         {.name = "B",
                          .type = "integer",
                          .json_path = ".spec.b",
                          .format = "int32",
                          .description = Word(),
                          .priority = 1}};
    }
    version.status_subresource = Chance();
    if (Chance()) {
      version.scale = runtime::ScalePaths{.spec_replicas = ".spec.n",
                                          .label_selector = Chance() ? ".status.selector" : ""};
    }
    return version;
  }

  SchemaPtr Root() {
    SchemaParts root;
    root.type = SchemaType::kStruct;
    if (Chance()) root.description = Word();
    FieldParts metadata;
    metadata.name = "metadata";
    metadata.schema = runtime::ObjectMetaSchema();
    root.fields.push_back(std::move(metadata));
    constexpr int kDepth = 4;
    AddFields({"spec", "status"}, kDepth, root);
    return pool_.Make(root);
  }

  // In the order of `names`, which is that of the YAML: sorted.
  void AddFields(const std::vector<std::string>& names, int depth, SchemaParts& parts) {
    for (const std::string& name : names) {
      if (random_() % 4 == 0) continue;
      FieldParts field;
      field.name = name;
      field.schema = pool_.Make(Any(depth - 1));
      if (Chance()) field.description = Word();
      field.required = Chance();
      if (Chance()) field.default_value = OwnedValue(Word());
      parts.fields.push_back(std::move(field));
    }
  }

  // Makes the schema of a field; the field has the description.
  SchemaParts Any(int depth) {
    SchemaParts parts;
    parts.nullable = Chance();
    if (random_() % 4 == 0) parts.patch_strategy = "merge";
    switch (random_() % (depth == 0 ? 6 : 9)) {
      case 0:
        parts.type = SchemaType::kBoolean;
        break;
      case 1:
        parts.type = SchemaType::kInteger;
        parts.bits = Chance() ? 32 : 64;
        parts.constraints.format = parts.bits == 32 ? "int32" : "int64";
        Number(parts);
        break;
      case 2:
        parts.type = SchemaType::kNumber;
        Number(parts);
        break;
      case 3:
        parts.type = SchemaType::kString;
        Text(parts);
        break;
      case 4:
        parts.type = SchemaType::kIntOrString;
        break;
      case 5:
        parts.type = SchemaType::kAny;
        parts.preserve_unknown_fields = true;
        break;
      case 6:
        Struct(depth, parts);
        break;
      case 7:
        List(depth, parts);
        break;
      default:
        Map(depth, parts);
        break;
    }
    return parts;
  }
  void Number(SchemaParts& parts) {
    parts.constraints.minimum = Bound();
    parts.constraints.maximum = Bound();
    parts.constraints.exclusive_minimum = Chance();
    parts.constraints.exclusive_maximum = Chance();
    parts.constraints.multiple_of = Bound();
  }
  void Text(SchemaParts& parts) {
    parts.constraints.min_length = Count();
    parts.constraints.max_length = Count();
    if (Chance()) parts.constraints.pattern = "^[a-z]{1,3}: #";
    if (Chance()) parts.constraints.format = "uuid";
    if (Chance()) parts.constraints.enum_values = {Word(), Word()};
  }
  // A schema of value validations, as junctors hold them.
  SchemaPtr Validation(int depth) {
    SchemaParts parts;
    if (Chance()) parts.type = SchemaType::kInteger;
    parts.constraints.minimum = Bound();
    parts.constraints.max_properties = Count();
    if (Chance()) parts.required_names = {"a", "z"};
    if (depth > 0) {
      if (Chance()) parts.fields.push_back({.name = "b", .schema = Validation(depth - 1)});
      if (Chance()) parts.items = Validation(depth - 1);
      Junctors(depth - 1, parts);
    }
    return pool_.Make(parts);
  }
  void Junctors(int depth, SchemaParts& parts) {
    if (Chance()) parts.all_of = {Validation(depth), Validation(depth)};
    if (Chance()) parts.any_of = {Validation(depth)};
    if (Chance()) parts.one_of = {Validation(depth), Validation(depth), Validation(depth)};
    if (Chance()) parts.not_of = Validation(depth);
  }
  void Struct(int depth, SchemaParts& parts) {
    parts.type = SchemaType::kStruct;
    parts.preserve_unknown_fields = Chance();
    parts.embedded_resource = Chance();
    parts.atomic = Chance();
    parts.constraints.min_properties = Count();
    AddFields({"a", "b", "c"}, depth, parts);
    if (Chance()) parts.required_names = {"x", "y"};
    if (Chance() && !parts.fields.empty()) parts.members = runtime::AnySchema();
    if (Chance()) Junctors(1, parts);
  }
  void List(int depth, SchemaParts& parts) {
    parts.type = SchemaType::kList;
    parts.constraints.min_items = Count();
    parts.constraints.max_items = Count();
    parts.constraints.unique_items = Chance();
    parts.items = Described(Any(depth - 1));
    if (Chance()) {
      parts.list_type = Schema::ListType::kSet;
    } else if (parts.items->type == SchemaType::kStruct && parts.items->FindField("a") != nullptr) {
      parts.list_type = Schema::ListType::kMap;
      parts.list_map_keys = {"a"};
    }
  }
  void Map(int depth, SchemaParts& parts) {
    parts.type = SchemaType::kMap;
    parts.constraints.max_properties = Count();
    const bool any = Chance();
    parts.closed = any && Chance();
    if (Chance()) parts.required_names = {"x"};
    parts.items = any ? runtime::AnySchema() : Described(Any(depth - 1));
  }
  SchemaPtr Described(SchemaParts parts) {
    if (Chance()) parts.description = Word();
    if (Chance()) parts.title = Word();
    if (Chance()) parts.default_value = Word();
    return pool_.Make(parts);
  }

  std::mt19937 random_{20240217};
  SchemaPool& pool_;
};

void CheckSameVersion(const KindVersion& read, const KindVersion& written) {
  CHECK(read.version == written.version);
  CHECK(read.served == written.served);
  CHECK(read.deprecation_warning == written.deprecation_warning);
  CHECK(read.status_subresource == written.status_subresource);
  CHECK(read.scale == written.scale);
  // Both were made in one pool, where equal schemas are one.
  CHECK(read.schema == written.schema);
  REQUIRE(read.columns.size() == written.columns.size());
  for (std::size_t i = 0; i < read.columns.size(); ++i) {
    const runtime::PrinterColumn& a = read.columns[i];
    const runtime::PrinterColumn& b = written.columns[i];
    CHECK(std::tie(a.name, a.type, a.json_path, a.format, a.description, a.priority) ==
          std::tie(b.name, b.type, b.json_path, b.format, b.description, b.priority));
  }
}

TEST_CASE("codec: a kind that was written as a CustomResourceDefinition is read back equal",
          "[codec]") {
  SchemaPool pool;
  Maker maker(pool);
  for (int i = 0; i < 300; ++i) {
    const auto kind = runtime::Kind::New(maker.Options());
    INFO(kind.status().ToString());
    REQUIRE(kind.ok());
    const std::string text = CrdFromKind(**kind).value();
    INFO(text);
    runtime::Arena arena;

    auto options = KindOptionsFromCrd(ParseYaml(text, arena).value(), pool);

    REQUIRE(options.ok());
    CHECK(std::tie(options->group, options->kind, options->plural, options->singular,
                   options->list_kind, options->short_names, options->categories) ==
          std::tie((*kind)->group(), (*kind)->kind(), (*kind)->plural(), (*kind)->singular(),
                   (*kind)->list_kind(), (*kind)->short_names(), (*kind)->categories()));
    CHECK(options->namespaced == (*kind)->namespaced());
    CHECK(options->semantics == (*kind)->semantics());
    CHECK(options->hub_version == (*kind)->hub_version());
    CHECK(options->storage_version == (*kind)->storage_version());
    CHECK(options->selectable_fields == (*kind)->selectable_fields());
    REQUIRE(options->versions.size() == (*kind)->versions().size());
    for (std::size_t v = 0; v < options->versions.size(); ++v) {
      CheckSameVersion(options->versions[v], (*kind)->versions()[v]);
    }
  }
}

}  // namespace
}  // namespace apiserver::inline v0::codec
