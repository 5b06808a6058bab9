#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "runtime/text.h"

namespace apiserver::inline v0::runtime {
namespace {

using testing::ObjectOf;
using testing::Print;

SchemaPtr WithFields(const std::string& one, const std::string& other) {
  return testing::WithSpec(
      StructBuilder("").Field(one, StringSchema()).Field(other, StringSchema()).Build());
}

std::function<Status(Object&)> Rename(std::string from, std::string to) {
  return [from, to](Object& object) {
    object.Edit("spec", to) = object["spec"][from].AsString();
    object.Erase("spec", from);
    return Status();
  };
}

// The hub v2 says "reference", v1 "ref", v1beta1 what the hub says; v3 is broken.
KindPtr Versions() {
  KindOptions options;
  options.group = "example.com";
  options.kind = "Widget";
  options.plural = "widgets";
  options.hub_version = "v2";
  const auto add = [&](std::string name, SchemaPtr schema) -> KindVersion& {
    KindVersion version;
    version.version = std::move(name);
    version.schema = std::move(schema);
    options.versions.push_back(std::move(version));
    return options.versions.back();
  };
  KindVersion& v1 = add("v1", WithFields("ref", "size"));
  v1.to_hub = Rename("ref", "reference");
  v1.from_hub = Rename("reference", "ref");
  add("v2", WithFields("reference", "size"));
  add("v1beta1", WithFields("reference", "size"));
  KindVersion& v3 = add("v3", WithFields("reference", "size"));
  v3.to_hub = [](Object&) -> Status { throw std::runtime_error("thrown"); };
  v3.from_hub = [](Object& object) {
    object.Edit("spec", "reference") = "half done";
    return Status(Reason::kInvalid, "refused");
  };
  return Kind::New(std::move(options)).value();
}

TEST_CASE("runtime: versions convert through the hub, fields in the target's order", "[runtime]") {
  const auto object =
      ObjectOf(Versions(), R"({"metadata":{"name":"n"},"spec":{"ref":"r","size":"s"}})", "v1");
  REQUIRE(ConvertTo(*object, "v1beta1").ok());
  CHECK(object->version() == "v1beta1");
  CHECK(Print(*object) == R"({"metadata":{"name":"n"},"spec":{"reference":"r","size":"s"}})");
  REQUIRE(ConvertTo(*object, "v1").ok());
  CHECK(Print(*object) == R"({"metadata":{"name":"n"},"spec":{"ref":"r","size":"s"}})");
}

TEST_CASE("runtime: converting to the same shape changes the version alone", "[runtime]") {
  const auto object = ObjectOf(Versions(), R"({"spec":{"size":"s"}})", "v2");
  const void* const before = object->root().members().data();
  REQUIRE(ConvertTo(*object, "v2").ok());
  REQUIRE(ConvertTo(*object, "v1beta1").ok());
  CHECK(object->root().members().data() == before);
  CHECK(object->version() == "v1beta1");
}

TEST_CASE("runtime: a version that does not exist is a bad request", "[runtime]") {
  const auto object = ObjectOf(Versions(), "{}", "v1");
  const Status status = ConvertTo(*object, "v9");
  CHECK(status.reason() == Reason::kBadRequest);
  CHECK(status.message() == "no version \"v9\" of Widget.example.com");
}

TEST_CASE("runtime: a failed or throwing conversion leaves the object as it was", "[runtime]") {
  const auto object = ObjectOf(Versions(), R"({"spec":{"ref":"r"}})", "v1");
  const Status refused = ConvertTo(*object, "v3");
  CHECK(refused.reason() == Reason::kInternalError);
  CHECK(refused.message() == "conversion of example.com/v2, Kind=Widget failed: refused");
  CHECK(object->version() == "v1");
  CHECK(Print(*object) == R"({"spec":{"ref":"r"}})");

  const auto broken = ObjectOf(Versions(), "{}", "v3");
  CHECK(ConvertTo(*broken, "v1").message() ==
        "conversion of example.com/v3, Kind=Widget failed: thrown");
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
