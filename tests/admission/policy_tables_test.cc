// Upstream's tables of which requests a policy is about and of warnings about types: TestMatcher of
// plugin/policy/matching, TestTypeCheck and TestExtractTypeNames of plugin/policy/validating.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "admission/policy/match_resources.h"
#include "admission/policy/type_check.h"
#include "apiserver/codec/codec.h"
#include "apiserver/groups/admissionregistration.h"
#include "apiserver/runtime/schema.h"
#include "contains.h"
#include "json_lines.h"

using namespace apiserver;  // NOLINT: tests only.
using admission::policy::ExpressionWarning;
using apiserver::testing::Contains;
using apiserver::testing::JsonLines;
using runtime::GroupVersionKind;
using runtime::GroupVersionResource;
using runtime::Value;

namespace {

GroupVersionKind KindOfRow(const Value& row) {
  return {JsonLines::Text(row, "Group"), JsonLines::Text(row, "Version"),
          JsonLines::Text(row, "Kind")};
}

GroupVersionResource ResourceOfRow(const Value& row) {
  return {JsonLines::Text(row, "Group"), JsonLines::Text(row, "Version"),
          JsonLines::Text(row, "Resource")};
}

// The deployments of four versions, as TestMatcher registers them.
class DeploymentVersions final : public admission::EquivalentResourceMapper {
 public:
  std::vector<admission::EquivalentResource> EquivalentResourcesFor(
      const GroupVersionResource& resource, std::string_view subresource) const override {
    if (resource.resource != "deployments") return {};
    const std::pair<const char*, const char*> versions[] = {
        {"extensions", "v1beta1"}, {"apps", "v1"}, {"apps", "v1beta1"}, {"apps", "v1alpha1"}};
    std::vector<admission::EquivalentResource> all;
    for (const auto& [group, version] : versions) {
      GroupVersionKind kind{group, version, subresource == "scale" ? "Scale" : "Deployment"};
      if (kind == GroupVersionKind{"apps", "v1", "Scale"}) kind = {"autoscaling", "v1", "Scale"};
      all.push_back({{group, version, "deployments"}, kind});
    }
    return all;
  }
};

// A request of TestMatcher; all are creates.
admission::Attributes AttributesOfRow(const Value& row) {
  return {.operation = admission::Operation::kCreate,
          .kind = KindOfRow(row["kind"]),
          .resource = ResourceOfRow(row["resource"]),
          .subresource = JsonLines::Text(row, "subresource"),
          .namespace_ = JsonLines::Text(row, "namespace"),
          .name = JsonLines::Text(row, "name")};
}

// The schemas of TestTypeCheck.
runtime::SchemaPtr SchemaOfRow(const Value& row) {
  const std::string_view type = row["type"].AsString();
  if (type == "string") return runtime::StringSchema();
  if (type == "integer") return runtime::IntegerSchema(64);
  if (type != "object" || row["additionalProperties"].AsBool()) return runtime::AnySchema();
  runtime::StructBuilder builder("com.example.Checked", "");
  for (const runtime::Member& member : row["properties"].members()) {
    builder.Field(std::string(member.key), SchemaOfRow(member.value));
  }
  return builder.Build();
}

// Knows one schema, which every kind has.
class OneSchema final : public admission::policy::TypeResolver {
 public:
  explicit OneSchema(runtime::SchemaPtr schema) : schema_(std::move(schema)) {}
  std::vector<GroupVersionKind> KindsFor(const GroupVersionResource& resource) const override {
    const std::map<std::string, std::string, std::less<>> kinds{
        {"deployments", "Deployment"}, {"pods", "Pod"}, {"reproducers", "Reproducer"}};
    const auto at = kinds.find(resource.resource);
    if (at == kinds.end()) return {};
    return {{resource.group, resource.version, at->second}};
  }
  runtime::SchemaPtr SchemaFor(const GroupVersionKind& kind) const override {
    asked.push_back(kind);
    return schema_;
  }

  mutable std::vector<GroupVersionKind> asked;

 private:
  runtime::SchemaPtr schema_;
};

std::unique_ptr<runtime::Object> PolicyOfRow(const Value& json) {
  runtime::KindPtr found;
  const auto kinds = groups::admissionregistration::PolicyKinds();
  REQUIRE(kinds.ok());
  for (const runtime::KindPtr& kind : *kinds) {
    if (kind->kind() == "ValidatingAdmissionPolicy") found = kind;
  }
  auto body = std::make_shared<std::string>();
  codec::AppendJson(json, *body);
  auto decoded = codec::DecodeObject(codec::MediaType::kJson, std::move(body),
                                     {.kind = found, .version = "v1"});
  REQUIRE(decoded.ok());
  return std::move(decoded->object);
}

// The fields and texts that upstream's assertions, which are functions, want. Other rows want no
// warning.
const std::map<std::string, ExpressionWarning, std::less<>> kWantedWarnings = {
    {"undefined field", {"spec.validations[0].expression", "undefined field 'foo'"}},
    {"field type mismatch", {"spec.validations[0].expression", "found no matching overload"}},
    {"params", {"spec.validations[0].expression", "undefined field 'bar'"}},
    {"multiple expressions", {"spec.validations[1].expression", ""}},
    {"message expressions", {"spec.validations[0].messageExpression", ""}},
    {"authorizer invalid",
     {"spec.validations[0].expression",
      "found no matching overload for 'allowed' applied to 'kubernetes.authorization.Authorizer"}},
    {"variables missing field",
     {"spec.validations[0].expression", "undefined field 'nonExisting'"}},
    {"variables field wrong type",
     {"spec.validations[0].expression",
      "found no matching overload for '_==_' applied to '(string, int)"}},
};

}  // namespace

