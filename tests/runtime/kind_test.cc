#include "apiserver/runtime/kind.h"

#include <catch2/catch.hpp>

#include "runtime/text.h"

namespace apiserver::inline v0::runtime {
namespace {

KindVersion Version(std::string name, SchemaPtr schema = testing::WithSpec(AnySchema())) {
  KindVersion version;
  version.version = std::move(name);
  version.schema = std::move(schema);
  return version;
}

KindOptions Flunder() {
  KindOptions options;
  options.group = "wardle.example.com";
  options.kind = "Flunder";
  options.plural = "flunders";
  options.versions = {Version("v1beta1"), Version("v1alpha1")};
  return options;
}

std::string Problems(KindOptions options) {
  const Result<KindPtr> kind = Kind::New(std::move(options));
  if (kind.ok()) return "";
  CHECK(kind.status().reason() == Reason::kInvalid);
  return std::string(kind.status().message());
}

TEST_CASE("runtime: a kind fills in what follows from its name", "[runtime]") {
  const KindPtr kind = Kind::New(Flunder()).value();
  CHECK(kind->singular() == "flunder");
  CHECK(kind->list_kind() == "FlunderList");
  CHECK(kind->hub_version() == "v1beta1");
  CHECK(kind->storage_version() == "v1beta1");
  CHECK(kind->group_resource().ToString() == "flunders.wardle.example.com");
  CHECK(kind->FindVersion("v1alpha1")->version == "v1alpha1");
  CHECK(kind->FindVersion("v9") == nullptr);
  CHECK(kind->JsonPrefix("v1alpha1") ==
        R"({"kind":"Flunder","apiVersion":"wardle.example.com/v1alpha1",)");
  CHECK(kind->JsonPrefix("v9").empty());
}

TEST_CASE("runtime: the body of a structural kind carries kind and apiVersion itself",
          "[runtime]") {
  const KindPtr kind =
      testing::WidgetKind(testing::WithSpec(AnySchema()), Semantics::kCustomResource);
  CHECK(kind->JsonPrefix("v1") == "{");
  CHECK(kind->JsonPrefix("v2").empty());
  CHECK(Kind::Untyped({"", "v1", "Pod"})->JsonPrefix("v1") == "{");
}

TEST_CASE("runtime: a kind with bad names is refused with all problems", "[runtime]") {
  KindOptions options = Flunder();
  options.group = "Wardle";
  options.kind = "";
  options.list_kind = "List";
  options.plural = "Flunders";
  options.singular = "flunder";
  options.short_names = {"f", "-f"};
  options.categories = {"all."};
  options.selectable_fields = {".spec"};
  CHECK(Problems(options) ==
        "kind \"\": group \"Wardle\" is no RFC 1123 subdomain; "
        "kind in lower case \"\" is no RFC 1035 label; plural \"Flunders\" is no RFC 1035 label; "
        "short name \"-f\" is no RFC 1035 label; category \"all.\" is no RFC 1035 label; "
        "selectable field \".spec\" is no path");
}

TEST_CASE("runtime: a kind with bad versions is refused", "[runtime]") {
  KindOptions options = Flunder();
  options.versions = {};
  CHECK(Problems(options) == "kind \"Flunder\": no versions");
  options = Flunder();
  options.versions.push_back(Version("v1beta1"));
  options.versions[0].to_hub = [](Object&) { return Status(); };
  options.storage_version = "v2";
  options.hub_version = "v3";
  CHECK(Problems(options) ==
        "kind \"Flunder\": v1beta1: to_hub and from_hub belong together; "
        "version \"v1beta1\" is there twice; hub version \"v3\" is no version; "
        "storage version \"v2\" is no version");
}

TEST_CASE("runtime: a hub that converts to itself is refused", "[runtime]") {
  KindOptions options = Flunder();
  options.versions[0].to_hub = [](Object&) { return Status(); };
  options.versions[0].from_hub = options.versions[0].to_hub;
  CHECK(Problems(options) == "kind \"Flunder\": v1beta1: the hub does not convert to itself");
}

TEST_CASE("runtime: a kind with a bad schema is refused with the place", "[runtime]") {
  SchemaParts bad_pattern(*StringSchema());
  bad_pattern.constraints.pattern = "(";
  SchemaParts list_map(*ListMapOf(StructBuilder("").Field("a", StringSchema()).Build(), {"b"}));
  const SchemaPtr spec = StructBuilder("")
                             .Field("p", MakeSchema(bad_pattern))
                             .Field("list", ListOf(nullptr))
                             .Field("map", MapOf(IntegerSchema(8)))
                             .Field("map", StringSchema())
                             .Field("keyed", MakeSchema(list_map))
                             .Field("", StringSchema())
                             .Build();
  KindOptions options = Flunder();
  options.versions = {Version("v1", testing::WithSpec(spec))};
  CHECK(Problems(options) ==
        "kind \"Flunder\": v1.spec.map: declared twice; v1.spec: a field without name; "
        "v1.spec.keyed: key \"b\" of the list map is no field; "
        "v1.spec.map.*: integers have 32 or 64 bits; v1.spec.list[]: no schema; "
        "v1.spec.p: invalid pattern: error parsing regexp: missing closing ): `(`");
}

TEST_CASE("runtime: the envelope is no part of a schema, and metadata comes first", "[runtime]") {
  const SchemaPtr schema =
      StructBuilder("").Field("kind", StringSchema()).Field("metadata", ObjectMetaSchema()).Build();
  KindOptions options = Flunder();
  options.versions = {Version("v1", schema), Version("v2", StringSchema())};
  CHECK(Problems(options) ==
        "kind \"Flunder\": v1: kind belongs to the envelope, not to the schema; "
        "v1: metadata must be the first field; v2: the schema is no struct");
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
