#include "apiserver/patch/apply/managed_fields.h"

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/meta/managed_fields.h"
#include "apiserver/runtime/settle.h"
#include "catch2/catch.hpp"
#include "field_manager_fixture.h"

namespace apiserver::inline v0::test {
namespace {

Result<std::string> RoundTrip(std::string_view yaml) {
  runtime::Arena arena;
  const auto entries = codec::ParseYaml(yaml, arena);
  if (!entries.ok()) return entries.status();
  const auto managed = DecodeManagedFields(*entries, arena);
  if (!managed.ok()) return managed.status();
  const auto encoded = EncodeManagedFields(*managed, arena);
  if (!encoded.ok()) return encoded.status();
  // YAML knows no text that is kept: it is read again.
  std::string json;
  codec::AppendJson(*encoded, json);
  std::string out;
  codec::AppendYaml(*codec::ParseJson(json, arena), out);
  return out;
}

std::string Decoding(std::string_view yaml) {
  runtime::Arena arena;
  return std::string(DecodeManagedFields(*codec::ParseYaml(yaml, arena), arena).status().message());
}

}  // namespace

// internal TestHasFieldsType, TestHasAPIVersion, TestHasOperation
TEST_CASE("managed fields: an entry without operation, version or type cannot be read", "[apply]") {
  CHECK(Decoding("[{apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {'f:field': {}}, manager: foo, "
                 "operation: Apply}]")
            .empty());
  CHECK(Decoding("[{apiVersion: v1, fieldsType: FieldsV2, fieldsV1: {'f:field': {}}, manager: foo, "
                 "operation: Apply}]") ==
        "invalid fieldsType \"FieldsV2\" in managed fields entry 0");
  CHECK(Decoding("[{apiVersion: v1, fieldsV1: {'f:field': {}}, manager: foo, operation: Apply}]") ==
        "missing fieldsType in managed fields entry 0");
  CHECK(Decoding("[{fieldsType: FieldsV1, fieldsV1: {'f:field': {}}, manager: foo, "
                 "operation: Apply}]") == "apiVersion must not be empty");
  for (const std::string_view operation : {"Invalid", "\"\""}) {
    CHECK(Decoding("[{apiVersion: v1, fieldsType: FieldsV1, manager: foo, operation: " +
                   std::string(operation) + "}]") == "operation must be `Apply` or `Update`");
  }
}

TEST_CASE("managed fields: fields that are no field set cannot be read", "[apply]") {
  CHECK_FALSE(Decoding("[{apiVersion: v1, fieldsType: FieldsV1, fieldsV1: [1], manager: foo, "
                       "operation: Apply}]")
                  .empty());
}

// internal TestRoundTripManagedFields
TEST_CASE("managed fields: what is read is written the same", "[apply]") {
  for (const std::string_view yaml : std::vector<std::string_view>{"null\n",
                                                                   R"(- apiVersion: v1
  fieldsType: FieldsV1
  fieldsV1:
    v:3:
      f:alsoPi: {}
    v:3.1415:
      f:pi: {}
    v:false:
      f:notTrue: {}
  manager: foo
  operation: Update
  time: "2001-02-03T04:05:06Z"
- apiVersion: v1beta1
  fieldsType: FieldsV1
  fieldsV1:
    i:5:
      f:i: {}
  manager: foo
  operation: Update
  time: "2011-12-13T14:15:16Z"
)",
                                                                   R"(- apiVersion: v1
  fieldsType: FieldsV1
  fieldsV1:
    f:spec:
      f:containers:
        k:{"name":"c"}:
          f:image: {}
          f:name: {}
  manager: foo
  operation: Apply
)",
                                                                   R"(- apiVersion: v1
  fieldsType: FieldsV1
  fieldsV1:
    f:apiVersion: {}
    f:kind: {}
    f:metadata:
      f:labels:
        f:app: {}
      f:name: {}
    f:spec:
      f:replicas: {}
      f:selector:
        f:matchLabels:
          f:app: {}
      f:template:
        f:medatada:
          f:labels:
            f:app: {}
        f:spec:
          f:containers:
            k:{"name":"nginx"}:
              .: {}
              f:image: {}
              f:name: {}
              f:ports:
                i:0:
                  f:containerPort: {}
  manager: foo
  operation: Update
)",
                                                                   R"(- apiVersion: v1
  fieldsType: FieldsV1
  fieldsV1:
    f:allowVolumeExpansion: {}
    f:apiVersion: {}
    f:kind: {}
    f:metadata:
      f:name: {}
      f:parameters:
        f:resturl: {}
        f:restuser: {}
        f:secretName: {}
        f:secretNamespace: {}
    f:provisioner: {}
  manager: foo
  operation: Apply
)",
                                                                   R"(- apiVersion: v1
  fieldsType: FieldsV1
  fieldsV1:
    f:apiVersion: {}
    f:kind: {}
    f:metadata:
      f:name: {}
    f:spec:
      f:group: {}
      f:names:
        f:kind: {}
        f:plural: {}
        f:shortNames:
          i:0: {}
        f:singular: {}
      f:scope: {}
      f:versions:
        k:{"name":"v1"}:
          f:name: {}
          f:served: {}
          f:storage: {}
  manager: foo
  operation: Update
)",
                                                                   R"(- apiVersion: v1
  fieldsType: FieldsV1
  fieldsV1:
    f:spec:
      f:replicas: {}
  manager: foo
  operation: Update
  subresource: scale
)"}) {
    const auto written = RoundTrip(yaml);
    INFO(written.status().ToString());
    REQUIRE(written.ok());
    CHECK(*written == yaml);
  }
}

