// Rules in CEL of a kind from a CustomResourceDefinition, on every way to write an object.
#include <algorithm>
#include <string>
#include <vector>

#include "apiserver/codec/schema_loader.h"
#include "apiserver/codec/yaml.h"
#include "registry/fixture.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Edited;
using testing::Fixture;

namespace {

constexpr std::string_view kCrd = R"yaml(
spec:
  group: test.example.com
  scope: Namespaced
  names: {kind: Range, plural: ranges}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations:
        - rule: "self.kind == 'Range' && self.apiVersion == 'test.example.com/v1'"
        - rule: "self.metadata.name.startsWith('r') || has(self.metadata.generateName)"
          message: names begin with r
        properties:
          spec:
            type: object
            required: [min]
            x-kubernetes-validations:
            - rule: self.min <= self.max
              messageExpression: "'min ' + string(self.min) + ' exceeds ' + string(self.max)"
              fieldPath: .min
            properties:
              min: {type: integer, default: 1}
              max:
                type: integer
                default: 9
                x-kubernetes-validations: [{rule: "self % 2 == 1", message: max must be odd}]
              unit:
                type: string
                x-kubernetes-validations: [{rule: self == oldSelf, message: unit is immutable,
                                            reason: FieldValueForbidden}]
          status:
            type: object
            properties:
              now: {type: integer}
            x-kubernetes-validations: [{rule: self.now > 0}]
)yaml";

struct RangeFixture : Fixture {
  RangeFixture() { kind = runtime::Kind::New(codec::KindOptionsFromCrd(kCrd).value()).value(); }

  std::unique_ptr<runtime::Object> Range(std::string_view name, std::string_view spec) {
    auto object = std::make_unique<runtime::Object>(kind, "v1");
    object->SetRoot(codec::ParseYaml(object->arena().Copy("{metadata: {name: " + std::string(name) +
                                                          "}, spec: " + std::string(spec) + "}"),
                                     object->arena())
                        .value());
    return object;
  }
  // The message of a create, without the words before the errors. Empty: it was done.
  std::string Creating(std::string_view name, std::string_view spec) {
    return MessageOf(TryCreate(Range(name, spec)).status());
  }
  std::string Editing(std::string_view name, const Edited::Edit& edit) {
    warnings->Take();
    return MessageOf(Edit(name, edit).status());
  }
  static std::string MessageOf(const Status& status) {
    if (status.ok()) return "";
    CHECK(status.reason() == Reason::kInvalid);
    const std::string message(status.message());
    const std::size_t at = message.find("is invalid: ");
    return at == std::string::npos ? message : message.substr(at + 12);
  }
};

}  // namespace

TEST_CASE("registry: rules of a kind judge creates", "[registry]") {
  RangeFixture fixture;
  CHECK(fixture.Creating("range", "{min: 1, max: 3}").empty());
  CHECK(fixture.Creating("other", "{min: 5, max: 3}") ==
        "[<nil>: Invalid value: names begin with r, spec.min: Invalid value: min 5 exceeds 3]");
  CHECK(fixture.Creating("range2", "{min: 1, max: 4, unit: m}") ==
        "spec.max: Invalid value: 4: max must be odd");
  // Rules do not run over a wrong shape.
  CHECK(fixture.Creating("range3", "{max: 4}") ==
        "[spec.min: Required value, <nil>: Invalid value: null: some validation rules were not "
        "checked because the object was invalid; correct the existing errors to complete "
        "validation]");
}

TEST_CASE("registry: rules of a kind judge updates with the old object", "[registry]") {
  RangeFixture fixture;
  REQUIRE(fixture.Creating("range", "{min: 1, max: 3, unit: m}").empty());
  CHECK(fixture.Editing("range", [](runtime::Object& object) {
    object.Edit("spec", "unit") = "s";
  }) == "spec.unit: Forbidden: unit is immutable");
  CHECK(fixture.Editing("range", [](runtime::Object& object) { object.Edit("spec", "max") = 2; }) ==
        "spec.max: Invalid value: 2: max must be odd");
  CHECK(fixture
            .Editing("range",
                     [](runtime::Object& object) {
                       object.Edit("spec", "max") = 5;
                       object.Erase("spec", "unit");
                     })
            .empty());
}

TEST_CASE("registry: a rule that came later warns of what an update leaves", "[registry]") {
  RangeFixture fixture;
  fixture.options.validate_schema = false;
  REQUIRE(fixture.Creating("range", "{min: 1, max: 4}").empty());
  fixture.store.reset();
  fixture.options.validate_schema = true;
  CHECK(fixture.Editing("range", [](runtime::Object& object) { object.Edit("spec", "min") = 2; })
            .empty());
  const std::vector<std::string> warned = fixture.warnings->Take();
  CHECK(std::count(warned.begin(), warned.end(), "spec.max: Invalid value: 4: max must be odd") ==
        1);
}

TEST_CASE("registry: rules of a kind judge its status", "[registry]") {
  RangeFixture fixture;
  REQUIRE(fixture.Creating("range", "{min: 1, max: 3}").empty());
  const auto status =
      registry::NewStatusStore(fixture.store, std::make_shared<testing::StatusStrategy>());
  REQUIRE(status.ok());
  const auto set = [&](int now) {
    const Edited info([now](runtime::Object& object) { object.Edit("status", "now") = now; });
    const rest::UpdateRequest request{info, nullptr, nullptr, false, {}};
    return RangeFixture::MessageOf(
        rest::Capabilities::Of(**status).updater->Update(fixture.ctx, "range", request).status());
  };
  CHECK(set(0) == "status: Invalid value: failed rule: self.now > 0");
  CHECK(set(1).empty());
}
