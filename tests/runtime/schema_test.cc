#include "apiserver/runtime/schema.h"

#include <catch2/catch.hpp>
#include <string>

namespace apiserver::inline v0::runtime {
namespace {

// "name=number" for each field, with marks: * pointer, ! never omitted, 0 omitted when zero.
std::string Outline(const Schema& schema) {
  std::string out;
  for (const Field& field : schema.fields()) {
    if (!out.empty()) out += ' ';
    out += std::string(field.name()) + "=" + std::to_string(field.proto_number);
    if (field.presence == Field::Presence::kPointer) out += '*';
    if (field.omit == Field::Omit::kNever) out += '!';
    if (field.omit == Field::Omit::kWhenZero) out += '0';
  }
  return out;
}

TEST_CASE("runtime: ObjectMeta has Go's fields in Go's order", "[runtime]") {
  CHECK(Outline(*ObjectMetaSchema()) ==
        "name=1 generateName=2 namespace=3 selfLink=4 uid=5 resourceVersion=6 generation=7 "
        "creationTimestamp=80 deletionTimestamp=9* deletionGracePeriodSeconds=10* labels=11 "
        "annotations=12 ownerReferences=13 finalizers=14 managedFields=17");
  const Schema& owners = *ObjectMetaSchema()->FindField("ownerReferences")->schema;
  CHECK(owners.list_map_keys() == std::vector<std::string_view>{"uid"});
  CHECK(owners.patch_merge_key() == "uid");
  CHECK(owners.items()->atomic);
  CHECK(Outline(*owners.items()) ==
        "apiVersion=5! kind=1! name=3! uid=4! controller=6* blockOwnerDeletion=7*");
  const Schema& managed = *ObjectMetaSchema()->FindField("managedFields")->schema->items();
  CHECK(Outline(managed) ==
        "manager=1 operation=2 apiVersion=3 time=4* fieldsType=6 fieldsV1=7* subresource=8");
  CHECK(ObjectMetaSchema()->FindField("finalizers")->schema->list_type == Schema::ListType::kSet);
}

TEST_CASE("runtime: ListMeta has Go's fields in Go's order", "[runtime]") {
  CHECK(Outline(*ListMetaSchema()) ==
        "selfLink=1 resourceVersion=2 continue=3 remainingItemCount=4* shardInfo=5*");
}

TEST_CASE("runtime: FindField looks into inlined structs, the outer field first", "[runtime]") {
  const SchemaPtr inner = StructBuilder("Inner")
                              .Field("a", StringSchema(), {.proto_number = 1})
                              .Field("b", StringSchema(), {.proto_number = 2})
                              .Build();
  const SchemaPtr outer = StructBuilder("Outer")
                              .Field("", inner, {.inlined = true})
                              .Field("a", StringSchema(), {.proto_number = 3})
                              .Build();
  CHECK(outer->FindField("a")->proto_number == 3);
  CHECK(outer->FindField("b")->proto_number == 2);
  CHECK(outer->FindField("c") == nullptr);
}

TEST_CASE("runtime: a schema of a million levels is destroyed without the stack", "[runtime]") {
  SchemaPtr deep = StringSchema();
  for (int i = 0; i < 500'000; ++i) {
    deep = StructBuilder("").Field("a", ListOf(std::move(deep))).Build();
  }
  const SchemaPtr part = deep->FindField("a")->schema;
  deep.reset();
  CHECK(part->items()->FindField("a") != nullptr);
}

TEST_CASE("runtime: OpenAPI words of the types", "[runtime]") {
  CHECK(OpenApiType(*IntegerSchema(32)) == "integer");
  CHECK(IntegerSchema(32)->constraints().format() == "int32");
  CHECK(OpenApiType(*NumberSchema()) == "number");
  CHECK(OpenApiType(*BooleanSchema()) == "boolean");
  CHECK(OpenApiType(*TimeSchema()) == "string");
  CHECK(OpenApiType(*QuantitySchema()) == "string");
  CHECK(OpenApiType(*ListOf(StringSchema())) == "array");
  CHECK(OpenApiType(*MapOf(StringSchema())) == "object");
  CHECK(OpenApiType(*RawExtensionSchema()) == "object");
  CHECK(OpenApiType(*IntOrStringSchema()).empty());
  CHECK(OpenApiType(*AnySchema()).empty());
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
