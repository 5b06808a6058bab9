#include <catch2/catch.hpp>
#include <string>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/settle.h"
#include "runtime/text.h"

namespace apiserver::inline v0::runtime {
namespace {

using testing::ObjectOf;
using testing::Print;
using testing::WidgetKind;
using testing::WithSpec;
using Omit = Field::Omit;
using Presence = Field::Presence;

// What the object looks like after normalizing, or why it cannot be.
std::string Normalized(const KindPtr& kind, std::string_view json) {
  const auto object = ObjectOf(kind, json);
  const Status status = Settle(*object, {.defaults = false});
  if (!status.ok()) CHECK(status.reason() == Reason::kBadRequest);
  return status.ok() ? Print(*object) : std::string(status.message());
}

// As Normalized, for the value of one field "f" in a struct of its own; "absent" for no field.
std::string FieldAfter(SchemaPtr schema, Presence presence, Omit omit, const std::string& value) {
  const SchemaPtr root = StructBuilder("com.example.v1.Widget")
                             .Field("f", std::move(schema), {.presence = presence, .omit = omit})
                             .Build();
  const std::string json = value == "absent" ? "{}" : "{\"f\":" + value + "}";
  const std::string after = Normalized(WidgetKind(root), json);
  if (after == "{}") return "absent";
  return after.starts_with("{\"f\":") ? after.substr(5, after.size() - 6) : after;
}

struct FieldRow {
  const char* what;
  SchemaPtr schema;
  std::string value;
  // For value and never/empty/zero, then pointer and never/empty.
  std::string value_never, value_empty, value_zero, pointer_never, pointer_empty;
};

void CheckRow(const FieldRow& row) {
  CAPTURE(row.what, row.value);
  CHECK(FieldAfter(row.schema, Presence::kValue, Omit::kNever, row.value) == row.value_never);
  CHECK(FieldAfter(row.schema, Presence::kValue, Omit::kWhenEmpty, row.value) == row.value_empty);
  CHECK(FieldAfter(row.schema, Presence::kValue, Omit::kWhenZero, row.value) == row.value_zero);
  CHECK(FieldAfter(row.schema, Presence::kPointer, Omit::kNever, row.value) == row.pointer_never);
  CHECK(FieldAfter(row.schema, Presence::kPointer, Omit::kWhenEmpty, row.value) ==
        row.pointer_empty);
  CHECK(FieldAfter(row.schema, Presence::kPointer, Omit::kWhenZero, row.value) ==
        row.pointer_empty);
}

TEST_CASE("runtime: a pointer to a zero time stays one, unlike a null", "[runtime]") {
  const SchemaPtr root = StructBuilder("com.example.v1.Widget")
                             .Field("time", TimeSchema(), {.presence = Presence::kPointer})
                             .Field("micro", MicroTimeSchema(), {.presence = Presence::kPointer})
                             .Build();
  const auto object = ObjectOf(
      WidgetKind(root), R"({"time":"0001-01-01T00:00:00Z","micro":"0001-01-01T00:00:00.000000Z"})");

  REQUIRE(Settle(*object, {.defaults = false}).ok());
  const std::string once = Print(*object);
  REQUIRE(Settle(*object, {.defaults = false}).ok());

  CHECK(once == R"({"time":null,"micro":null})");
  CHECK(Print(*object) == once);
  CHECK_FALSE((*object)["time"].is_null());
  CHECK(Normalized(WidgetKind(root), once) == "{}");
}

TEST_CASE("runtime: absent and null fields come out as Go writes them", "[runtime]") {
  const SchemaPtr point = StructBuilder("").Field("x", IntegerSchema(64)).Build();
  const SchemaPtr strict =
      StructBuilder("").Field("x", IntegerSchema(64), {.omit = Omit::kNever}).Build();
  const FieldRow rows[] = {
      {"bool", BooleanSchema(), "", "false", "absent", "absent", "null", "absent"},
      {"int", IntegerSchema(32), "", "0", "absent", "absent", "null", "absent"},
      {"number", NumberSchema(), "", "0", "absent", "absent", "null", "absent"},
      {"string", StringSchema(), "", "\"\"", "absent", "absent", "null", "absent"},
      {"bytes", BytesSchema(), "", "null", "absent", "absent", "null", "absent"},
      {"time", TimeSchema(), "", "null", "null", "absent", "null", "absent"},
      {"micro time", MicroTimeSchema(), "", "null", "null", "absent", "null", "absent"},
      {"quantity", QuantitySchema(), "", "\"0\"", "\"0\"", "absent", "null", "absent"},
      {"int or string", IntOrStringSchema(), "", "0", "0", "absent", "null", "absent"},
      {"raw", RawExtensionSchema(), "", "null", "null", "absent", "null", "absent"},
      {"any", AnySchema(), "", "null", "absent", "absent", "null", "absent"},
      {"list", ListOf(StringSchema()), "", "null", "absent", "absent", "null", "absent"},
      {"map", MapOf(StringSchema()), "", "null", "absent", "absent", "null", "absent"},
      {"struct", point, "", "{}", "{}", "absent", "null", "absent"},
      {"strict struct", strict, "", "{\"x\":0}", "{\"x\":0}", "absent", "null", "absent"},
  };
  for (FieldRow row : rows) {
    row.value = "absent";
    CheckRow(row);
    row.value = "null";
    CheckRow(row);
  }
  CheckRow(
      {"duration", DurationSchema(), "absent", "\"0s\"", "\"0s\"", "absent", "null", "absent"});
}

TEST_CASE("runtime: zero values come out as Go writes them", "[runtime]") {
  const SchemaPtr point = StructBuilder("").Field("x", IntegerSchema(64)).Build();
  const SchemaPtr deep = StructBuilder("")
                             .Field("p", point)
                             .Field("m", MapOf(StringSchema()))
                             .Field("t", TimeSchema(), {.omit = Omit::kWhenZero})
                             .Build();
  const FieldRow rows[] = {
      {"bool", BooleanSchema(), "false", "false", "absent", "absent", "false", "false"},
      {"int", IntegerSchema(64), "0", "0", "absent", "absent", "0", "0"},
      {"number", NumberSchema(), "0", "0", "absent", "absent", "0", "0"},
      {"number", NumberSchema(), "0.0", "0", "absent", "absent", "0", "0"},
      {"string", StringSchema(), "\"\"", "\"\"", "absent", "absent", "\"\"", "\"\""},
      {"bytes", BytesSchema(), "\"\"", "\"\"", "absent", "absent", "\"\"", "\"\""},
      {"time", TimeSchema(), "\"0001-01-01T00:00:00Z\"", "null", "null", "absent", "null", "null"},
      {"duration", DurationSchema(), "\"0h\"", "\"0s\"", "\"0s\"", "absent", "\"0s\"", "\"0s\""},
      {"quantity", QuantitySchema(), "\"0Ki\"", "\"0\"", "\"0\"", "absent", "\"0\"", "\"0\""},
      {"int or string", IntOrStringSchema(), "0", "0", "0", "absent", "0", "0"},
      {"int or string", IntOrStringSchema(), "\"\"", "\"\"", "\"\"", "\"\"", "\"\"", "\"\""},
      {"any", AnySchema(), "\"\"", "\"\"", "\"\"", "\"\"", "\"\"", "\"\""},
      {"list", ListOf(StringSchema()), "[]", "[]", "absent", "absent", "[]", "[]"},
      {"map", MapOf(StringSchema()), "{}", "{}", "absent", "absent", "{}", "{}"},
      {"struct", point, "{}", "{}", "{}", "absent", "{}", "{}"},
      {"struct", point, "{\"x\":0}", "{}", "{}", "absent", "{}", "{}"},
      {"struct", deep, "{\"p\":{\"x\":0}}", "{\"p\":{}}", "{\"p\":{}}", "absent", "{\"p\":{}}",
       "{\"p\":{}}"},
      // An empty map is not nil, so the struct is not zero.
      {"struct", deep, "{\"m\":{}}", "{\"p\":{}}", "{\"p\":{}}", "{\"p\":{}}", "{\"p\":{}}",
       "{\"p\":{}}"},
  };
  for (const FieldRow& row : rows) CheckRow(row);
}

TEST_CASE("runtime: values come out canonically whatever the presence", "[runtime]") {
  struct Row {
    SchemaPtr schema;
    std::string value, after;
  };
  const Row rows[] = {
      {BooleanSchema(), "true", "true"},
      {IntegerSchema(32), "-2147483648", "-2147483648"},
      {NumberSchema(), "1.5", "1.5"},
      {NumberSchema(), "2.0", "2"},
      {NumberSchema(), "9007199254740993", "9007199254740992"},
      {StringSchema(), "\"x\"", "\"x\""},
      {BytesSchema(), "\"YWI=\"", "\"ab\""},
      {BytesSchema(), "\"YW\\nJj\"", "\"YWnJj\""},
      {BytesSchema(), "[97,98]", "\"ab\""},
      {TimeSchema(), "\"2020-01-02T03:04:05.6+01:00\"", "\"2020-01-02T02:04:05Z\""},
      {MicroTimeSchema(), "\"2020-01-02T03:04:05.000006+01:00\"",
       "\"2020-01-02T02:04:05.000006Z\""},
      {DurationSchema(), "\"90m\"", "\"1h30m0s\""},
      {QuantitySchema(), "\"1024Ki\"", "\"1Mi\""},
      {QuantitySchema(), "\" 0.5 \"", "\"500m\""},
      {QuantitySchema(), "2", "\"2\""},
      {QuantitySchema(), "0.25", "\"250m\""},
      {IntOrStringSchema(), "\"50%\"", "\"50%\""},
      {IntOrStringSchema(), "8080", "8080"},
      {RawExtensionSchema(), "{\"b\":1,\"a\":null}", "{\"b\":1,\"a\":null}"},
      {AnySchema(), "[{\"b\":1,\"a\":null}]", "[{\"b\":1,\"a\":null}]"},
      {ListOf(StringSchema()), "[\"a\",null]", "[\"a\",\"\"]"},
      {MapOf(IntegerSchema(32)), "{\"b\":1,\"a\":null}", "{\"a\":0,\"b\":1}"},
      {ListOf(StructBuilder("").Field("x", StringSchema(), {.omit = Omit::kNever}).Build()),
       "[null,{\"y\":1}]", "[{\"x\":\"\"},{\"x\":\"\"}]"},
      {MapOf(ListOf(StringSchema())), "{\"a\":null,\"b\":[]}", "{\"a\":null,\"b\":[]}"},
  };
  for (const Row& row : rows) {
    if (row.value.find('\\') != std::string::npos) continue;
    CAPTURE(row.value);
    for (const Presence presence : {Presence::kValue, Presence::kPointer}) {
      CHECK(FieldAfter(row.schema, presence, Omit::kWhenEmpty, row.value) == row.after);
      CHECK(FieldAfter(row.schema, presence, Omit::kNever, row.value) == row.after);
    }
  }
}

SchemaPtr FlunderSpec() {
  const SchemaPtr port = StructBuilder("com.example.v1alpha1.Port")
                             .Field("name", StringSchema())
                             .Field("number", IntegerSchema(32), {.omit = Omit::kNever})
                             .Build();
  return StructBuilder("com.example.v1alpha1.FlunderSpec")
      .Field("replicas", IntegerSchema(32), {.presence = Presence::kPointer})
      .Field("name", StringSchema())
      .Field("ports", ListOf(port))
      .Field("labels", MapOf(StringSchema()))
      .Field("ratio", NumberSchema())
      .Field("on", BooleanSchema())
      .Field("at", TimeSchema(), {.presence = Presence::kPointer})
      .Field("size", QuantitySchema(), {.presence = Presence::kPointer})
      .Field("wait", DurationSchema(), {.presence = Presence::kPointer})
      .Field("target", IntOrStringSchema(), {.presence = Presence::kPointer})
      .Field("blob", BytesSchema())
      .Build();
}

KindPtr NormalizedFlunder() {
  return WidgetKind(StructBuilder("com.example.v1alpha1.Flunder")
                        .Field("metadata", ObjectMetaSchema())
                        .Field("spec", FlunderSpec())
                        .Field("status", StructBuilder("com.example.v1alpha1.Status").Build())
                        .Build());
}

TEST_CASE("runtime: fields come in declaration order, unknown and empty ones go", "[runtime]") {
  CHECK(
      Normalized(NormalizedFlunder(), R"({"spec":{"typo":1,"ports":[{"number":1,"name":"a","x":{}}],
      "Name":"case matters","name":"","replicas":0},"zzz":[],"metadata":{"labels":{"b":"2","a":"1"},
      "name":"n","creationTimestamp":null,"annotations":{}}})") ==
      R"({"metadata":{"name":"n","labels":{"a":"1","b":"2"}},)"
      R"("spec":{"replicas":0,"ports":[{"name":"a","number":1}]},"status":{}})");
  CHECK(Normalized(NormalizedFlunder(), "{}") == R"({"metadata":{},"spec":{},"status":{}})");
}

