// Scenarios of upstream's integration tests (apiextensions-apiserver/test/integration) that look at
// the content of objects. docs/custom-resource-tests.md lists all of them.
#include <catch2/catch.hpp>

#include <string>

#include "apiextensions/fixture.h"
#include "apiserver/storage/kv/engine.h"

namespace {

using namespace apiserver;  // NOLINT: a test.
using testing::Answer;
using testing::Contains;
using testing::CustomServer;
using testing::Foo;
using testing::kDefinitions;
using testing::kFoos;

const std::string kFirst = std::string(kFoos) + "/one";

// A definition whose version v1 has a schema with these properties beside `more`.
std::string Having(const std::string& properties,
                   const std::string& more = R"("subresources":{"status":{}},)") {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"foos.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
"names":{"plural":"foos","kind":"Foo"},"versions":[{"name":"v1","served":true,"storage":true,)" +
         more + R"("schema":{"openAPIV3Schema":{"type":"object","properties":{)" + properties +
         "}}}}]}}";
}

// Replaces the schema's properties in the definition.
void Redefine(const CustomServer& server, const std::string& properties) {
  const Answer changed =
      server.Call("PATCH", std::string(kDefinitions) + "/foos.example.com",
                  R"([{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/properties",
"value":{)" + properties +
                      "}}]",
                  {{"Content-Type", "application/json-patch+json"}});
  INFO(changed.body);
  REQUIRE(changed.code == 200);
}

// Changes the bytes of a stored object behind the server's back.
void RewriteStored(CustomServer& server, const std::string& name, const std::string& from,
                   const std::string& to) {
  const std::string key = "/registry/example.com/foos/default/" + name;
  const auto found = server.engine()->Range(Context::Background(), {.key = key, .end = ""});
  REQUIRE(found.ok());
  REQUIRE(found->kvs.size() == 1);
  std::string value = *found->kvs.front().value;
  const std::size_t at = value.find(from);
  INFO(value);
  REQUIRE(at != std::string::npos);
  value.replace(at, from.size(), to);
  const auto written = server.engine()->Txn(
      Context::Background(), {.key = key,
                              .expected_mod_revision = found->kvs.front().mod_revision,
                              .value = std::make_shared<const std::string>(value)});
  REQUIRE(written.ok());
  REQUIRE(written->succeeded);
}

std::string RevisionOf(const Answer& answer) {
  return std::string(answer["metadata"]["resourceVersion"].AsString());
}

}  // namespace

// TestCustomResourceDefaultingWithWatchCache
TEST_CASE("scenarios: a default that is added later shows in stored objects", "[apiextensions]") {
  CustomServer server;
  const std::string a = R"("a":{"type":"string","default":"A"})";
  const auto both = [](const std::string& fields) {
    return R"("spec":{"type":"object","properties":{)" + fields +
           R"(}},"status":{"type":"object","properties":{)" + fields + "}}";
  };
  server.Define(Having(both(a)));
  const Answer created = server.Call("POST", kFoos, Foo("one", "{}"));
  REQUIRE(created.code == 201);
  CHECK(created["spec"]["a"].AsString() == "A");
  // A default does not make what is around it.
  CHECK(created["status"].is_null());
  const Answer status =
      server.Call("PUT", kFirst + "/status",
                  R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"one",)"
                  R"("resourceVersion":")" +
                      RevisionOf(created) + R"("},"status":{}})");
  CHECK(status["status"]["a"].AsString() == "A");

  Redefine(server, both(a + R"(,"c":{"type":"string","default":"C"})"));
  const Answer read = server.Get(kFirst);
  CHECK(read["spec"]["c"].AsString() == "C");
  CHECK(read["status"]["c"].AsString() == "C");
  CHECK(server.Get(kFoos)["items"].at(0)["spec"]["c"].AsString() == "C");
  testing::Lines watch(*server.server, std::string(kFoos) + "?watch=1");
  CHECK(Contains(watch.Next(), R"("c":"C")"));
  // Nothing was written.
  CHECK(RevisionOf(read) == RevisionOf(status));

  Redefine(server, both(a + R"(,"c":{"type":"string"})"));
  CHECK(server.Get(kFirst)["spec"]["c"].is_null());
}