// matching_test.go TestMatcher
TEST_CASE("policy tables: rules choose requests", "[admission]") {
  const JsonLines lines("tests/cel/data/policy_matching.jsonl");
  const DeploymentVersions versions;
  CHECK(lines.rows().size() == 24);
  for (const Value& line : lines.rows()) {
    const Value row = line["row"];
    INFO(row["name"].AsString());
    admission::Attributes attributes = AttributesOfRow(row["attrs"]);
    attributes.equivalents = &versions;
    const auto match =
        admission::policy::MatchResourcesOf(row["criteria"]["json"], /*required=*/true);
    const auto matched = admission::policy::ResourceMatcher(nullptr).Match(
        Context::Background(), match, attributes, nullptr);
    const std::string error = JsonLines::Text(row, "expectErr");
    if (!error.empty()) {
      CHECK(Contains(matched.status().message(), error));
      continue;
    }
    // Without its defaults a policy is incomplete; upstream matches nothing then.
    if (!row["expectMatches"].AsBool()) {
      CHECK((!matched.ok() || !*matched));
      continue;
    }
    REQUIRE(matched.ok());
    REQUIRE(*matched);
    if (!row["expectMatchKind"].is_null()) {
      CHECK((*matched)->kind == KindOfRow(row["expectMatchKind"]));
    }
    const Value resource = row["expectMatchResource"];
    CHECK((*matched)->resource ==
          (resource.is_null() ? attributes.resource : ResourceOfRow(resource)));
  }
}

// typechecking_test.go TestTypeCheck
TEST_CASE("policy tables: expressions are warned about", "[admission]") {
  const JsonLines lines("tests/cel/data/policy_validating.jsonl");
  std::size_t rows = 0;
  std::size_t warned = 0;
  for (const Value& line : lines.rows()) {
    if (line["table"].AsString() != "TestTypeCheck") continue;
    ++rows;
    const Value row = line["row"];
    INFO(row["name"].AsString());
    const Value schema = row["schemaToReturn"]["$schema"];
    const OneSchema resolver(schema.is_null() ? nullptr : SchemaOfRow(schema));
    const auto policy = PolicyOfRow(row["policy"]["json"]);
    const auto warnings = admission::policy::CheckTypes(*policy, resolver);
    const auto wanted = kWantedWarnings.find(row["name"].AsString());
    if (wanted == kWantedWarnings.end()) {
      CHECK(warnings.empty());
      continue;
    }
    ++warned;
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].field_ref == wanted->second.field_ref);
    CHECK(Contains(warnings[0].warning, wanted->second.warning));
  }
  CHECK(rows == 17);
  CHECK(warned == kWantedWarnings.size());
}

TEST_CASE("policy tables: parameters of an unknown kind are not declared", "[admission]") {
  runtime::Arena arena;
  const auto json = codec::ParseJson(
      R"({"spec":{"paramKind":{"apiVersion":"v1","kind":"Missing"},"matchConstraints":)"
      R"({"resourceRules":[{"apiGroups":["apps"],"apiVersions":["v1"],"resources":)"
      R"(["deployments"]}]},"validations":[{"expression":"params.a == 1"}]}})",
      arena);
  REQUIRE(json.ok());
  // Knows the objects alone.
  class Objects final : public admission::policy::TypeResolver {
   public:
    std::vector<GroupVersionKind> KindsFor(const GroupVersionResource&) const override {
      return {{"apps", "v1", "Deployment"}};
    }
    runtime::SchemaPtr SchemaFor(const GroupVersionKind& kind) const override {
      return kind.kind == "Deployment" ? runtime::AnySchema() : nullptr;
    }
  };
  const auto warnings = admission::policy::CheckTypes(*PolicyOfRow(*json), Objects());
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].warning ==
        "apps/v1, Kind=Deployment: ERROR: <input>:1:1: undeclared reference to 'params' (in "
        "container '')\n | params.a == 1\n | ^\n");
}

// typechecking_test.go TestExtractTypeNames
TEST_CASE("policy tables: types are checked of kinds that rules name", "[admission]") {
  const JsonLines lines("tests/cel/data/policy_validating.jsonl");
  std::size_t rows = 0;
  for (const Value& line : lines.rows()) {
    if (line["table"].AsString() != "TestExtractTypeNames") continue;
    ++rows;
    const Value row = line["row"];
    INFO(row["name"].AsString());
    std::vector<GroupVersionKind> wanted;
    for (const Value& kind : row["expected"].items()) wanted.push_back(KindOfRow(kind));
    const OneSchema resolver(nullptr);
    CHECK(admission::policy::CheckTypes(*PolicyOfRow(row["policy"]["json"]), resolver).empty());
    CHECK(resolver.asked == wanted);
  }
  CHECK(rows == 6);
}