TEST_CASE("runtime: what does not fit is refused in Go's words", "[runtime]") {
  struct Row {
    const char* json;
    const char* message;
  };
  constexpr Row kRows[] = {
      {R"({"spec":{"replicas":"x"}})",
       "json: cannot unmarshal string into Go struct field FlunderSpec.spec.replicas of type "
       "int32"},
      {R"({"spec":{"replicas":2147483648}})",
       "json: cannot unmarshal number 2147483648 into Go struct field FlunderSpec.spec.replicas "
       "of type int32"},
      {R"({"spec":{"replicas":1.0}})",
       "json: cannot unmarshal number 1.0 into Go struct field FlunderSpec.spec.replicas of type "
       "int32"},
      {R"({"spec":{"name":1}})",
       "json: cannot unmarshal number into Go struct field FlunderSpec.spec.name of type string"},
      {R"({"spec":{"name":{}}})",
       "json: cannot unmarshal object into Go struct field FlunderSpec.spec.name of type string"},
      {R"({"spec":{"on":"true"}})",
       "json: cannot unmarshal string into Go struct field FlunderSpec.spec.on of type bool"},
      {R"({"spec":{"ratio":true}})",
       "json: cannot unmarshal bool into Go struct field FlunderSpec.spec.ratio of type float64"},
      {R"({"spec":{"ports":{}}})",
       "json: cannot unmarshal object into Go struct field FlunderSpec.spec.ports of type "
       "[]v1alpha1.Port"},
      {R"({"spec":{"ports":[[]]}})",
       "json: cannot unmarshal array into Go struct field FlunderSpec.spec.ports of type "
       "v1alpha1.Port"},
      {R"({"spec":{"ports":[{"number":"x"}]}})",
       "json: cannot unmarshal string into Go struct field Port.spec.ports.number of type int32"},
      {R"({"spec":{"labels":["x"]}})",
       "json: cannot unmarshal array into Go struct field FlunderSpec.spec.labels of type "
       "map[string]string"},
      {R"({"spec":{"labels":{"a":1}}})",
       "json: cannot unmarshal number into Go struct field FlunderSpec.spec.labels of type string"},
      {R"({"spec":[]})",
       "json: cannot unmarshal array into Go struct field Flunder.spec of type "
       "v1alpha1.FlunderSpec"},
      {R"({"metadata":{"name":1}})",
       "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type "
       "string"},
      {R"({"metadata":{"creationTimestamp":1}})",
       "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp "
       "of type string"},
      {R"({"spec":{"at":"noon"}})",
       "parsing time \"noon\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"noon\" as "
       "\"2006\""},
      {R"({"spec":{"size":"much"}})",
       "quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {R"({"spec":{"wait":"1d"}})", "time: unknown unit \"d\" in duration \"1d\""},
      {R"({"spec":{"target":true}})",
       "json: cannot unmarshal bool into Go struct field FlunderSpec.spec.target of type int32"},
      {R"({"spec":{"blob":"YWJ"}})", "illegal base64 data at input byte 0"},
      {R"({"spec":{"blob":1}})",
       "json: cannot unmarshal number into Go struct field FlunderSpec.spec.blob of type "
       "[]uint8"},
  };
  for (const Row& row : kRows) CHECK(Normalized(NormalizedFlunder(), row.json) == row.message);
}

