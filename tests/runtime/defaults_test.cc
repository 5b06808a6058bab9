#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/settle.h"
#include "runtime/text.h"

namespace apiserver::inline v0::runtime {
namespace {

using testing::ObjectOf;
using testing::Owned;
using testing::Print;
using testing::WidgetKind;
using testing::WithSpec;
using Presence = Field::Presence;
using Words = std::vector<std::string>;

SchemaPtr Spec() {
  SchemaParts nullable(*StringSchema());
  nullable.nullable = true;
  const SchemaPtr port = StructBuilder("")
                             .Field("name", StringSchema())
                             .Field("protocol", StringSchema(), {.default_value = Owned("\"TCP\"")})
                             .Build();
  return StructBuilder("")
      .Field("a", StringSchema(), {.default_value = Owned("\"A\"")})
      .Field("b", IntegerSchema(32), {.presence = Presence::kPointer, .default_value = Owned("1")})
      .Field("maybe", MakeSchema(nullable),
             {.presence = Presence::kPointer, .default_value = Owned("\"M\"")})
      .Field("main", port, {.presence = Presence::kPointer, .default_value = Owned("{}")})
      .Field("ports", ListOf(port))
      .Field("byName", MapOf(port))
      .Field("plain", StringSchema())
      .Build();
}

std::string Defaulted(Semantics semantics, std::string_view json) {
  const auto object = ObjectOf(WidgetKind(WithSpec(Spec()), semantics), json);
  REQUIRE(Settle(*object, {.shape = false}).ok());
  return Print((*object)["spec"]);
}

TEST_CASE("runtime: defaults fill absent fields, in lists, maps and defaults too", "[runtime]") {
  CHECK(Defaulted(Semantics::kGoType,
                  R"({"spec":{"b":0,"ports":[{"name":"x"}],"byName":{"k":{}},"plain":"p"}})") ==
        R"({"a":"A","b":0,"maybe":"M","main":{"protocol":"TCP"},)"
        R"("ports":[{"name":"x","protocol":"TCP"}],"byName":{"k":{"protocol":"TCP"}},)"
        R"("plain":"p"})");
  CHECK(Defaulted(Semantics::kCustomResource, R"({"spec":{"b":0,"plain":"p"}})") ==
        R"({"a":"A","b":0,"main":{"protocol":"TCP"},"maybe":"M","plain":"p"})");
}

TEST_CASE("runtime: a default that is zero adds nothing that a Go type leaves out", "[runtime]") {
  const SchemaPtr spec =
      StructBuilder("")
          .Field("name", StringSchema(), {.default_value = Owned("\"\"")})
          .Field("pointer", StringSchema(),
                 {.presence = Presence::kPointer, .default_value = Owned("\"\"")})
          .Field("always", StringSchema(),
                 {.omit = Field::Omit::kNever, .default_value = Owned("\"\"")})
          .Build();
  const auto defaulted = [&spec](Semantics semantics) {
    const auto object = ObjectOf(WidgetKind(WithSpec(spec), semantics), R"({"spec":{}})");
    REQUIRE(Settle(*object, {.shape = false}).ok());
    return Print((*object)["spec"]);
  };

  CHECK(defaulted(Semantics::kGoType) == R"({"pointer":"","always":""})");
  CHECK(defaulted(Semantics::kCustomResource) == R"({"always":"","name":"","pointer":""})");
}

TEST_CASE("runtime: a zero held by value is defaulted in Go types, not in custom resources",
          "[runtime]") {
  const char* const json = R"({"spec":{"a":"","b":0,"maybe":"","main":{"protocol":"UDP"}}})";
  CHECK(Defaulted(Semantics::kGoType, json) ==
        R"({"a":"A","b":0,"maybe":"","main":{"protocol":"UDP"}})");
  CHECK(Defaulted(Semantics::kCustomResource, json) ==
        R"({"a":"","b":0,"maybe":"","main":{"protocol":"UDP"}})");
}

TEST_CASE("runtime: a default of a custom resource takes the place of a null that is not allowed",
          "[runtime]") {
  // Nulls without a default are pruning's.
  CHECK(Defaulted(Semantics::kCustomResource,
                  R"({"spec":{"a":null,"b":2,"main":{"name":null},"maybe":null,"plain":null}})") ==
        R"({"a":"A","b":2,"main":{"name":null,"protocol":"TCP"},"maybe":null,"plain":null})");
}

TEST_CASE("runtime: what metadata cannot have goes from the default of an embedded resource",
          "[runtime]") {
  SchemaParts resource(*StructBuilder("").Field("spec", AnySchema()).Build());
  resource.embedded_resource = true;
  // Nothing below the resource has a default; the field that holds it does.
  const SchemaPtr holder =
      StructBuilder("")
          .Field("pod", MakeSchema(resource),
                 {.default_value = Owned(R"({"kind":"K","metadata":{"name":"n","typo":1}})")})
          .Build();
  const SchemaPtr spec = StructBuilder("").Field("holders", ListOf(holder)).Build();
  const auto object = ObjectOf(WidgetKind(WithSpec(spec), Semantics::kCustomResource),
                               R"({"spec":{"holders":[{}]}})");
  REQUIRE(Settle(*object).ok());
  CHECK(Print((*object)["spec"]) ==
        R"({"holders":[{"pod":{"kind":"K","metadata":{"name":"n"}}}]})");
}

TEST_CASE("runtime: what needs no default is left untouched", "[runtime]") {
  const auto object = ObjectOf(WidgetKind(WithSpec(Spec())),
                               R"({"spec":{"a":"1","b":2,"maybe":"3","main":{"protocol":"4"}}})");
  const void* const before = object->root().members().data();
  REQUIRE(Settle(*object, {.shape = false}).ok());
  CHECK(object->root().members().data() == before);
}

TEST_CASE("runtime: a version's function sets defaults last, and its fields come in order",
          "[runtime]") {
  KindOptions options;
  options.kind = "Widget";
  options.plural = "widgets";
  KindVersion version;
  version.version = "v1";
  version.schema = WithSpec(Spec());
  version.set_defaults = [](Object& object) {
    object.Edit("spec", "plain") = object["spec"]["a"].AsString();
    object.Edit("metadata", "labels", "x") = "y";
    object.Edit("metadata", "name") = "n";
  };
  options.versions = {version};
  const auto object = ObjectOf(Kind::New(options).value(), R"({"spec":{"ports":[]}})");
  REQUIRE(Settle(*object, {.shape = false}).ok());
  CHECK(Print(*object) ==
        R"({"metadata":{"name":"n","labels":{"x":"y"}},"spec":{"a":"A","b":1,"maybe":"M",)"
        R"("main":{"protocol":"TCP"},"plain":"A"}})");
}

SchemaPtr Pruned() {
  SchemaParts open(*StructBuilder("").Field("known", StructBuilder("").Build()).Build());
  open.preserve_unknown_fields = true;
  SchemaParts embedded(*StructBuilder("").Field("spec", StructBuilder("").Build()).Build());
  embedded.embedded_resource = true;
  return StructBuilder("")
      .Field("list", ListOf(StructBuilder("").Field("a", StringSchema()).Build()))
      .Field("map", MapOf(StructBuilder("").Field("a", StringSchema()).Build()))
      .Field("open", MakeSchema(open))
      .Field("embedded", MakeSchema(embedded))
      .Field("any", AnySchema())
      .Build();
}

constexpr std::string_view kTypos = R"({"metadata":{"name":"n"},"spec":{
    "zypo":1,
    "list":[{"a":"1"},{"b":2}],
    "map":{"k":{"c":3}},
    "open":{"free":1,"known":{"d":4}},
    "embedded":{"kind":"K","apiVersion":"v1","metadata":{},"spec":{"e":5},"f":6},
    "any":{"x":1}},
    "extra":{}})";