// TestCustomResourceDefaultingOfMetaFields
TEST_CASE("scenarios: defaults of embedded resources have the fields of metadata alone",
          "[apiextensions]") {
  CustomServer server;
  const std::string type = R"("apiVersion":{"type":"string","default":"foos/v1"},)"
                           R"("kind":{"type":"string","default":"Foo"})";
  const std::string meta = R"({"name":"Bar","unknown":"unknown"})";
  const std::string object = R"({"apiVersion":"foos/v1","kind":"Foo","metadata":)" + meta + "}";
  const std::string embedded = R"({"type":"object","x-kubernetes-embedded-resource":true,)";
  server.Define(Having(R"("fields":)" + embedded + R"("properties":{)" + type +
                       R"(,"metadata":{"type":"object","properties":{
"name":{"type":"string","default":"Bar"},"unknown":{"type":"string","default":"unknown"}}}}},
"fullMetadata":)" + embedded +
                       R"("properties":{)" + type + R"(,"metadata":{"type":"object","default":)" +
                       meta + R"(}}},"fullObject":)" + embedded +
                       R"("properties":{"foo":{"type":"string"}},"default":)" + object +
                       R"(},"spanning":{"type":"object","properties":{"embedded":)" + embedded +
                       R"("properties":{"foo":{"type":"string"}}}},"default":{"embedded":)" +
                       object + R"(}},"preserved":)" + embedded +
                       R"("x-kubernetes-preserve-unknown-fields":true,"default":)" + object + "}"));
  const Answer created =
      server.Call("POST", kFoos,
                  R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"one"},)"
                  R"("fields":{"metadata":{}},"fullMetadata":{}})");
  INFO(created.body);
  REQUIRE(created.code == 201);
  const std::string expected = R"({"apiVersion":"foos/v1","kind":"Foo","metadata":{"name":"Bar"}})";
  const Answer read = server.Get(kFirst);
  for (const Answer* const answer : {&created, &read}) {
    for (const std::string_view field : {"fields", "fullMetadata", "fullObject", "preserved"}) {
      INFO(field);
      std::string json;
      codec::AppendJson((*answer)[field], json);
      CHECK(json == expected);
    }
    std::string json;
    codec::AppendJson((*answer)["spanning"]["embedded"], json);
    CHECK(json == expected);
  }
}

// TestPruningCreate, TestPruningStatus, TestPruningPatch
TEST_CASE("scenarios: what the schema does not know is dropped by every write", "[apiextensions]") {
  CustomServer server;
  server.Define(Having(R"("alpha":{"type":"string"},"beta":{"type":"number"},
"status":{"type":"object","properties":{"phase":{"type":"string"}}})"));
  const Answer created = server.Call(
      "POST", kFoos,
      R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"one","unspecified":"x"},)"
      R"("alpha":"foo_123","beta":42.0,"unspecified":"bar"})");
  REQUIRE(created.code == 201);
  CHECK(created["alpha"].AsString() == "foo_123");
  CHECK(created["unspecified"].is_null());
  CHECK(created["metadata"]["unspecified"].is_null());
  const Answer patched = server.Patch(kFirst, R"({"alpha":"abc","other":{"a":1}})");
  CHECK(patched["alpha"].AsString() == "abc");
  CHECK(patched["other"].is_null());
  const Answer status = server.Patch(kFirst + "/status", R"({"status":{"phase":"x","other":1}})");
  CHECK(status["status"]["phase"].AsString() == "x");
  CHECK(status["status"]["other"].is_null());
  // The fields that were dropped have no owner.
  std::string owners;
  codec::AppendJson(status["metadata"]["managedFields"], owners);
  CHECK_FALSE(Contains(owners, "other"));
}

// TestPruningFromStorage
TEST_CASE("scenarios: what the schema does not know any more is not read", "[apiextensions]") {
  CustomServer server;
  server.Define(Having(R"("alpha":{"type":"string"},"gone":{"type":"string"})"));
  REQUIRE(server
              .Call("POST", kFoos,
                    R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"one"},)"
                    R"("alpha":"a","gone":"g"})")
              .code == 201);
  Redefine(server, R"("alpha":{"type":"string"})");
  CHECK(server.Get(kFirst)["gone"].is_null());
  CHECK(server.Get(kFoos)["items"].at(0)["gone"].is_null());
  RewriteStored(server, "one", R"("alpha":"a")", R"("alpha":"a","never":{"x":1})");
  const auto read = [&] { return server.Get(kFirst); };
  CHECK(read()["alpha"].AsString() == "a");
  CHECK(read()["never"].is_null());
}