TEST_CASE("runtime: the first misfit of a document is reported, a parser's error before it",
          "[runtime]") {
  CHECK(Normalized(NormalizedFlunder(), R"({"spec":{"name":1,"on":2},"metadata":3})") ==
        "json: cannot unmarshal number into Go struct field FlunderSpec.spec.name of type string");
  CHECK(Normalized(NormalizedFlunder(), R"({"spec":{"name":1,"wait":"x","on":2}})") ==
        "time: invalid duration \"x\"");
}

TEST_CASE("runtime: an object that is refused stays as it was", "[runtime]") {
  const auto object = ObjectOf(NormalizedFlunder(), R"({"spec":{"typo":1,"name":1}})");
  CHECK_FALSE(Settle(*object, {.defaults = false}).ok());
  CHECK(Print(*object) == R"({"spec":{"typo":1,"name":1}})");
}

TEST_CASE("runtime: content that is right already is left untouched", "[runtime]") {
  const auto object = ObjectOf(
      NormalizedFlunder(), R"({"metadata":{"name":"n","creationTimestamp":"2020-01-01T00:00:00Z",
      "labels":{"a":"1","b":"2"}},"spec":{"replicas":0,"ports":[{"name":"a","number":1}],
      "ratio":0.5,"size":"1500m","wait":"1m0s"},"status":{}})");
  const void* const before = object->root().members().data();
  const std::size_t bytes = object->arena().bytes_reserved();
  REQUIRE(Settle(*object, {.defaults = false}).ok());
  CHECK(object->root().members().data() == before);
  CHECK(object->arena().bytes_reserved() == bytes);
}

