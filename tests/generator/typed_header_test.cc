#include "apiserver/generator/typed_header.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::generator {
namespace {

using namespace runtime;  // NOLINT: a test.

KindPtr Widget(SchemaPtr spec, Semantics semantics) {
  auto schema = StructBuilder("")
                    .Field("metadata", ObjectMetaSchema())
                    .Field("spec", std::move(spec), {.required = true})
                    .Build();
  auto kind = Kind::New({.group = "example.com",
                         .kind = "Widget",
                         .plural = "widgets",
                         .semantics = semantics,
                         .versions = {{.version = "v1", .schema = std::move(schema)}}});
  REQUIRE(kind.ok());
  return *kind;
}

std::string HeaderOf(const KindPtr& kind) {
  const auto header = TypedHeader(std::span(&kind, 1), {.name_space = "w"});
  REQUIRE(header.ok());
  return *header;
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("generator: a field of a custom resource is optional unless it is required",
          "[generator]") {
  const auto spec = StructBuilder("")
                        .Field("must", StringSchema(), {.required = true})
                        .Field("may", IntegerSchema(64), {.description = "Any number."})
                        .Field("list", ListOf(StringSchema()))
                        .Build();
  const std::string header = HeaderOf(Widget(spec, Semantics::kCustomResource));
  CHECK(Has(header, "namespace w::v1 {"));
  CHECK(Has(header,
            "  std::string must;\n  // Any number.\n  std::optional<std::int64_t> may;\n"
            "  std::vector<std::string> list;\n"));
  CHECK(Has(header, "kSpecMay = \"spec.may\";"));
  CHECK(Has(header,
            "    fields(\"must\", &WidgetSpec::must, "
            "::apiserver::runtime::typed::FieldOptions{.required = true});\n"
            "    fields(\"may\", &WidgetSpec::may);\n"));
  CHECK(Has(header,
            "    fields(\"spec\", &Widget::spec, "
            "::apiserver::runtime::typed::FieldOptions{.required = true});\n"));
  CHECK(Has(header, "  WidgetSpec spec;"));
  CHECK(Has(header, "  ::apiserver::runtime::ObjectMeta metadata;"));
}

TEST_CASE("generator: a field of a Go type is optional where Go has a pointer", "[generator]") {
  const auto spec = StructBuilder("")
                        .Field("value", IntegerSchema(32))
                        .Field("pointer", BooleanSchema(), {.presence = Field::Presence::kPointer})
                        .Field("time", TimeSchema())
                        .Field("micro", MicroTimeSchema())
                        .Field("data", MapOf(BytesSchema()))
                        .Field("cpu", QuantitySchema())
                        .Field("port", IntOrStringSchema())
                        .Field("wait", DurationSchema())
                        .Field("any", RawExtensionSchema())
                        .Build();
  const std::string header = HeaderOf(Widget(spec, Semantics::kGoType));
  for (const char* line :
       {"  std::int32_t value{};", "  std::optional<bool> pointer;",
        "  ::apiserver::runtime::UnixTime time;", "  ::apiserver::runtime::typed::MicroTime micro;",
        "  std::map<std::string, ::apiserver::runtime::typed::Bytes> data;",
        "  ::apiserver::runtime::Quantity cpu;", "  ::apiserver::runtime::typed::IntOrString port;",
        "  std::chrono::nanoseconds wait{};", "  ::apiserver::runtime::typed::Any any;"}) {
    CHECK(Has(header, line));
  }
}

TEST_CASE("generator: what cannot be written is refused", "[generator]") {
  const auto kind = Widget(StructBuilder("").Build(), Semantics::kGoType);
  CHECK(TypedHeader(std::span(&kind, 1), {.name_space = "a b"}).status().message() ==
        "\"a b\" is no name of a namespace in C++");
  const std::vector<KindPtr> twice = {kind, kind};
  CHECK(TypedHeader(twice, {.name_space = "w"}).status().message() ==
        "there are two kinds Widget in version v1");
}

TEST_CASE("generator: inner structs do not take the names of kinds", "[generator]") {
  // WidgetSpec would be the struct of the first kind's spec.
  auto spec_kind = Kind::New(
      {.group = "example.com",
       .kind = "WidgetSpec",
       .plural = "widgetspecs",
       .versions = {{.version = "v1",
                     .schema = StructBuilder("").Field("metadata", ObjectMetaSchema()).Build()}}});
  REQUIRE(spec_kind.ok());
  const auto spec = StructBuilder("").Field("a", StringSchema()).Build();
  const std::vector<KindPtr> kinds = {Widget(spec, Semantics::kGoType), *spec_kind};
  const auto header = TypedHeader(kinds, {.name_space = "w"});
  REQUIRE(header.ok());
  CHECK(Has(*header, "struct WidgetSpec_2 {"));
  CHECK(Has(*header, "  WidgetSpec_2 spec;"));
}

TEST_CASE("generator: a shared definition has one struct, and another of that name its own",
          "[generator]") {
  const auto part = [](const char* name, const char* field) {
    return StructBuilder(name).Field(field, StringSchema()).Build();
  };
  const auto bowl = part("a.v1.Bowl", "food");
  const auto spec = StructBuilder("a.v1.Spec")
                        .Field("first", bowl)
                        .Field("second", ListOf(bowl))
                        .Field("other", part("b.v1.Bowl", "drink"))
                        .Field("odd", part("b.v1.", "x"))
                        .Build();
  const auto kind = Widget(spec, Semantics::kCustomResource);
  const auto header =
      TypedHeader(std::span(&kind, 1), {.name_space = "w", .share_definitions = true});
  REQUIRE(header.ok());
  for (const char* line :
       {"struct Spec {", "  std::optional<Bowl> first;", "  std::vector<Bowl> second;",
        "  std::optional<Bowl_2> other;", "  std::optional<Field> odd;"}) {
    INFO(line);
    CHECK(Has(*header, line));
  }
  CHECK(header->find("struct Bowl {") == header->rfind("struct Bowl {"));
}

TEST_CASE("generator: of very many paths the deepest have no constants", "[generator]") {
  // 2^16 places in 16 levels.
  auto below = StructBuilder("d").Field("end", StringSchema()).Build();
  for (int i = 0; i < 15; ++i) {
    below = StructBuilder("d" + std::to_string(i)).Field("a", below).Field("b", below).Build();
  }
  const auto kind = Widget(below, Semantics::kCustomResource);
  const auto header =
      TypedHeader(std::span(&kind, 1), {.name_space = "w", .share_definitions = true});
  REQUIRE(header.ok());
  CHECK(Has(*header, "kSpecAA = \"spec.a.a\";"));
  CHECK_FALSE(Has(*header, "kSpecAAAAAAAAAAAAAAAEnd"));
  std::size_t constants = 0;
  for (std::size_t at = 0; (at = header->find("    static constexpr", at)) != std::string::npos;
       ++at) {
    ++constants;
  }
  CHECK(constants == 20'000);
}

}  // namespace
}  // namespace apiserver::inline v0::generator
