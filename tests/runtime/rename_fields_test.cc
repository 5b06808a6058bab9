#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "runtime/text.h"

namespace apiserver::inline v0::runtime {
namespace {

using testing::ObjectOf;
using testing::Print;

// metadata, the fields of `root`, and a spec with those of `spec`, all numbers but a text "mode".
SchemaPtr SchemaWith(const std::vector<std::string>& root, const std::vector<std::string>& spec) {
  StructBuilder inner("");
  for (const std::string& name : spec) {
    inner.Field(name, name == "mode" ? StringSchema() : IntegerSchema(64));
  }
  StructBuilder outer("");
  outer.Field("metadata", ObjectMetaSchema()).Field("spec", inner.Build());
  for (const std::string& name : root) outer.Field(name, IntegerSchema(64));
  return outer.Build();
}

// The hub v1 has `hub`; v1beta1 has `old`, and declares `conversions`.
Result<KindPtr> NewKind(SchemaPtr hub, SchemaPtr old, std::vector<RenameField> conversions,
                        Semantics semantics = Semantics::kCustomResource) {
  return Kind::New({.group = "example.com",
                    .kind = "Widget",
                    .plural = "widgets",
                    .semantics = semantics,
                    .versions = {{.version = "v1", .schema = std::move(hub)},
                                 {.version = "v1beta1",
                                  .schema = std::move(old),
                                  .conversions = std::move(conversions)}}});
}

std::string There(const KindPtr& kind, std::string_view json, std::string_view from,
                  std::string_view to) {
  const auto object = ObjectOf(kind, json, from);
  const Status status = Convert(Context::Background(), *object, to);
  return status.ok() ? Print(*object) : status.ToString();
}

TEST_CASE("runtime: a declared rename moves a value to its other name and back", "[runtime]") {
  const auto semantics = GENERATE(Semantics::kGoType, Semantics::kCustomResource);
  const KindPtr kind =
      NewKind(SchemaWith({"top"}, {"replicas", "a"}), SchemaWith({"head"}, {"size", "a"}),
              {RenameField("spec.size", "spec.replicas"), {"head", "top"}}, semantics)
          .value();
  const std::string old = semantics == Semantics::kGoType
                              ? R"({"metadata":{"name":"n"},"spec":{"size":3,"a":1},"head":7})"
                              : R"({"head":7,"metadata":{"name":"n"},"spec":{"a":1,"size":3}})";
  const std::string hub = semantics == Semantics::kGoType
                              ? R"({"metadata":{"name":"n"},"spec":{"replicas":3,"a":1},"top":7})"
                              : R"({"metadata":{"name":"n"},"spec":{"a":1,"replicas":3},"top":7})";

  CHECK(There(kind, old, "v1beta1", "v1") == hub);
  CHECK(There(kind, hub, "v1", "v1beta1") == old);
}

TEST_CASE("runtime: a rename of what is not there changes nothing", "[runtime]") {
  const KindPtr kind = NewKind(SchemaWith({}, {"replicas"}), SchemaWith({}, {"size"}),
                               {{"spec.size", "spec.replicas"}})
                           .value();
  CHECK(There(kind, R"({"spec":{}})", "v1beta1", "v1") == R"({"spec":{}})");
  CHECK(There(kind, "{}", "v1", "v1beta1") == "{}");
}

TEST_CASE("runtime: two fields may swap their names", "[runtime]") {
  const KindPtr kind = NewKind(SchemaWith({}, {"a", "b"}), SchemaWith({}, {"a", "b"}),
                               {{"spec.a", "spec.b"}, {"spec.b", "spec.a"}})
                           .value();
  CHECK(There(kind, R"({"spec":{"a":1,"b":2}})", "v1beta1", "v1") == R"({"spec":{"a":2,"b":1}})");
  CHECK(There(kind, R"({"spec":{"a":2,"b":1}})", "v1", "v1beta1") == R"({"spec":{"a":1,"b":2}})");
}

TEST_CASE("runtime: functions see the hub's names, renamed before and after them", "[runtime]") {
  KindOptions options{.group = "example.com", .kind = "Widget", .plural = "widgets"};
  options.versions = {
      {.version = "v1", .schema = SchemaWith({}, {"replicas"})},
      {.version = "v1beta1",
       .schema = SchemaWith({}, {"size"}),
       .to_hub =
           [](Object& object) {
             object.Edit("spec", "replicas") = object["spec"]["replicas"].AsInt() * 10;
             return Status();
           },
       .from_hub =
           [](Object& object) {
             object.Edit("spec", "replicas") = object["spec"]["replicas"].AsInt() / 10;
             return Status();
           },
       .conversions = {{"spec.size", "spec.replicas"}}}};
  const KindPtr kind = Kind::New(std::move(options)).value();

  CHECK(There(kind, R"({"spec":{"size":3}})", "v1beta1", "v1") ==
        R"({"metadata":{},"spec":{"replicas":30}})");
  CHECK(There(kind, R"({"spec":{"replicas":30}})", "v1", "v1beta1") ==
        R"({"metadata":{},"spec":{"size":3}})");
}

TEST_CASE("runtime: an object that others see keeps its names when a copy is converted",
          "[runtime]") {
  const KindPtr kind = NewKind(SchemaWith({}, {"replicas"}), SchemaWith({}, {"size"}),
                               {{"spec.size", "spec.replicas"}})
                           .value();
  const ObjectPtr stored = ObjectOf(kind, R"({"spec":{"size":3}})", "v1beta1");

  const auto converted = Converted(Context::Background(), stored, "v1");

  REQUIRE(converted.ok());
  CHECK(Print(**converted) == R"({"spec":{"replicas":3}})");
  CHECK(Print(*stored) == R"({"spec":{"size":3}})");
}

TEST_CASE("runtime: a rename that names no field, or could lose one, is refused", "[runtime]") {
  const auto refused = [](SchemaPtr hub, SchemaPtr old, std::vector<RenameField> conversions) {
    const auto kind = NewKind(std::move(hub), std::move(old), std::move(conversions));
    if (kind.ok()) return std::string();
    CHECK(kind.status().reason() == Reason::kInvalid);
    return std::string(kind.status().message());
  };
  const auto hub = [] { return SchemaWith({"top"}, {"replicas", "mode"}); };
  const auto old = [] { return SchemaWith({"top"}, {"size", "mode"}); };
  const std::string start = "kind \"Widget\": v1beta1: cannot rename ";

  CHECK(refused(hub(), old(), {{"spec.sise", "spec.replicsa"}}) ==
        start + R"("spec.sise" to "spec.replicsa": v1beta1 has no field "spec.sise"; v1beta1: )"
                R"(cannot rename "spec.sise" to "spec.replicsa": v1 has no field "spec.replicsa")");
  CHECK(refused(hub(), old(), {{"spec.size", ""}}) ==
        start + R"("spec.size" to "": v1 has no field "")");
  CHECK(refused(hub(), old(), {{"spec.size.x", "spec.replicas"}}) ==
        start + R"("spec.size.x" to "spec.replicas": v1beta1 has no field "spec.size.x")");
  CHECK(refused(hub(), old(), {{"spec.size", "top"}}) ==
        start + R"("spec.size" to "top": only the last name may differ; to_hub and from_hub )"
                R"(move a field)");
  CHECK(refused(hub(), old(), {{"metadata.name", "metadata.uid"}}) ==
        start + R"("metadata.name" to "metadata.uid": metadata is the same in every version)");
  CHECK(refused(hub(), SchemaWith({}, {"size"}), {{"spec.size", "spec.mode"}}) ==
        start + R"("spec.size" to "spec.mode": the fields have different types)");
  CHECK(refused(hub(), SchemaWith({}, {"size", "replicas"}), {{"spec.size", "spec.replicas"}}) ==
        start + R"("spec.size" to "spec.replicas": v1beta1 has a field "spec.replicas" too)");
  CHECK(refused(SchemaWith({}, {"size", "replicas"}), old(), {{"spec.size", "spec.replicas"}}) ==
        start + R"("spec.size" to "spec.replicas": v1 has a field "spec.size" too)");
  CHECK(refused(hub(), SchemaWith({}, {"size", "other"}),
                {{"spec.size", "spec.replicas"}, {"spec.other", "spec.replicas"}}) ==
        start + R"("spec.other" to "spec.replicas": one of them is renamed already)");
}

TEST_CASE("runtime: a rename beside unknown fields that are kept is refused", "[runtime]") {
  SchemaParts open(*StructBuilder("").Field("size", IntegerSchema(64)).Build());
  open.preserve_unknown_fields = true;
  const auto kind = NewKind(SchemaWith({}, {"replicas"}), testing::WithSpec(MakeSchema(open)),
                            {{"spec.size", "spec.replicas"}});
  CHECK(kind.status().message() ==
        "kind \"Widget\": v1beta1: cannot rename \"spec.size\" to \"spec.replicas\": beside it "
        "unknown fields are kept, which could have its name");
}

TEST_CASE("runtime: a rename inside of what is renamed is refused", "[runtime]") {
  const auto with = [](const std::string& outer, const std::string& other) {
    const SchemaPtr inner = StructBuilder("").Field("x", IntegerSchema(64)).Build();
    const SchemaPtr also = StructBuilder("").Field("y", IntegerSchema(64)).Build();
    return StructBuilder("")
        .Field("metadata", ObjectMetaSchema())
        .Field(outer, inner)
        .Field(other, also)
        .Build();
  };
  const auto kind =
      NewKind(with("b", "a"), with("a", "b"), {{"a", "b"}, {"b", "a"}, {"a.x", "a.y"}});
  CHECK(kind.status().message() ==
        "kind \"Widget\": v1beta1: cannot rename \"a.x\" to \"a.y\": what it stands in is renamed "
        "too; v1beta1: cannot rename \"a.x\" to \"a.y\": what it stands in is renamed too");
}

TEST_CASE("runtime: the hub, and a kind with a converter, declare no conversions", "[runtime]") {
  struct Nothing final : VersionConverter {
    Status Convert(const Context&, std::span<Object* const>, std::string_view) const override {
      return {};
    }
    bool may_wait() const override { return false; }
  };
  KindOptions options{.group = "example.com", .kind = "Widget", .plural = "widgets"};
  options.versions = {{.version = "v1",
                       .schema = SchemaWith({}, {"replicas"}),
                       .conversions = {{"spec.replicas", "spec.replicas"}}}};
  CHECK(Kind::New(options).status().message() ==
        "kind \"Widget\": v1: the hub does not convert to itself");
  options.versions = {{.version = "v1", .schema = SchemaWith({}, {"replicas"})},
                      {.version = "v1beta1",
                       .schema = SchemaWith({}, {"size"}),
                       .conversions = {{"spec.size", "spec.replicas"}}}};
  options.converter = std::make_shared<Nothing>();
  CHECK(Kind::New(options).status().message() ==
        "kind \"Widget\": v1beta1: the kind's converter does without conversions");
}

TEST_CASE("runtime: a kind has a status subresource if its schema has a status", "[runtime]") {
  KindOptions options{.group = "example.com", .kind = "Widget", .plural = "widgets"};
  options.versions = {
      {.version = "v1", .schema = SchemaWith({"status"}, {})},
      {.version = "v2", .schema = SchemaWith({}, {})},
      {.version = "v3", .schema = SchemaWith({"status"}, {}), .status_subresource = false}};
  const KindPtr kind = Kind::New(std::move(options)).value();
  CHECK(kind->versions()[0].status_subresource == true);
  CHECK(kind->versions()[1].status_subresource == false);
  CHECK(kind->versions()[2].status_subresource == false);
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