// TestPruningCreatePreservingUnknownFields, TestPruningEmbeddedResources, TestEmbeddedResources
TEST_CASE("scenarios: unknown fields are kept where the schema says so", "[apiextensions]") {
  CustomServer server;
  server.Define(Having(R"("alpha":{"type":"string"},
"preserving":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{
"pruned":{"type":"object","properties":{"known":{"type":"string"}}}}},
"template":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{
"spec":{"type":"object"}}})"));
  const Answer created = server.Call(
      "POST", kFoos,
      R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"one"},"unknown":1,)"
      R"("preserving":{"free":{"a":[1,{"b":2}]},"pruned":{"known":"k","unknown":"u"}},)"
      R"("template":{"apiVersion":"v1","kind":"Pod","unknown":1,"spec":{"unknown":1},)"
      R"("metadata":{"name":"p","unknown":1,"labels":{"a":"b"}}}})");
  INFO(created.body);
  REQUIRE(created.code == 201);
  CHECK(created["unknown"].is_null());
  CHECK(created["preserving"]["free"]["a"].at(1)["b"].AsInt() == 2);
  CHECK(created["preserving"]["pruned"]["known"].AsString() == "k");
  CHECK(created["preserving"]["pruned"]["unknown"].is_null());
  CHECK(created["template"]["unknown"].is_null());
  CHECK(created["template"]["spec"].is_map());
  CHECK(created["template"]["spec"].size() == 0);
  CHECK(created["template"]["metadata"]["unknown"].is_null());
  CHECK(created["template"]["metadata"]["labels"]["a"].AsString() == "b");
}

// TestInvalidObjectMetaInStorage
TEST_CASE("scenarios: stored metadata that do not fit are dropped when they are read",
          "[apiextensions]") {
  CustomServer server;
  server.Define(Having(R"("template":{"type":"object","x-kubernetes-embedded-resource":true,
"x-kubernetes-preserve-unknown-fields":true})"));
  REQUIRE(server
              .Call("POST", kFoos,
                    R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"one",)"
                    R"("labels":{"foo":"bar"}},"template":{"apiVersion":"v1","kind":"Pod",)"
                    R"("metadata":{"labels":{"foo":"bar"}}}})")
              .code == 201);
  RewriteStored(server, "one", R"("metadata":{"labels":{"foo":"bar"}})",
                R"("metadata":{"labels":[],"unspecified":"u"})");
  RewriteStored(server, "one", R"("labels":{"foo":"bar"})", R"("labels":{"foo":7},"extra":1)");
  const Answer read = server.Get(kFirst);
  INFO(read.body);
  CHECK(read.code == 200);
  CHECK(read["metadata"]["name"].AsString() == "one");
  CHECK(read["metadata"]["labels"].is_null());
  CHECK(read["metadata"]["extra"].is_null());
  CHECK(read["template"]["kind"].AsString() == "Pod");
  CHECK(read["template"]["metadata"]["labels"].is_null());
  CHECK(read["template"]["metadata"]["unspecified"].is_null());
}

// TestListTypes
TEST_CASE("scenarios: items of sets and maps are unique, and old duplicates stay",
          "[apiextensions]") {
  CustomServer server;
  server.Define(Having(R"("set":{"type":"array","items":{"type":"integer"}},
"map":{"type":"array","items":{"type":"object","required":["k"],"properties":{
"k":{"type":"string"},"v":{"type":"string"}}}})"));
  const std::string duplicates = R"("set":[1,2,1],"map":[{"k":"a"},{"k":"a"}])";
  const auto foo = [](const std::string& name, const std::string& content) {
    return R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":")" + name + R"("},)" +
           content + "}";
  };
  REQUIRE(server.Call("POST", kFoos, foo("one", duplicates)).code == 201);
  Redefine(server, R"("set":{"type":"array","x-kubernetes-list-type":"set",
"items":{"type":"integer"}},"map":{"type":"array","x-kubernetes-list-type":"map",
"x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{
"k":{"type":"string"},"v":{"type":"string"}}}})");
  const Answer refused = server.Call("POST", kFoos, foo("two", duplicates));
  CHECK(refused.code == 422);
  CHECK(Contains(refused.body, R"(set[2])"));
  CHECK(Contains(refused.body, R"(map[1])"));
  // Other fields of the old object may change, and so may its lists if they get better.
  CHECK(server.Patch(kFirst, R"({"metadata":{"labels":{"a":"b"}}})").code == 200);
  CHECK(server.Patch(kFirst, R"({"set":[1,2],"map":[{"k":"a"}]})").code == 200);
  CHECK(server.Patch(kFirst, R"({"set":[1,2,2]})").code == 422);
}

