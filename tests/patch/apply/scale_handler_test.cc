#include "apiserver/patch/apply/scale_handler.h"

#include <string>
#include <vector>

#include "apiserver/codec/json.h"
#include "catch2/catch.hpp"

// managedfields scalehandler_test.go
namespace apiserver::inline v0::test {
namespace {

using namespace patch::apply;

// An entry of managedFields: "u:" an Update, "a:" an Apply; the fields below spec by comma.
struct ScaleWho {
  std::string manager;
  char operation = 'a';
  std::string version;
  std::string fields;
  bool scale = false;
  std::string time = "";
  std::string below = "spec";
};

std::string Json(const std::vector<ScaleWho>& entries) {
  if (entries.empty()) return "null";
  std::string json;
  for (const ScaleWho& who : entries) {
    json += json.empty() ? '[' : ',';
    json += R"({"manager":")" + who.manager + R"(","operation":")" +
            (who.operation == 'a' ? "Apply" : "Update") + R"(","apiVersion":")" + who.version + '"';
    if (!who.time.empty()) json += R"(,"time":")" + who.time + '"';
    json += R"(,"fieldsType":"FieldsV1","fieldsV1":{"f:)" + who.below + "\":{";
    std::string fields = who.fields;
    for (std::size_t at = 0; !fields.empty();) {
      at = std::min(fields.find(','), fields.size());
      json += "\"f:" + fields.substr(0, at) + "\":{}";
      fields.erase(0, at + 1);
      if (!fields.empty()) json += ',';
    }
    json += "}}";
    if (who.scale) json += R"(,"subresource":"scale")";
    json += '}';
  }
  return json + "]";
}

Path Below(std::string_view name) {
  return {PathElement::FieldName("spec"), PathElement::FieldName(name)};
}

std::string Text(const Result<runtime::Value>& value) {
  if (!value.ok()) return value.status().ToString();
  std::string json;
  codec::AppendJson(*value, json);
  return json;
}

struct ScaleCase {
  std::string name;
  std::vector<ScaleWho> parent;
  std::vector<ScaleWho> scale;
  std::vector<ScaleWho> expected;
  std::string version = "apps/v1";
  ResourcePathMappings mappings = {{"apps/v1", Below("replicas")}};
};

}  // namespace

// managedfields TestTransformManagedFieldsToSubresource
TEST_CASE("scale handler: a scale shows who owns the replicas", "[apply]") {
  const std::string time = "2013-02-03T00:00:00Z";
  const std::vector<ScaleCase> cases = {
      {"filter one entry",
       {{"manager-1", 'a', "apps/v1", "another-field"},
        {"manager-2", 'a', "apps/v1", "replicas", false, time}},
       {},
       {{"manager-2", 'a', "autoscaling/v1", "replicas", false, time}}},
      {"transform all entries",
       {{"manager-1", 'a', "apps/v1", "replicas"},
        {"manager-2", 'a', "apps/v1", "replicas"},
        {"manager-3", 'a', "apps/v1", "replicas", true}},
       {},
       {{"manager-1", 'a', "autoscaling/v1", "replicas"},
        {"manager-2", 'a', "autoscaling/v1", "replicas"},
        {"manager-3", 'a', "autoscaling/v1", "replicas", true}}},
      {"an unknown version", {{"manager-1", 'a', "apps/v10", "replicas"}}, {}, {}}};
  for (const ScaleCase& c : cases) {
    INFO(c.name);
    runtime::Arena arena;
    const std::string parent = Json(c.parent);
    const ScaleHandler handler(*codec::ParseJson(parent, arena), c.version, c.mappings);
    CHECK(Text(handler.ToSubresource(arena)) == Json(c.expected));
  }
}

namespace {

ScaleWho Whole(char operation) { return {"test", operation, "apps/v1", "replicas,selector"}; }
ScaleWho Rest(char operation) { return {"test", operation, "apps/v1", "selector"}; }
ScaleWho By(std::string manager, char operation, std::string version,
            std::string field = "replicas") {
  return {std::move(manager), operation, std::move(version), std::move(field), true};
}

constexpr char kScale[] = "autoscaling/v1";

void CheckToParent(const std::vector<ScaleCase>& cases) {
  for (const ScaleCase& c : cases) {
    INFO(c.name);
    runtime::Arena arena;
    const std::string parent = Json(c.parent);
    const std::string written = Json(c.scale);
    const ScaleHandler handler(*codec::ParseJson(parent, arena), c.version, c.mappings);
    CHECK(Text(handler.ToParent(*codec::ParseJson(written, arena), arena)) == Json(c.expected));
  }
}

}  // namespace

