#include "apiserver/runtime/schema_path.h"

#include <catch2/catch.hpp>

#include "apiserver/runtime/schema.h"

using namespace apiserver::runtime;  // NOLINT: a test.

namespace {

SchemaPtr PetSchema() {
  const auto owner = StructBuilder("").Field("name", StringSchema()).Build();
  SchemaParts open(*StructBuilder("").Field("known", StringSchema()).Build());
  open.preserve_unknown_fields = true;
  SchemaParts pod(*StructBuilder("").Build());
  pod.embedded_resource = true;
  return StructBuilder("")
      .Field("metadata", ObjectMetaSchema())
      .Field("size", IntegerSchema(32))
      .Field("owners", ListOf(owner))
      .Field("tags", MapOf(owner))
      .Field("any", AnySchema())
      .Field("open", MakeSchema(open))
      .Field("pod", MakeSchema(pod))
      .Build();
}

std::string Complaint(std::string_view path) {
  const SchemaPtr schema = PetSchema();
  const auto found = SchemaAt(*schema, path);
  return found.ok() ? "" : std::string(found.status().message());
}

}  // namespace

TEST_CASE("runtime: a path of a Schema's fields leads to their schemas", "[runtime]") {
  const SchemaPtr schema = PetSchema();
  CHECK((*SchemaAt(*schema, "size"))->type == SchemaType::kInteger);
  CHECK((*SchemaAt(*schema, ".size"))->type == SchemaType::kInteger);
  CHECK((*SchemaAt(*schema, "metadata.creationTimestamp"))->type == SchemaType::kTime);
  CHECK((*SchemaAt(*schema, "metadata.labels.anything"))->type == SchemaType::kString);
  CHECK((*SchemaAt(*schema, "tags.red.name"))->type == SchemaType::kString);
  const Schema* const owners = *SchemaAt(*schema, "owners");
  REQUIRE(owners->type == SchemaType::kList);
  CHECK((*MemberSchema(**ItemSchema(*owners), "name"))->type == SchemaType::kString);
}

TEST_CASE("runtime: below a field that takes anything every path leads on", "[runtime]") {
  const SchemaPtr schema = PetSchema();
  for (const char* path : {"any.of.this", "open.other.deep", "pod.kind", "pod.metadata.name"}) {
    const auto found = SchemaAt(*schema, path);
    INFO(path);
    REQUIRE(found.ok());
    CHECK(*found == nullptr);
  }
  CHECK((*SchemaAt(*schema, "open.known"))->type == SchemaType::kString);
}

TEST_CASE("runtime: a path that leads nowhere is told with the fields that there are",
          "[runtime]") {
  CHECK(
      Complaint("sise") ==
      "sise: there is no field \"sise\" (there are metadata, size, owners, tags, any, open, pod)");
  CHECK(Complaint("tags.red.nmae.first") ==
        "tags.red.nmae.first: there is no field \"nmae\" (there are name)");
  CHECK(Complaint("size.bytes") == "size.bytes: a value of type integer has no members");
  CHECK(Complaint("owners.name") == "owners.name: a value of type array has no members");
  CHECK(Complaint("pod.spec") == "pod.spec: there is no field \"spec\"");
  CHECK(Complaint("") ==
        ": there is no field \"\" (there are metadata, size, owners, tags, any, "
        "open, pod)");
  // ObjectMeta has more fields than a message lists.
  CHECK(Complaint("metadata.nme").find(", …)") != std::string::npos);
  CHECK(ItemSchema(*IntegerSchema(32)).status().message() ==
        "a value of type integer has no items");
}