// TestRatchetingFunctionality
TEST_CASE("scenarios: what did not change may stay invalid", "[apiextensions]") {
  CustomServer server;
  const auto with = [](const std::string& more) {
    return R"("spec":{"type":"object","properties":{"color":{"type":"string")" + more +
           R"(},"number":{"type":"integer"},"list":{"type":"array","items":{"type":"string"}}}})";
  };
  server.Define(Having(with("")));
  REQUIRE(server.Call("POST", kFoos, Foo("one", R"({"color":"red","number":1})")).code == 201);
  Redefine(server, with(R"(,"enum":["blue","green"],"maxLength":2)"));
  CHECK(server.Patch(kFirst, R"({"spec":{"number":2}})").code == 200);
  CHECK(server.Patch(kFirst, R"({"metadata":{"finalizers":["example.com/x"]}})").code == 200);
  CHECK(server.Patch(kFirst, R"({"spec":{"color":"yellow"}})").code == 422);
  CHECK(server.Apply(kFirst, Foo("one", R"({"number":3})"), "fieldManager=m&force=true").code ==
        200);
  CHECK(server.Call("POST", kFoos, Foo("two", R"({"color":"red"})")).code == 422);
  Redefine(server, with(R"(,"x-kubernetes-validations":[{"rule":"self == 'blue'"}])"));
  CHECK(server.Patch(kFirst, R"({"spec":{"number":4}})").code == 200);
  CHECK(server.Patch(kFirst, R"({"spec":{"color":"black"}})").code == 422);
  CHECK(server.Patch(kFirst, R"({"spec":{"color":"blue"}})").code == 200);
}

// TestCRValidationOnCRDUpdate, TestCustomResourceValidation, TestCustomResourceUpdateValidation
TEST_CASE("scenarios: objects are validated by the schema of the moment", "[apiextensions]") {
  CustomServer server;
  const auto requiring = [](const std::string& names) {
    return R"("spec":{"type":"object","required":[)" + names +
           R"(],"properties":{"color":{"type":"string"},"number":{"type":"integer"}}})";
  };
  server.Define(Having(requiring(R"("color","number")")));
  const Answer refused = server.Call("POST", kFoos, Foo("one"));
  CHECK(refused.code == 422);
  CHECK(refused.message() == R"(Foo.example.com "one" is invalid: spec.number: Required value)");
  Redefine(server, requiring(R"("color")"));
  CHECK(server.Call("POST", kFoos, Foo("one")).code == 201);
  const Answer wrong = server.Patch(kFirst, R"({"spec":{"color":7}})");
  CHECK(wrong.code == 422);
  CHECK(Contains(wrong.message(), R"(spec.color in body must be of type string: "integer")"));
}

// TestValidateOnlyStatus, TestValidationSchemaWithStatus
TEST_CASE("scenarios: a write of the status is validated by the status alone", "[apiextensions]") {
  CustomServer server;
  const std::string num =
      R"({"type":"object","properties":{"num":{"type":"integer","maximum":10}}})";
  server.Define(Having(R"("spec":)" + num + R"(,"status":)" + num));
  REQUIRE(server.Call("POST", kFoos, Foo("one", R"({"num":10})")).code == 201);
  CHECK(server.Patch(kFirst + "/status", R"({"spec":{"num":15},"status":{"num":10}})").code == 200);
  const Answer refused = server.Patch(kFirst + "/status", R"({"status":{"num":15}})");
  CHECK(refused.message() ==
        R"(Foo.example.com "one" is invalid: status.num: Invalid value: 15: num in body )"
        "should be less than or equal to 10");
  CHECK(server.Patch(kFirst, R"({"spec":{"num":15}})").code == 422);
}

// TestApplyNullToObject, all of its combinations.
TEST_CASE("scenarios: null is applied in the place of an object that is nullable",
          "[apiextensions]") {
  for (const bool nullable : {true, false}) {
    for (const std::string required : {"", R"("required":["inner"],)"}) {
      for (const std::string required_below : {"", R"("required":["a","b"],)"}) {
        CustomServer server;
        server.Define(Having(R"("spec":{"type":"object",)" + required +
                             R"("properties":{"inner":{"type":"object",)" + required_below +
                             (nullable ? R"("nullable":true,)" : "") +
                             R"("properties":{"a":{"type":"string"},"b":{"type":"string"}}}}})"));
        REQUIRE(server.Apply(kFirst, Foo("one", R"({"inner":{"a":"1","b":"2"}})")).code == 201);
        const Answer applied = server.Apply(kFirst, Foo("one", R"({"inner":null})"));
        INFO(applied.body);
        CHECK(applied.code == (nullable ? 200 : 422));
        CHECK(applied["spec"]["inner"].is_null());
        CHECK(Contains(applied.body, "must be of type object") == !nullable);
      }
    }
  }
}

