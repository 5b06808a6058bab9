#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/codec/yaml.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/schema.h"
#include "rest/validate_by_schema.h"

namespace apiserver::inline v0::rest {
namespace {

using runtime::SchemaPart;
using Texts = std::vector<std::string>;

// The errors about an object of a kind with a scale subresource, whose content nothing limits.
Texts ScaleErrors(std::string_view yaml, SchemaPart part = SchemaPart::kObject) {
  runtime::SchemaParts root(*runtime::StructBuilder("")
                                 .Field("metadata", runtime::ObjectMetaSchema())
                                 .Field("status", runtime::AnySchema())
                                 .Build());
  root.preserve_unknown_fields = true;
  runtime::KindOptions options{.group = "example.com", .kind = "Foo", .plural = "foos"};
  options.semantics = runtime::Semantics::kCustomResource;
  runtime::KindVersion version{.version = "v1", .schema = MakeSchema(root)};
  version.scale = runtime::ScalePaths{.label_selector = ".status.selector"};
  options.versions = {version};
  runtime::Arena arena;
  const runtime::Value content = codec::ParseYaml(yaml, arena).value();
  const runtime::Object object(runtime::Kind::New(std::move(options)).value(), "v1",
                               std::move(arena), content);
  Texts messages;
  for (const field::Error& error :
       ValidateBySchema(Context::Background(), object, nullptr, {.part = part})) {
    messages.push_back(error.Message());
  }
  return messages;
}

TEST_CASE("rest: what the scale of a custom resource shows has bounds", "[rest]") {
  CHECK(ScaleErrors("{spec: {replicas: 3}, status: {replicas: 0, selector: a=b}}").empty());
  CHECK(ScaleErrors("{}").empty());
  CHECK(ScaleErrors("{spec: {replicas: -1}}") ==
        Texts{".spec.replicas: Invalid value: -1: should be a non-negative integer"});
  CHECK(ScaleErrors("{spec: {replicas: 2147483648}}") ==
        Texts{".spec.replicas: Invalid value: 2147483648: should be less than or equal to "
              "2147483647"});
  CHECK(ScaleErrors("{spec: {replicas: '5'}}") ==
        Texts{".spec.replicas: Invalid value: 0: .spec.replicas accessor error: 5 is of the type "
              "string, expected int64"});
  CHECK(ScaleErrors("{spec: 7}") ==
        Texts{".spec.replicas: Invalid value: 0: .spec.replicas accessor error: 7 is of the type "
              "int64, expected map[string]interface{}"});
  CHECK(ScaleErrors("{status: {selector: 7}}") ==
        Texts{R"(.status.selector: Invalid value: "": .status.selector accessor error: 7 is of )"
              "the type int64, expected string"});
}

TEST_CASE("rest: of a status only its own part of the scale is checked", "[rest]") {
  CHECK(ScaleErrors("{spec: {replicas: -1}, status: {replicas: -2}}", SchemaPart::kStatus) ==
        Texts{".status.replicas: Invalid value: -2: should be a non-negative integer"});
  CHECK(ScaleErrors("{spec: {replicas: -1}}", SchemaPart::kNone).empty());
}

}  // namespace
}  // namespace apiserver::inline v0::rest
