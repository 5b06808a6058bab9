#include "apiserver/runtime/settle.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "runtime/text.h"

namespace apiserver::inline v0::runtime {
namespace {

using testing::ObjectOf;
using testing::Owned;
using testing::Print;
using testing::WidgetKind;
using testing::WithSpec;

// Items that come to have a name and, by default, a protocol.
SchemaPtr Ports() {
  const SchemaPtr port = StructBuilder("")
                             .Field("name", StringSchema(), {.omit = Field::Omit::kNever})
                             .Field("protocol", StringSchema(), {.default_value = Owned("\"TCP\"")})
                             .Build();
  const SchemaPtr other =
      StructBuilder("").Field("weight", IntegerSchema(32), {.omit = Field::Omit::kNever}).Build();
  return StructBuilder("").Field("ports", ListOf(port)).Field("others", ListOf(other)).Build();
}

std::string Repeated(const std::string& item, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += (i > 0 ? "," : "") + item;
  return text;
}

std::string PortsOf(const std::string& items) { return R"({"spec":{"ports":[)" + items + "]}}"; }

TEST_CASE("runtime: settling normalizes, then fills in defaults", "[runtime]") {
  const auto object =
      ObjectOf(WidgetKind(WithSpec(Ports())), R"({"spec":{"typo":1,"ports":[{"name":"a"},{}]}})");
  std::vector<UnknownMember> unknown;
  REQUIRE(Settle(*object, {.unknown = &unknown}).ok());
  CHECK(Print((*object)["spec"]) ==
        R"({"ports":[{"name":"a","protocol":"TCP"},{"name":"","protocol":"TCP"}]})");
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0].path == "spec.typo");

  const auto plain = ObjectOf(WidgetKind(WithSpec(Ports())), PortsOf("{}"));
  REQUIRE(Settle(*plain, {.defaults = false}).ok());
  CHECK(Print((*plain)["spec"]) == R"({"ports":[{"name":""}]})");
}

TEST_CASE("runtime: settling prunes a custom resource, then fills in defaults", "[runtime]") {
  const auto object = ObjectOf(WidgetKind(WithSpec(Ports()), Semantics::kCustomResource),
                               R"({"spec":{"typo":1,"ports":[{}]}})");
  std::vector<UnknownMember> unknown;
  REQUIRE(Settle(*object, {.unknown = &unknown}).ok());
  CHECK(Print((*object)["spec"]) == R"({"ports":[{"protocol":"TCP"}]})");
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0].path == "spec.typo");
}

TEST_CASE("runtime: settling decodes the schemas of definitions", "[runtime]") {
  SchemaParts any;
  any.name = "com.example.JSONSchemaProps";
  any.proto_message = true;
  const SchemaPtr spec =
      StructBuilder("com.example.Spec")
          .Field("schema", MakeSchema(any), {.presence = Field::Presence::kPointer})
          .Field("size", IntegerSchema(32))
          .Build();
  const KindPtr kind = WidgetKind(WithSpec(spec));
  const auto object = ObjectOf(
      kind,
      R"({"a":1,"spec":{"b":1,"schema":{"c":1,"type":"object","id":"","not":{"d":1}},"e":1}})");
  std::vector<UnknownMember> unknown;
  REQUIRE(Settle(*object, {.unknown = &unknown}).ok());
  CHECK(Print((*object)["spec"]) == R"({"schema":{"type":"object","not":{}}})");
  std::vector<std::string> paths;
  for (const UnknownMember& member : unknown) paths.push_back(member.path);
  CHECK(paths ==
        std::vector<std::string>{"a", "spec.b", "spec.schema.c", "spec.schema.not.d", "spec.e"});

  const auto misfit = ObjectOf(kind, R"({"spec":{"schema":{"not":{"type":5}}}})");
  CHECK(Settle(*misfit).message() ==
        "json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.schema.not.type "
        "of type string");
}

TEST_CASE("runtime: nulls of what was applied stay for validation", "[runtime]") {
  const KindPtr kind = WidgetKind(WithSpec(Ports()), Semantics::kCustomResource);
  constexpr std::string_view kNulls = R"({"spec":{"ports":[{"name":null,"protocol":null},null]}})";
  const auto decoded = ObjectOf(kind, kNulls);
  REQUIRE(Settle(*decoded).ok());
  CHECK(Print((*decoded)["spec"]) == R"({"ports":[{"protocol":"TCP"},null]})");
  const auto applied = ObjectOf(kind, kNulls);
  REQUIRE(Settle(*applied, {.keep_nulls = true}).ok());
  CHECK(Print((*applied)["spec"]) == R"({"ports":[{"name":null,"protocol":"TCP"},null]})");
}