TEST_CASE("managed fields: a set that is copied as it was read is what would be written",
          "[apply]") {
  struct Row {
    std::string_view fields;
    bool copied;
  };
  for (const Row& row :
       std::vector<Row>{{R"({"f:a":{},"f:b":{".":{},"f:c":{}},"f:d":{"f:e":{}}})", true},
                        {R"({"f:b":{},"f:a":{}})", false},
                        {R"({"f:a":{"f:b":{},".":{}}})", false},
                        {R"({"f:a":{".":{}}})", false},
                        {R"({"f:a":{".":{"f:x":{}},"f:b":{}}})", false},
                        {R"({"f:a":{".":null,"f:b":{}}})", false},
                        {R"({"f:a":null})", false},
                        {R"({"f:":{}})", true},
                        {R"({"f:a<b":{}})", false},
                        {R"({"f:a\bb":{}})", false},
                        {R"({"f:a\"b":{}})", false},
                        {R"({"f:\u00e9":{}})", false},
                        {R"({"f:a":{},"x:new":{}})", false},
                        {R"({".":{},"f:a":{}})", false},
                        {R"({"f:l":{"k:{\"a\":1}":{}}})", false},
                        {R"({"f:l":{"i:0":{}}})", false},
                        {R"({})", true}}) {
    INFO(row.fields);
    runtime::Arena arena;
    const std::string entries =
        R"([{"apiVersion":"v1","fieldsType":"FieldsV1","manager":"m","operation":"Update",)"
        R"("fieldsV1":)" +
        std::string(row.fields) + "}]";
    auto managed = DecodeManagedFields(*codec::ParseJson(entries, arena), arena);
    REQUIRE(managed.ok());
    CHECK(managed->as_read.size() == (row.copied ? 1 : 0));
    std::string copied;
    codec::AppendJson(*EncodeManagedFields(*managed, arena), copied);
    managed->as_read.clear();
    std::string written;
    codec::AppendJson(*EncodeManagedFields(*managed, arena), written);
    CHECK(copied == written);
  }
}

// internal TestBuildManagerIdentifier
TEST_CASE("managed fields: the version is part of an updater's identity, not of an applier's",
          "[apply]") {
  struct Case {
    ManagerInfo info;
    std::string_view identifier;
  };
  for (const Case& c :
       std::vector<Case>{{{"foo", "Update", "v1", ""},
                          R"({"manager":"foo","operation":"Update","apiVersion":"v1"})"},
                         {{"foo", "Apply", "v1", ""}, R"({"manager":"foo","operation":"Apply"})"},
                         {{"foo", "Apply", "v1", "scale"},
                          R"({"manager":"foo","operation":"Apply","subresource":"scale"})"},
                         {{"a<b", "Update", "v1", ""},
                          R"({"manager":"a\u003cb","operation":"Update","apiVersion":"v1"})"}}) {
    CHECK(BuildManagerIdentifier(c.info) == c.identifier);
    CHECK(ParseManagerIdentifier(c.identifier)->manager == c.info.manager);
  }
}