TEST_CASE("runtime: pruning drops what the schema does not know and says what", "[runtime]") {
  const SchemaPtr schema = StructBuilder("").Field("spec", Pruned()).Build();
  const auto object = ObjectOf(WidgetKind(schema, Semantics::kCustomResource), kTypos);
  std::vector<UnknownMember> dropped;
  REQUIRE(Settle(*object, {.defaults = false, .unknown = &dropped}).ok());
  CHECK(Print(*object) ==
        R"({"metadata":{"name":"n"},"spec":{"any":{"x":1},"embedded":{"apiVersion":"v1",)"
        R"("kind":"K","metadata":{},"spec":{}},"list":[{"a":"1"},{}],"map":{"k":{}},)"
        R"("open":{"free":1,"known":{}}}})");
  Words paths;
  for (const UnknownMember& member : dropped) paths.push_back(member.path);
  CHECK(paths == Words{"extra", "spec.embedded.f", "spec.embedded.spec.e", "spec.list[1].b",
                       "spec.map.k.c", "spec.open.known.d", "spec.zypo"});
  const void* const before = object->root().members().data();
  REQUIRE(Settle(*object, {.defaults = false}).ok());
  CHECK(object->root().members().data() == before);
}

TEST_CASE("runtime: unknown fields of Go types are named in document order", "[runtime]") {
  const auto object = ObjectOf(WidgetKind(WithSpec(Pruned())), kTypos);
  CHECK(UnknownFields(*object) ==
        Words{R"(unknown field "spec.zypo")", R"(unknown field "spec.list[1].b")",
              R"(unknown field "spec.map.k.c")", R"(unknown field "spec.open.known.d")",
              R"(unknown field "spec.embedded.spec.e")", R"(unknown field "spec.embedded.f")",
              R"(unknown field "extra")"});
  CHECK(Print((*object)["extra"]) == "{}");
}

TEST_CASE("runtime: no more than a hundred unknown fields are named", "[runtime]") {
  std::string json = "{\"metadata\":{}";
  for (int i = 0; i < 150; ++i) json += ",\"x" + std::to_string(i) + "\":1";
  const auto object = ObjectOf(WidgetKind(WithSpec(Pruned())), json + "}");
  CHECK(UnknownFields(*object).size() == 100);
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