TEST_CASE("scenarios: null is applied in the place of a value that has a default",
          "[apiextensions]") {
  CustomServer server;
  server.Define(Having(R"("spec":{"type":"object","properties":{"size":{"type":"integer",
"default":3},"tags":{"type":"array","items":{"type":"string"}}}})"));
  const Answer applied = server.Apply(kFirst, Foo("one", R"({"size":null})"));
  CHECK(applied.code == 201);
  CHECK(applied["spec"]["size"].AsInt() == 3);
  const Answer refused = server.Apply(kFirst, Foo("one", R"({"tags":["a",null]})"));
  CHECK(refused.code == 422);
  CHECK(Contains(refused.message(), "spec.tags[1]"));
  // A merge patch takes the field away, and other bodies lose it.
  CHECK(server.Patch(kFirst, R"({"spec":{"tags":null}})").code == 200);
}

// TestFinalization, TestFinalizationAndDeletion
TEST_CASE("scenarios: an object with a finalizer keeps its definition", "[apiextensions]") {
  CustomServer server;
  server.Define(testing::FooDefinition());
  const std::string definition = std::string(kDefinitions) + "/foos.example.com";
  REQUIRE(server
              .Call("POST", kFoos,
                    R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"one",)"
                    R"("finalizers":["example.com/held"]}})")
              .code == 201);
  CHECK(server.Call("DELETE", kFirst).code == 200);
  CHECK(server.Get(kFirst)["metadata"]["deletionTimestamp"].is_string());
  CHECK(server.Call("DELETE", definition).code == 200);
  CHECK(server.Get(kFirst).code == 200);
  CHECK(server.Get(definition).code == 200);
  CHECK(server.Patch(kFirst, R"({"metadata":{"finalizers":null}})").code == 200);
  CHECK(testing::Eventually([&] { return server.Get(definition).code == 404; }));
}

// TestStatusGetAndPatch
TEST_CASE("scenarios: the status of a definition is read and patched", "[apiextensions]") {
  CustomServer server;
  server.Define(testing::FooDefinition());
  const std::string status = std::string(kDefinitions) + "/foos.example.com/status";
  CHECK(server.Get(status)["status"]["acceptedNames"]["kind"].AsString() == "Foo");
  const Answer patched =
      server.Patch(status, R"({"status":{"conditions":[{"type":"Extra","status":"True",
"reason":"R","message":"m","lastTransitionTime":"2020-01-01T00:00:00Z"}]}})");
  INFO(patched.body);
  CHECK(patched.code == 200);
}

// TestTableGet, TestColumnsPatch
TEST_CASE("scenarios: columns follow the definition", "[apiextensions]") {
  CustomServer server;
  const std::string properties =
      R"("spec":{"type":"object","properties":{"color":{"type":"string"},"sizes":{"type":"array",
"items":{"type":"integer"}},"parts":{"type":"array","items":{"type":"object","properties":{
"type":{"type":"string"},"size":{"type":"integer"}}}}}})";
  server.Define(Having(properties, R"("additionalPrinterColumns":[
{"name":"Color","type":"string","jsonPath":".spec.color"},
{"name":"Later","type":"string","jsonPath":".spec.sizes[1:]"},
{"name":"Big","type":"integer","jsonPath":".spec.parts[?(@.size>2)].size"},
{"name":"Any","type":"integer","jsonPath":"..size"},
{"name":"None","type":"string","jsonPath":".spec.sizes[9]"}],)"));
  REQUIRE(server
              .Call("POST", kFoos,
                    Foo("one", R"({"color":"red","sizes":[3,4,5],"parts":[{"type":"a","size":1},
{"type":"b","size":7}]})"))
              .code == 201);
  const http::Headers table = {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}};
  const Answer shown = server.Call("GET", kFirst, "", table);
  INFO(shown.body);
  CHECK(shown["columnDefinitions"].size() == 6);
  const runtime::Value cells = shown["rows"].at(0)["cells"];
  CHECK(cells.at(0).AsString() == "one");
  CHECK(cells.at(1).AsString() == "red");
  CHECK(cells.at(2).AsString() == "4");
  CHECK(cells.at(3).AsInt() == 7);
  CHECK(cells.at(4).AsInt() == 1);
  CHECK(cells.at(5).is_null());
  const Answer changed =
      server.Call("PATCH", std::string(kDefinitions) + "/foos.example.com",
                  R"([{"op":"remove","path":"/spec/versions/0/additionalPrinterColumns"}])",
                  {{"Content-Type", "application/json-patch+json"}});
  REQUIRE(changed.code == 200);
  CHECK(server.Call("GET", kFirst, "", table)["columnDefinitions"].size() == 2);
}