namespace {

// "manager Operation time subresource", a dash for what is absent.
struct Who {
  std::string manager;
  std::string operation;
  std::string time;
  std::string api_version = "v1";
  std::string subresource = "";
};

std::string Text(const Who& who) {
  std::string json = R"({"manager":")" + who.manager + R"(","operation":")" + who.operation +
                     R"(","apiVersion":")" + who.api_version + "\"";
  if (!who.time.empty()) json += R"(,"time":")" + who.time + "\"";
  json += R"(,"fieldsType":"FieldsV1","fieldsV1":{"f:a":{}})";
  if (!who.subresource.empty()) json += R"(,"subresource":")" + who.subresource + "\"";
  return json + "}";
}
std::string Text(const std::vector<Who>& all) {
  std::string json;
  for (const Who& who : all) json += (json.empty() ? "[" : ",") + Text(who);
  return json.empty() ? "[]" : json + "]";
}

struct SortCase {
  std::string name;
  std::vector<Who> entries;
  std::vector<Who> sorted;
};

}  // namespace

// internal TestSortEncodedManagedFields (entries that are one to us differ by version here)
TEST_CASE("managed fields: entries stand by operation, time, manager, version, subresource",
          "[apply]") {
  const std::string one = "2001-01-01T01:00:00Z";
  const std::string two = "2002-01-01T01:00:00Z";
  const std::string three = "2003-01-01T01:00:00Z";
  const auto apply = [](std::string manager, std::string time = "") {
    return Who{std::move(manager), "Apply", std::move(time)};
  };
  const auto update = [](std::string manager, std::string time, std::string version = "v1") {
    return Who{std::move(manager), "Update", std::move(time), std::move(version)};
  };
  const std::vector<SortCase> cases = {
      {"remains untouched", {apply("a"), update("a", one)}, {apply("a"), update("a", one)}},
      {"manager without time first name last",
       {apply("a", one), apply("b")},
       {apply("b"), apply("a", one)}},
      {"apply first", {update("a", one), apply("a")}, {apply("a"), update("a", one)}},
      {"newest last",
       {update("c", one), apply("a"), update("c", two, "v2"), apply("b")},
       {apply("a"), apply("b"), update("c", one), update("c", two, "v2")}},
      {"manager last",
       {update("c", one), apply("a"), update("d", one), apply("b")},
       {apply("a"), apply("b"), update("c", one), update("d", one)}},
      {"manager sorted",
       {update("c", one), apply("a"), apply("g"), update("f", two), apply("i"), update("d", two),
        apply("h"), update("e", three), apply("b")},
       {apply("a"), apply("b"), apply("g"), apply("h"), apply("i"), update("c", one),
        update("d", two), update("f", two), update("e", three)}},
      {"version",
       {update("a", one, "v2"), update("a", one)},
       {update("a", one), update("a", one, "v2")}},
      {"entries with subresource field",
       {{"a", "Apply", "", "v1", "status"}, {"a", "Apply", "", "v1", "scale"}, apply("a")},
       {apply("a"), {"a", "Apply", "", "v1", "scale"}, {"a", "Apply", "", "v1", "status"}}}};
  for (const SortCase& c : cases) {
    INFO(c.name);
    runtime::Arena arena;
    const std::string input = Text(c.entries);
    const auto managed = DecodeManagedFields(*codec::ParseJson(input, arena), arena);
    REQUIRE(managed.ok());
    std::string json;
    codec::AppendJson(*EncodeManagedFields(*managed, arena), json);
    CHECK(json == Text(c.sorted));
  }
}

TEST_CASE("managed fields: without owners there is no list", "[apply]") {
  runtime::Arena arena;
  CHECK(EncodeManagedFields(Managed(), arena)->is_null());
  CHECK(DecodeManagedFields(Value(), arena)->fields.empty());
}

// internal isResetManagedFields
TEST_CASE("managed fields: only an empty list or one empty entry is a reset", "[apply]") {
  const auto resets = [](std::string_view json) {
    runtime::Arena arena;
    return meta::IsResetManagedFields(*codec::ParseJson(json, arena));
  };
  CHECK(resets("[]"));
  CHECK(resets("[{}]"));
  CHECK_FALSE(resets("null"));
  CHECK_FALSE(resets("[{},{}]"));
  CHECK_FALSE(resets(R"([{"manager":"a"}])"));
}