TEST_CASE("runtime: settling writes a custom resource's metadata as the Go type", "[runtime]") {
  const KindPtr kind = WidgetKind(WithSpec(Ports()), Semantics::kCustomResource);
  const auto object = ObjectOf(
      kind, R"({"spec":{},"metadata":{"name":"n","labels":{},"creationTimestamp":null,"typo":1}})");
  REQUIRE(Settle(*object, {.defaults = false}).ok());
  CHECK(Print(*object) == R"({"metadata":{"name":"n"},"spec":{}})");

  const auto misfit = ObjectOf(kind, R"({"metadata":{"labels":{"a":1}}})");
  const Status status = Settle(*misfit);
  CHECK(status.reason() == Reason::kBadRequest);
  CHECK(status.message() ==
        "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string");
}

TEST_CASE("runtime: metadata in storage that does not fit is dropped member by member",
          "[runtime]") {
  const KindPtr kind = WidgetKind(WithSpec(Ports()), Semantics::kCustomResource);
  constexpr std::string_view kOdd =
      R"({"metadata":{"name":"n","labels":{"a":1},"generation":"x","typo":1},"spec":{}})";
  const auto stored = ObjectOf(kind, kOdd);
  REQUIRE(Settle(*stored, {.stored = true}).ok());
  CHECK(Print(*stored) == R"({"metadata":{"name":"n"},"spec":{}})");
  CHECK(Settle(*ObjectOf(kind, kOdd)).reason() == Reason::kBadRequest);
  // What is no object at all cannot be read.
  const auto text = ObjectOf(kind, R"({"metadata":"x"})");
  const Status status = Settle(*text);
  CHECK(status.reason() == Reason::kBadRequest);
  CHECK(status.message() == "json: cannot unmarshal string into Go value of type v1.ObjectMeta");
  CHECK_FALSE(Settle(*ObjectOf(kind, R"({"metadata":"x"})"), {.stored = true}).ok());
}

TEST_CASE("runtime: settled content is defaulted without looking at its shape", "[runtime]") {
  const auto object =
      ObjectOf(WidgetKind(WithSpec(Ports())), R"({"spec":{"typo":1,"ports":[{"name":"a"}]}})");
  REQUIRE(Settle(*object, {.shape = false}).ok());
  CHECK(Print((*object)["spec"]["ports"]) == R"([{"name":"a","protocol":"TCP"}])");
  CHECK((*object)["spec"]["typo"].AsInt() == 1);
}

TEST_CASE("runtime: what grows beyond its limit is refused, equal items or not", "[runtime]") {
  constexpr std::size_t kItems = 10'000;
  std::string distinct;
  for (std::size_t i = 0; i < kItems; ++i) {
    distinct += (i > 0 ? "," : "") + std::string(R"({"name":"p)") + std::to_string(i) + R"("})";
  }
  // Each comes to have two members, and is built twice if it was empty.
  constexpr std::size_t kTooLittle = kItems * sizeof(Member);
  constexpr std::size_t kEnough = kItems * (4 * sizeof(Member) + 2 * sizeof(Value)) + (64 << 10);
  for (const Semantics semantics : {Semantics::kGoType, Semantics::kCustomResource}) {
    for (const std::string& items : {Repeated("{}", kItems), distinct}) {
      const KindPtr kind = WidgetKind(WithSpec(Ports()), semantics);
      const auto grown = ObjectOf(kind, PortsOf(items));
      CHECK(Settle(*grown, {.growth_max = kTooLittle}).reason() == Reason::kRequestEntityTooLarge);
      const auto taken = ObjectOf(kind, PortsOf(items));
      CHECK(Settle(*taken, {.growth_max = kEnough}).ok());
      CHECK((*taken)["spec"]["ports"].size() == kItems);
    }
  }
}

TEST_CASE("runtime: a misfit is told of before growth", "[runtime]") {
  const auto object = ObjectOf(WidgetKind(WithSpec(Ports())), PortsOf("{},{},{\"name\":1}"));
  const Status misfit = Settle(*object, {.growth_max = GrowthMax(100)});
  CHECK(misfit.reason() == Reason::kBadRequest);
  CHECK(misfit.message().find("cannot unmarshal number") != std::string::npos);
}

TEST_CASE("runtime: equal items share what is made of them, each by its own schema", "[runtime]") {
  const auto object = ObjectOf(WidgetKind(WithSpec(Ports())),
                               R"({"spec":{"ports":[{},{},{"name":"x"},{}],"others":[{},{}]}})");
  REQUIRE(Settle(*object).ok());
  CHECK(Print((*object)["spec"]) ==
        R"({"ports":[{"name":"","protocol":"TCP"},{"name":"","protocol":"TCP"},)"
        R"({"name":"x","protocol":"TCP"},{"name":"","protocol":"TCP"}],)"
        R"("others":[{"weight":0},{"weight":0}]})");
  const auto ports = (*object)["spec"]["ports"].items();
  CHECK(ports[0].members().data() == ports[1].members().data());
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