TEST_CASE("runtime: fields of inlined structs stand where the struct stands", "[runtime]") {
  const SchemaPtr inner =
      StructBuilder("").Field("b", StringSchema()).Field("a", StringSchema()).Build();
  const SchemaPtr spec = StructBuilder("")
                             .Field("x", StringSchema())
                             .Field("", inner, {.inlined = true})
                             .Field("y", StringSchema())
                             .Build();
  CHECK(Normalized(WidgetKind(WithSpec(spec)), R"({"spec":{"y":"4","a":"3","b":"2","x":"1"}})") ==
        R"({"metadata":{},"spec":{"x":"1","b":"2","a":"3","y":"4"}})");
}

TEST_CASE("runtime: a struct that preserves unknown fields has them last", "[runtime]") {
  SchemaParts spec(*StructBuilder("").Field("a", StringSchema()).Build());
  spec.preserve_unknown_fields = true;
  const KindPtr kind = WidgetKind(WithSpec(MakeSchema(spec)));
  CHECK(Normalized(kind, R"({"spec":{"z":null,"a":"1","b":[]}})") ==
        R"({"metadata":{},"spec":{"a":"1","z":null,"b":[]}})");
}

TEST_CASE("runtime: custom resources get sorted keys and Go's metadata", "[runtime]") {
  const KindPtr kind = WidgetKind(WithSpec(AnySchema()), Semantics::kCustomResource);
  CHECK(Normalized(kind, R"({"spec":{"b":{"d":0,"c":null},"a":""},"metadata":{"name":"n",
      "labels":{},"creationTimestamp":null,"typo":1}})") ==
        R"({"metadata":{"name":"n"},"spec":{"a":"","b":{"c":null,"d":0}}})");
  CHECK(Normalized(kind, R"({"metadata":{"labels":{"a":1}}})") ==
        "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string");
}