// managedfields TestTransformingManagedFieldsToParent
TEST_CASE("scale handler: what is written through a scale changes owners", "[apply]") {
  CheckToParent(
      {{"different managers: apply -> update",
        {Whole('a')},
        {By("scale", 'u', kScale)},
        {Rest('a'), By("scale", 'u', "apps/v1")}},
       {"different managers: apply -> apply",
        {Whole('a')},
        {By("scale", 'a', kScale)},
        {By("scale", 'a', "apps/v1"), Rest('a')}},
       {"different managers: update -> update",
        {Whole('u')},
        {By("scale", 'u', kScale)},
        {By("scale", 'u', "apps/v1"), Rest('u')}},
       {"different managers: update -> apply",
        {Whole('u')},
        {By("scale", 'a', kScale)},
        {By("scale", 'a', "apps/v1"), Rest('u')}},
       {"same manager: apply -> apply",
        {Whole('a')},
        {By("test", 'a', kScale)},
        {Rest('a'), By("test", 'a', "apps/v1")}},
       {"same manager: update -> update",
        {Whole('u')},
        {By("test", 'u', kScale)},
        {Rest('u'), By("test", 'u', "apps/v1")}},
       {"same manager: update -> apply",
        {Whole('u')},
        {By("test", 'a', kScale)},
        {By("test", 'a', "apps/v1"), Rest('u')}},
       {"same manager: apply -> update",
        {Whole('a')},
        {By("test", 'u', kScale)},
        {Rest('a'), By("test", 'u', "apps/v1")}},
       {"the subresource does not own the path any more",
        {Rest('a')},
        {{"scale", 'u', kScale, "replicas", true, "", "status"}},
        {Rest('a')}},
       {"the subresource takes all fields",
        {{"test", 'a', "apps/v1", "replicas"}},
        {By("scale", 'u', kScale)},
        {By("scale", 'u', "apps/v1")}},
       {"apply without taking",
        {Whole('a')},
        {{"test", 'a', kScale, "replicas"}, By("test", 'a', kScale)},
        {Whole('a'), By("test", 'a', "apps/v1")}},
       {"an unknown version",
        {{"test", 'a', "apps/v1", "replicas"}, {"another-manager", 'a', "apps/v10", "selector"}},
        {{"scale", 'u', kScale, "replicas"}},
        {{"scale", 'u', "apps/v1", "replicas"}}}});
}

// managedfields TestTransformingManagedFieldsToParentMultiVersion
TEST_CASE("scale handler: each version has its own path to the replicas", "[apply]") {
  const ResourcePathMappings two = {{"apps/v1", Below("the-replicas")},
                                    {"apps/v2", Below("not-the-replicas")}};
  const ResourcePathMappings one = {{"mygroup/v1", Below("the-replicas")}, {"mygroup/v2", {}}};
  CheckToParent({{"multi-version",
                  {{"test", 'a', "apps/v1", "selector,the-replicas"},
                   {"test-other", 'a', "apps/v2", "not-the-replicas,selector"}},
                  {By("scale", 'u', kScale)},
                  {{"test", 'a', "apps/v1", "selector"},
                   {"test-other", 'a', "apps/v2", "selector"},
                   By("scale", 'u', "apps/v1", "the-replicas")},
                  "apps/v1",
                  two},
                 {"a version without scale",
                  {{"test", 'a', "mygroup/v1", "selector,the-replicas"},
                   {"test-other", 'a', "mygroup/v2", "test-other"}},
                  {By("scale", 'u', kScale)},
                  {{"test", 'a', "mygroup/v1", "selector"},
                   {"test-other", 'a', "mygroup/v2", "test-other"},
                   By("scale", 'u', "mygroup/v1", "the-replicas")},
                  "mygroup/v1",
                  one}});
}

}  // namespace apiserver::inline v0::test