TEST_CASE("managed fields: an empty list survives normalizing as one empty entry", "[apply]") {
  runtime::KindOptions options{.group = "", .kind = "Pod", .plural = "pods", .versions = {}};
  options.versions.push_back({.version = "v1", .schema = WithMetadata(PodSpec())});
  const runtime::KindPtr kind = *runtime::Kind::New(std::move(options));
  runtime::Arena arena;
  const Value root = *codec::ParseJson(R"({"metadata":{"name":"a","managedFields":[]}})", arena);
  runtime::Object object(kind, "v1", std::move(arena), root);
  meta::KeepManagedFieldsReset(object);
  REQUIRE(runtime::Settle(object, {.defaults = false}).ok());
  CHECK(meta::IsResetManagedFields(object.metadata()["managedFields"]));
}

namespace {

constexpr std::string_view kEntryAt =
    R"({"metadata":{"name":"x","labels":{"a":"b"},"managedFields":[{"manager":"m",)"
    R"("operation":"Update","apiVersion":"v1","time":"TIME","fieldsType":"FieldsV1",)"
    R"("fieldsV1":{"f:metadata":{"f:labels":{"f:a":{}}}}}]},"spec":{"nodeName":"n"}})";

std::string Timed(std::string_view time) {
  std::string json(kEntryAt);
  return json.replace(json.find("TIME"), 4, time);
}

std::unique_ptr<runtime::Object> PodOf(std::string_view json) {
  runtime::Arena arena;
  // What is in the object is borrowed.
  const Value root = *codec::ParseJson(arena.Copy(json), arena);
  return std::make_unique<runtime::Object>(PodKind(), "v1", std::move(arena), root);
}

struct IgnoreCase {
  std::string name;
  std::string old_json;
  std::string new_json;
  bool reverted = false;
};

}  // namespace

// handlers/fieldmanager IgnoreManagedFieldsTimestampsTransformer, which has no table of its own
TEST_CASE("managed fields: times come back when nothing else changed", "[apply]") {
  const std::string old = Timed("2020-01-01T00:00:00Z");
  const std::string later = Timed("2021-01-01T00:00:00Z");
  const auto replaced = [](std::string text, std::string_view what, std::string_view with) {
    return text.replace(text.find(what), what.size(), with);
  };
  const std::vector<IgnoreCase> cases = {
      {"only the time", old, later, true},
      {"nothing", old, old, true},
      {"a label", old, replaced(later, R"("a":"b")", R"("a":"c")"), false},
      {"the spec", old, replaced(later, R"("nodeName":"n")", R"("nodeName":"m")"), false},
      {"a field owned", old, replaced(later, R"("f:a":{})", R"("f:a":{},"f:c":{})"), false},
      {"the manager", old, replaced(later, R"("manager":"m")", R"("manager":"o")"), false},
      {"an entry came", R"({"metadata":{"name":"x"}})", later, false}};
  for (const IgnoreCase& c : cases) {
    INFO(c.name);
    const auto before = PodOf(c.old_json);
    const auto object = PodOf(c.new_json);
    IgnoreManagedFieldsTimestamps(*object, *before);
    const std::string_view time = object->metadata()["managedFields"].at(0)["time"].AsString();
    CHECK((time == "2020-01-01T00:00:00Z") == c.reverted);
  }
}

TEST_CASE("managed fields: kept as text or parsed, the same fields are the same", "[apply]") {
  const auto before = PodOf(Timed("2020-01-01T00:00:00Z"));
  const auto object = PodOf(Timed("2021-01-01T00:00:00Z"));
  const Value entry = object->metadata()["managedFields"].at(0);
  runtime::ListBuilder list(object->arena());
  list.Add(runtime::With(entry, "fieldsV1", Value::Raw(R"({"f:metadata":{"f:labels":{"f:a":{}}}})"),
                         object->arena()));
  object->SetPath({"metadata", "managedFields"}, list.Build());
  IgnoreManagedFieldsTimestamps(*object, *before);
  CHECK(object->metadata()["managedFields"].at(0)["time"].AsString() == "2020-01-01T00:00:00Z");
}

}  // namespace apiserver::inline v0::test