TEST_CASE("runtime: a custom resource that is right already is left untouched", "[runtime]") {
  const KindPtr kind = WidgetKind(WithSpec(AnySchema()), Semantics::kCustomResource);
  // The fields of ownerReferences and managedFields are in the order of their names, too.
  const auto object = ObjectOf(
      kind, R"({"metadata":{"creationTimestamp":"2020-01-01T00:00:00Z","labels":{"a":"1","b":"2"},
      "managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","manager":"m",
      "operation":"Update","time":"2020-01-01T00:00:00Z"}],"name":"n","namespace":"x",
      "ownerReferences":[{"apiVersion":"v1","controller":true,"kind":"K","name":"o","uid":"1"}],
      "uid":"2"},"spec":{"a":{"b":1,"c":[{"d":1,"e":2}]}}})");
  const void* const before = object->root().members().data();
  const std::size_t bytes = object->arena().bytes_reserved();
  REQUIRE(Settle(*object).ok());
  CHECK(object->root().members().data() == before);
  CHECK(object->arena().bytes_reserved() == bytes);

  // A map deep inside that is not sorted is found in any place.
  CHECK(Normalized(kind, R"({"spec":{"a":{"b":1,"c":[{"d":1},{"e":2,"d":1}]}}})") ==
        R"({"spec":{"a":{"b":1,"c":[{"d":1},{"d":1,"e":2}]}}})");
}

TEST_CASE("runtime: content without schema is left alone", "[runtime]") {
  const auto object = ObjectOf(Kind::Untyped({"", "v1", "X"}), R"({"b":null,"a":1})");
  REQUIRE(Settle(*object, {.defaults = false}).ok());
  CHECK(Print(*object) == R"({"b":null,"a":1})");
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