// TestLimits
TEST_CASE("scenarios: bodies that are too large or too deep are refused at once",
          "[apiextensions]") {
  CustomServer server;
  server.Define(testing::FooDefinition());
  REQUIRE(server.Call("POST", kFoos, Foo("one")).code == 201);
  const std::size_t size = 3 << 20;
  const http::Headers yaml = {{"Content-Type", "application/yaml"}};
  const std::string head = "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: two}\nvalues: ";
  CHECK(server.Call("POST", kFoos, head + std::string(size, '['), yaml).code == 413);
  CHECK(server.Call("POST", kFoos, head + std::string(size - 1000, '['), yaml).code == 400);
  const std::string json = R"({"apiVersion":"example.com/v1","kind":"Foo","values":)";
  CHECK(server.Call("POST", kFoos, json + std::string(size, '[')).code == 413);
  CHECK(server.Call("POST", kFoos, json + std::string(size - 1000, '[')).code == 400);
  CHECK(server.Call("POST", kFoos, json + "[" + std::string(size - 1000, ',')).code == 400);
  const std::string nested = std::string(size / 2 - 1000, '[') + std::string(size / 2 - 1000, ']');
  CHECK(server
            .Call("PATCH", kFirst, R"([{"op":"add","path":"/foo","value":)" + nested + "}]",
                  {{"Content-Type", "application/json-patch+json"}})
            .code == 400);
  CHECK(server.Patch(kFirst, R"({"value":)" + nested + "}").code == 400);
  CHECK(server.Apply(kFirst, json + nested + "}").code == 400);
}

// A kube-apiserver 1.35.4 answered so.
TEST_CASE("scenarios: Ignore changes the words about an object without a kind", "[apiextensions]") {
  CustomServer server;
  server.Define(testing::FooDefinition());
  const std::string body = R"({"apiVersion":"example.com/v1","metadata":{"name":"one"}})";
  const std::string missing = "Object 'Kind' is missing in '" + body + "'";
  const auto words = [&](const std::string& validation) {
    const Answer answer = server.Call("POST", kFoos + ("?fieldValidation=" + validation), body);
    CHECK(answer.code == 400);
    return answer.message();
  };
  CHECK(words("Ignore") == "Foo in version \"v1\" cannot be handled as a Foo: " + missing);
  for (const char* const validation : {"Strict", "Warn"}) {
    CHECK(words(validation) == "the object provided is unrecognized (must be of type Foo): " +
                                   missing + " (" + body.substr(0, 30) + " ...)");
  }
}

// A kube-apiserver 1.35.4 answered so.
TEST_CASE("scenarios: a patch to an unknown version knows no field", "[apiextensions]") {
  CustomServer server;
  server.Define(testing::FooDefinition());
  REQUIRE(server.Call("POST", kFoos, Foo("one")).code == 201);
  const std::string patch = R"({"apiVersion":"example.com/v9"})";
  const std::string compared = R"(Invalid value: "example.com/v9": must be example.com/v1)";
  const auto cause = [](const Answer& answer) {
    CHECK(answer.code == 422);
    REQUIRE(answer["details"]["causes"].size() == 1);
    return std::string(answer["details"]["causes"].at(0)["message"].AsString());
  };
  CHECK(cause(server.Patch(kFirst + "?fieldValidation=Ignore", patch)) == compared);
  const Answer warned = server.Patch(kFirst + "?fieldValidation=Warn", patch);
  CHECK(cause(warned) == compared);
  CHECK(warned.headers.Get("Warning") == R"(299 - "unknown field \"spec\"")");
  const Answer strict = server.Patch(kFirst + "?fieldValidation=Strict", patch);
  CHECK(cause(strict).ends_with(R"(: strict decoding error: unknown field "spec")"));
  CHECK(strict["details"]["causes"].at(0)["field"].AsString() == "patch");
}
