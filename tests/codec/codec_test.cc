#include "apiserver/codec/codec.h"
#include "apiserver/runtime/convert.h"

#include <catch2/catch.hpp>

#include "apiserver/codec/schema_loader.h"
#include "apiserver/meta/errors.h"
#include "codec/text.h"

namespace apiserver::inline v0::codec {
namespace {

using runtime::Field;
using runtime::Format;
using runtime::KindPtr;
using runtime::Object;
using runtime::ObjectPtr;
using runtime::StructBuilder;
using testing::Json;

// Like wardle's Flunder: two versions that name a field differently.
KindPtr FlunderKind() {
  const auto version = [](std::string name, std::string field) {
    const auto spec =
        StructBuilder(name + ".FlunderSpec")
            .Field(field, runtime::StringSchema())
            .Field("replicas", runtime::IntegerSchema(32), {.presence = Field::Presence::kPointer})
            .Build();
    runtime::KindVersion out;
    out.version = name;
    out.schema = StructBuilder(name + ".Flunder")
                     .Field("metadata", runtime::ObjectMetaSchema())
                     .Field("spec", spec)
                     .Build();
    return out;
  };
  const auto rename = [](std::string from, std::string to) {
    return [from, to](Object& object) -> Status {
      const runtime::Value value = object["spec"][from];
      if (value.is_null()) return {};
      object.Edit("spec", to) = value;
      object.Erase("spec", from);
      return {};
    };
  };
  runtime::KindOptions options;
  options.group = "wardle.example.com";
  options.kind = "Flunder";
  options.plural = "flunders";
  options.versions = {version("v1alpha1", "reference"), version("v1beta1", "flunderReference")};
  options.versions[0].to_hub = rename("reference", "flunderReference");
  options.versions[0].from_hub = rename("flunderReference", "reference");
  options.hub_version = "v1beta1";
  options.storage_version = "v1alpha1";
  return runtime::Kind::New(std::move(options)).value();
}

KindPtr WidgetKind() {
  return runtime::Kind::New(KindOptionsFromCrd(R"(
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          data: {type: object, additionalProperties: {type: string}}
          aaa: {type: integer}
          spec: {type: object, properties: {size: {type: integer, default: 5}}}
)")
                                .value())
      .value();
}

std::shared_ptr<const std::string> Body(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

std::string DecodeError(const KindPtr& kind, std::string body, MediaType type = MediaType::kJson) {
  const auto decoded =
      DecodeObject(type, Body(std::move(body)), {.kind = kind, .version = "v1alpha1"});
  if (decoded.ok()) return "";
  CHECK(decoded.status().reason() == Reason::kBadRequest);
  return std::string(decoded.status().message());
}

TEST_CASE("codec: bodies that cannot be decoded are refused in Kubernetes' words", "[codec]") {
  const KindPtr kind = FlunderKind();
  CHECK(DecodeError(kind, "") ==
        "the object provided is unrecognized (must be of type Flunder): couldn't get version/kind; "
        "json parse error: unexpected end of JSON input (<empty>)");
  CHECK(DecodeError(kind, "{x") ==
        "the object provided is unrecognized (must be of type Flunder): couldn't get version/kind; "
        "json parse error: invalid character 'x' looking for beginning of object key string ({x)");
  CHECK(DecodeError(kind, "yes, this is more than thirty bytes") ==
        "the object provided is unrecognized (must be of type Flunder): couldn't get version/kind; "
        "json parse error: invalid character 'y' looking for beginning of value "
        "(7965732c2074686973206973206d6f7265207468616e2074686972747920 ...)");
  CHECK(DecodeError(kind, "[]") ==
        "the object provided is unrecognized (must be of type Flunder): couldn't get version/kind; "
        "json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion "
        "string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
        "\"json:\\\"kind,omitempty\\\"\" } (5b5d)");
  CHECK(DecodeError(kind, R"({"kind":3})") ==
        "the object provided is unrecognized (must be of type Flunder): couldn't get version/kind; "
        "json parse error: json: cannot unmarshal number into Go struct field .kind of type string "
        "({\"kind\":3})");
  CHECK(DecodeError(kind, R"({"apiVersion":"a/b/c"})") ==
        "the object provided is unrecognized (must be of type Flunder): unexpected GroupVersion "
        "string: a/b/c ({\"apiVersion\":\"a/b/c\"})");
  CHECK(DecodeError(kind, R"({"kind":"Pod","apiVersion":"v1"})") ==
        "Pod in version \"v1\" cannot be handled as a Flunder: no kind \"Pod\" is registered for "
        "version \"v1\"");
  CHECK(DecodeError(kind, R"({"kind":"Flunder","apiVersion":"wardle.example.com/v9"})") ==
        "Flunder in version \"v9\" cannot be handled as a Flunder: no kind \"Flunder\" is "
        "registered for version \"wardle.example.com/v9\"");
  CHECK(DecodeError(kind, "a: b: c", MediaType::kYaml) ==
        "the object provided is unrecognized (must be of type Flunder): yaml: mapping values are "
        "not allowed in this context (613a20623a2063)");
  CHECK(DecodeError(kind, "{}", MediaType::kProtobuf) ==
        "the object provided is unrecognized (must be of type Flunder): provided data does not "
        "appear to be a protobuf message, expected prefix [107 56 115 0] ({})");
}

TEST_CASE("codec: a value of the wrong type is told with its field", "[codec]") {
  CHECK(DecodeError(FlunderKind(), R"({"spec":{"replicas":"many"}})") ==
        "Flunder in version \"v1alpha1\" cannot be handled as a Flunder: json: cannot unmarshal "
        "string into Go struct field FlunderSpec.spec.replicas of type int32");
}

TEST_CASE("codec: a body without kind and apiVersion is what the request is about", "[codec]") {
  auto decoded = DecodeObject(MediaType::kJson, Body(R"({"spec":{"reference":"x"}})"),
                              {.kind = FlunderKind(), .version = "v1alpha1"});
  REQUIRE(decoded.ok());
  CHECK(decoded->object->version() == "v1alpha1");
  CHECK(decoded->object->root()["spec"]["reference"].AsString() == "x");
  CHECK(decoded->strict_errors.empty());
}

TEST_CASE("codec: a body keeps the version it was sent in", "[codec]") {
  auto decoded = DecodeObject(MediaType::kJson,
                              Body(R"({"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",)"
                                   R"("metadata":{"name":"a"}})"),
                              {.kind = FlunderKind(), .version = "v1alpha1"});
  REQUIRE(decoded.ok());
  CHECK(decoded->object->version() == "v1beta1");
  CHECK(decoded->object->name() == "a");
  CHECK(decoded->object->root()["kind"].is_null());
}

TEST_CASE("codec: unknown and duplicate fields are strict errors", "[codec]") {
  auto decoded = DecodeObject(
      MediaType::kJson,
      Body(R"({"spec":{"reference":"x","typo":{"a":1,"a":2},"reference":"y"},"kind":"Flunder",)"
           R"("kind":"Flunder"})"),
      {.kind = FlunderKind(), .version = "v1alpha1"});
  REQUIRE(decoded.ok());
  CHECK(decoded->strict_errors == std::vector<std::string>{R"(unknown field "spec.typo")",
                                                           R"(duplicate field "spec.reference")",
                                                           R"(duplicate field "kind")"});
  CHECK(decoded->object->root()["spec"]["reference"].AsString() == "y");
  CHECK(decoded->object->root()["spec"]["typo"].is_null());
}

TEST_CASE("codec: keys set twice in a YAML body are one strict error", "[codec]") {
  auto decoded = DecodeObject(MediaType::kYaml, Body("spec:\n  reference: x\n  reference: z\n"),
                              {.kind = FlunderKind(), .version = "v1alpha1"});
  INFO(decoded.status().ToString());
  REQUIRE(decoded.ok());
  CHECK(decoded->strict_errors ==
        std::vector<std::string>{
            "yaml: unmarshal errors:\n  line 3: key \"reference\" already set in map"});
}

TEST_CASE("codec: a custom resource is pruned and defaulted", "[codec]") {
  auto decoded = DecodeObject(MediaType::kJson,
                              Body(R"({"kind":"Widget","apiVersion":"example.com/v1",)"
                                   R"("spec":{"typo":1},"data":{"k":"v"}})"),
                              {.kind = WidgetKind(), .version = "v1"});
  REQUIRE(decoded.ok());
  CHECK(decoded->strict_errors == std::vector<std::string>{R"(unknown field "spec.typo")"});
  CHECK(Json(decoded->object->root()["spec"]) == R"({"size":5})");
}

ObjectPtr MakeFlunder() {
  auto object = std::make_unique<Object>(FlunderKind(), "v1beta1");
  object->Edit("spec", "flunderReference") = "a<b";
  object->Edit("metadata", "uid") = "u";
  object->Edit("metadata", "resourceVersion") = "42";
  object->Edit("metadata", "name") = "one";
  return object;
}

TEST_CASE("codec: an encoding is canonical and knows metadata and revision", "[codec]") {
  const ObjectPtr flunder = MakeFlunder();

  const runtime::EncodingPtr encoding =
      EncodingOf(Context::Background(), *flunder, "v1beta1", Format::kJson).value();

  CHECK(encoding->ToString() == R"("metadata":{"name":"one","uid":"u","resourceVersion":"42"},)"
                                R"("spec":{"flunderReference":"a\u003cb"}})");
  CHECK(encoding->ToString().substr(encoding->marks().rv_begin,
                                    encoding->marks().rv_end - encoding->marks().rv_begin) == "42");
  CHECK(encoding->ToString().substr(
            encoding->marks().metadata_begin,
            encoding->marks().metadata_end - encoding->marks().metadata_begin) ==
        R"({"name":"one","uid":"u","resourceVersion":"42"})");
}

TEST_CASE("codec: an encoding in another version is converted, made once, and changes nothing",
          "[codec]") {
  const ObjectPtr flunder = MakeFlunder();

  const runtime::EncodingPtr encoding =
      EncodingOf(Context::Background(), *flunder, "v1alpha1", Format::kJson).value();

  CHECK(encoding->ToString() == R"("metadata":{"name":"one","uid":"u","resourceVersion":"42"},)"
                                R"("spec":{"reference":"a\u003cb"}})");
  CHECK(flunder->version() == "v1beta1");
  CHECK(flunder->root()["spec"]["flunderReference"].AsString() == "a<b");
  CHECK(EncodingOf(Context::Background(), *flunder, "v1alpha1", Format::kJson).value() == encoding);
}

TEST_CASE("codec: a version or format that there is not is refused", "[codec]") {
  const ObjectPtr flunder = MakeFlunder();
  CHECK(EncodingOf(Context::Background(), *flunder, "v9", Format::kJson).status().reason() ==
        Reason::kBadRequest);
  CHECK(
      EncodingOf(Context::Background(), *flunder, "v1beta1", Format::kProtobuf).status().reason() ==
      Reason::kNotAcceptable);
}

TEST_CASE("codec: a custom resource's keys are sorted, kind and apiVersion among them", "[codec]") {
  auto decoded = DecodeObject(
      MediaType::kJson,
      Body(R"({"kind":"Widget","apiVersion":"example.com/v1","spec":{"size":1},"data":{"z":"1",)"
           R"("b":"2"},"aaa":1,"metadata":{"namespace":"n","name":"w","resourceVersion":"7"}})"),
      {.kind = WidgetKind(), .version = "v1"});
  REQUIRE(decoded.ok());

  const runtime::EncodingPtr encoding =
      EncodingOf(Context::Background(), *decoded->object, "v1", Format::kJson).value();

  CHECK(std::string(decoded->object->kind().JsonPrefix("v1")) + encoding->ToString() ==
        R"({"aaa":1,"apiVersion":"example.com/v1","data":{"b":"2","z":"1"},"kind":"Widget",)"
        R"("metadata":{"name":"w","namespace":"n","resourceVersion":"7"},"spec":{"size":1}})");
  CHECK(encoding->ToString().substr(encoding->marks().rv_begin,
                                    encoding->marks().rv_end - encoding->marks().rv_begin) == "7");
}

TEST_CASE("codec: storage keeps the storage version without revision, ending in a newline",
          "[codec]") {
  CHECK(*EncodeForStorage(Context::Background(), *MakeFlunder())->bytes ==
        "{\"kind\":\"Flunder\",\"apiVersion\":\"wardle.example.com/v1alpha1\","
        "\"metadata\":{\"name\":\"one\",\"uid\":\"u\"},\"spec\":{\"reference\":\"a\\u003cb\"}}\n");
}

TEST_CASE("codec: what storage keeps comes back in the stored version with its revision",
          "[codec]") {
  const auto bytes = EncodeForStorage(Context::Background(), *MakeFlunder())->bytes;

  const ObjectPtr object = DecodeFromStorage(FlunderKind(), bytes, 43).value();

  CHECK(object->version() == "v1alpha1");
  CHECK(!object->loaded());
  CHECK(object->load_status().ok());
  CHECK(object->resource_version() == "43");
  CHECK(Json(object->metadata()) == R"({"name":"one","uid":"u","resourceVersion":"43"})");
  CHECK(object->root()["spec"]["reference"].AsString() == "a<b");
  CHECK(*EncodeForStorage(Context::Background(), *object)->bytes == *bytes);
}

// An object answers the same right after it was written and once it is read back, and its content
// is known without reading it.
void CheckAnswersAsReadBack(const Object& object) {
  const KindPtr& kind = object.kind_ptr();
  StorageEncoding stored =
      EncodeForStorage(Context::Background(), object, {.content = true}).value();
  const ObjectPtr written = DecodeFromStorage(kind, stored.bytes, 1234).value();
  const ObjectPtr read = DecodeFromStorage(kind, stored.bytes, 1234).value();
  INFO(*stored.bytes);
  REQUIRE(stored.answer);
  StoreAnswer(*written, *stored.answer, 1234);
  const auto now =
      EncodingOf(Context::Background(), *written, kind->storage_version(), Format::kJson).value();
  const auto later =
      EncodingOf(Context::Background(), *read, kind->storage_version(), Format::kJson).value();
  CHECK(now->ToString() == later->ToString());
  CHECK(now->marks() == later->marks());
  CHECK(now->own_bytes() == 0);
  REQUIRE(stored.content);
  const ObjectPtr known = ReadBack(std::move(stored.content), 1234);
  CHECK(known->version() == read->version());
  CHECK(Json(known->root()) == Json(read->root()));
  CHECK(known->root() == read->root());
}

TEST_CASE("codec: what was just stored is answered without reading it back", "[codec]") {
  CheckAnswersAsReadBack(*MakeFlunder());
  const char* bodies[] = {
      R"({})",
      R"({"metadata":{}})",
      R"({"metadata":{"name":"a"}})",
      R"({"metadata":{"resourceVersion":"7","name":"a","namespace":"b"},"spec":{}})",
      R"({"metadata":{"generateName":"a-","labels":{"uid":"x","name":"y"}}})",
      R"({"metadata":{"labels":{"a":"b"}},"spec":{"reference":"metadata"}})",
      R"({"metadata":{"uid":"u","selfLink":"s","finalizers":["x"]},"status":{}})",
      R"({"metadata":{"name":"\u2028<\ud83d\ude00","annotations":{"b":"\"","a":"\\"}}})",
      (R"({"metadata":{"name":"a","managedFields":[{"manager":"m","operation":"Update",)"
       R"("apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{".":{},"f:a":{}}}}]}})")};
  for (const KindPtr& kind : {FlunderKind(), WidgetKind()}) {
    for (std::string body : bodies) {
      const bool custom = kind->semantics() == runtime::Semantics::kCustomResource;
      // Without metadata a custom resource has no place for a revision.
      if (body == "{}" && custom) continue;
      // It must say what it is.
      if (custom) body.insert(1, R"("kind":"Widget","apiVersion":"example.com/v1",)");
      const DecodeOptions options{.kind = kind, .version = kind->storage_version()};
      const auto decoded = DecodeObject(MediaType::kJson, Body(body), options).value();
      REQUIRE(runtime::Convert(Context::Background(), *decoded.object, kind->hub_version()).ok());
      CheckAnswersAsReadBack(*decoded.object);
    }
  }
}

// As the manager of fields makes them.
TEST_CASE("codec: owners in text are known as reading them back gives them", "[codec]") {
  const ObjectPtr flunder = MakeFlunder();
  const auto owned = flunder->Clone();
  const auto fields = [&owned](std::string_view text) {
    runtime::MapBuilder owner(owned->arena());
    owner.Add("manager", runtime::Value::String("m"));
    owner.Add("operation", runtime::Value::String("Update"));
    owner.Add("fieldsV1", runtime::Value::Raw(text));
    runtime::ListBuilder owners(owned->arena());
    owners.Add(owner.Build());
    owned->SetPath({"metadata", "managedFields"}, owners.Build());
  };
  fields(R"({"f:spec":{".":{},"f:<a>":{}},"f:metadata":{"k:{\"a\":1}":{}}})");
  CheckAnswersAsReadBack(*owned);
  for (const char* no_set : {"null", "7", "{"}) {
    fields(no_set);
    const auto stored = EncodeForStorage(Context::Background(), *owned, {.content = true});
    if (stored.ok()) CHECK_FALSE(stored->content);
  }
}

TEST_CASE("codec: what was stored is known from its own bytes", "[codec]") {
  const ObjectPtr flunder = MakeFlunder();
  const auto object = flunder->Clone();
  const std::string word(10'000, 'x');
  object->Edit("metadata", "annotations", "a") = word;
  StorageEncoding stored =
      EncodeForStorage(Context::Background(), *object, {.content = true}).value();
  REQUIRE(stored.content);
  CHECK(stored.content->arena().bytes_reserved() < word.size() / 2);
  stored.bytes = nullptr;
  CHECK(stored.content->metadata()["annotations"]["a"].AsString() == word);
}

TEST_CASE("codec: what JSON does not give back must be read back", "[codec]") {
  const StorageWishes wishes{.content = true};
  const ObjectPtr flunder = MakeFlunder();
  const auto object = flunder->Clone();
  CHECK(EncodeForStorage(Context::Background(), *object, wishes)->content);
  CHECK_FALSE(EncodeForStorage(Context::Background(), *object)->content);
  object->Edit("metadata", "annotations", "a") = "\xff";
  CHECK_FALSE(EncodeForStorage(Context::Background(), *object, wishes)->content);
  Object widget(WidgetKind(), "v1");
  widget.Edit("metadata", "name") = "w";
  widget.Edit("metadata", "annotations", "a") = runtime::Value::Bytes("x");
  const auto stored = EncodeForStorage(Context::Background(), widget, wishes);
  if (stored.ok()) CHECK_FALSE(stored->content);
}

TEST_CASE("codec: what reading back adds to must be read back", "[codec]") {
  Object widget(WidgetKind(), "v1");
  widget.Edit("metadata", "name") = "w";
  CHECK(EncodeForStorage(Context::Background(), widget)->answer);
  widget.Edit("spec", "other") = "x";  // Not size, which has a default.
  CHECK_FALSE(EncodeForStorage(Context::Background(), widget)->answer);
}

TEST_CASE("codec: stored bytes are read wherever their TypeMeta stands", "[codec]") {
  const auto bytes = Body(
      "{\"metadata\":{\"name\":\"x\",\"labels\":{\"a\":\"b\"}},\"spec\":{},"
      "\"apiVersion\":\"wardle.example.com/v1beta1\",\"kind\":\"Flunder\"}\n");
  const ObjectPtr object = DecodeFromStorage(FlunderKind(), bytes, 7).value();
  CHECK(object->version() == "v1beta1");
  REQUIRE(object->load_status().ok());
  CHECK(Json(object->metadata()) == R"({"name":"x","resourceVersion":"7","labels":{"a":"b"}})");
}

TEST_CASE("codec: the version of stored bytes is told without parsing what Go writes", "[codec]") {
  const auto version_of = [](const std::string& bytes) {
    const ObjectPtr object = DecodeFromStorage(FlunderKind(), Body(bytes), 7).value();
    CHECK(!object->loaded());
    return object->version();
  };
  const std::string kind = R"("kind":"Flunder","apiVersion":"wardle.example.com/)";
  CHECK(version_of("{" + kind + "v1alpha1\"}\n") == "v1alpha1");
  CHECK(version_of("{" + kind + "v1beta1\"}\n") == "v1beta1");
  CHECK(version_of("{ " + kind + "v1beta1\" }") == "v1beta1");
  CHECK(version_of(R"({"a":{"apiVersion":"x"},"apiVersion":"wardle.example.com\/v1alpha1"})") ==
        "v1alpha1");
  // Bytes of no version of the kind are refused when they are read.
  CHECK(version_of("{}") == "v1beta1");
  CHECK(version_of(R"({"apiVersion":7})") == "v1beta1");
  CHECK(version_of("{" + kind + "v9\"}") == "v1beta1");
}

TEST_CASE("codec: content is never read as one of another version", "[codec]") {
  const auto twice = Body(
      R"({"kind":"Flunder","apiVersion":"wardle.example.com/v1alpha1","spec":{"reference":"a"},)"
      R"("apiVersion":"wardle.example.com/v1beta1"})");
  const ObjectPtr object = DecodeFromStorage(FlunderKind(), twice, 7).value();
  CHECK(object->version() == "v1alpha1");
  CHECK(object->load_status().message() ==
        "unable to decode an object of kind \"Flunder\" from storage: apiVersion is there twice");
  CHECK(object->root().size() == 0);
}

TEST_CASE("codec: stored bytes that are broken are told, and read as empty", "[codec]") {
  const KindPtr kind = FlunderKind();
  const ObjectPtr broken = DecodeFromStorage(kind, Body("{\"kind\":}"), 1).value();
  CHECK(broken->load_status().reason() == Reason::kInternalError);
  CHECK(broken->load_status().message() ==
        "unable to decode an object of kind \"Flunder\" from storage: invalid character '}' "
        "looking for beginning of value");
  CHECK(broken->root().size() == 0);
  CHECK_FALSE(EncodingOf(Context::Background(), *broken, "v1beta1", Format::kJson).ok());

  const ObjectPtr other =
      DecodeFromStorage(kind, Body(R"({"kind":"Pod","apiVersion":"v1"})"), 1).value();
  CHECK(other->load_status().message() ==
        "unable to decode an object of kind \"Flunder\" from storage: no kind \"Pod\" is "
        "registered for version \"v1\"");
}

TEST_CASE("codec: bytes to be stored have no room to spare", "[codec]") {
  runtime::Object object(FlunderKind(), "v1beta1");
  object.Edit("metadata", "name") = std::string(1000, 'a');
  const auto stored = EncodeForStorage(Context::Background(), object);
  REQUIRE(stored.ok());
  // A cache keeps them as they are.
  CHECK(stored->bytes->capacity() - stored->bytes->size() < 16);
}

TEST_CASE("codec: stored bytes that cannot be an object are refused at once", "[codec]") {
  for (const char* bytes : {"", " ", "{", "}", "k8s:enc:aescbc:v1:key:\x01", "[1]"}) {
    const auto object = DecodeFromStorage(FlunderKind(), Body(bytes), 1);
    REQUIRE_FALSE(object.ok());
    CHECK(object.status().reason() == Reason::kInternalError);
    CHECK(object.status().message() ==
          "unable to decode an object of kind \"Flunder\" from storage: the stored value is not a "
          "JSON object; it may be encrypted");
  }
}

TEST_CASE("codec: a Status is JSON with or without indentation", "[codec]") {
  const Status status = meta::NewNotFound({"example.com", "widgets"}, "w");
  CHECK(StatusToJson(status) ==
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
        "\"message\":\"widgets.example.com \\\"w\\\" not found\",\"reason\":\"NotFound\","
        "\"details\":{\"name\":\"w\",\"group\":\"example.com\",\"kind\":\"widgets\"},"
        "\"code\":404}\n");
  CHECK(StatusToJson(status, true).starts_with("{\n  \"kind\": \"Status\",\n"));
  CHECK(StatusToJson(status, true).ends_with("\n  \"code\": 404\n}"));
}

TEST_CASE("codec: a null body decodes as an empty text", "[codec]") {
  CHECK_FALSE(DecodeBody(MediaType::kJson, nullptr).ok());
  CHECK(DecodeBody(MediaType::kYaml, nullptr)->root.is_map());
}

ObjectPtr Stored(const KindPtr& kind, const std::string& bytes) {
  return DecodeFromStorage(kind, Body(bytes), 7).value();
}

TEST_CASE("codec: labels are read without parsing the rest", "[codec]") {
  runtime::Arena arena;
  const ObjectPtr object =
      Stored(WidgetKind(),
             R"({"a":[{"metadata":1},"}"],"apiVersion":"example.com/v1","b":-1.5e3,"c":null,)"
             R"("kind":"Widget","metadata":{"annotations":{"labels":"\"{"},"labels":)"
             R"({"app":"x\u0041","tier":""},"name":"one"},"spec":{"size":1}})"
             "\n");
  CHECK(Json(LabelsOf(*object, arena)) == R"({"app":"xA","tier":""})");
  CHECK(!object->loaded());
  CHECK(Json(object->labels()) == R"({"app":"xA","tier":""})");
}

TEST_CASE("codec: who has no labels need not be parsed to know it", "[codec]") {
  runtime::Arena arena;
  const ObjectPtr object = Stored(
      WidgetKind(), R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}})"
                    "\n");
  CHECK(LabelsOf(*object, arena).is_null());
  CHECK(!object->loaded());
}

TEST_CASE("codec: labels of bytes in another form are read as well", "[codec]") {
  runtime::Arena arena;
  const ObjectPtr object =
      Stored(WidgetKind(), R"({ "apiVersion": "example.com/v1", "kind": "Widget",)"
                           R"( "metadata": {"name": "a", "labels": {"app": "x"}}})");
  CHECK(Json(LabelsOf(*object, arena)) == R"({"app":"x"})");
  for (const char* broken : {"{}", R"({"metadata})", R"({"metadata":{"labels":{"a"})",
                             R"({"metadata":})", R"({"metadata":{"labels":})"}) {
    CHECK(LabelsOf(*Stored(WidgetKind(), broken), arena).size() == 0);
  }
}

TEST_CASE("codec: stored bytes that are answered as they are are kept once", "[codec]") {
  const ObjectPtr flunder = MakeFlunder();
  const ObjectPtr read =
      Stored(flunder->kind_ptr(), *EncodeForStorage(Context::Background(), *flunder)->bytes);
  const auto encoding = EncodingOf(Context::Background(), *read, "v1alpha1", Format::kJson).value();
  CHECK(encoding->own_bytes() == 0);
  CHECK(!read->loaded());
  CHECK(encoding->ToString() == R"("metadata":{"name":"one","uid":"u","resourceVersion":"7"},)"
                                R"("spec":{"reference":"a\u003cb"}})");
  // Another version, and bytes in another form, are made anew.
  CHECK(EncodingOf(Context::Background(), *read, "v1beta1", Format::kJson).value()->own_bytes() >
        0);
  const ObjectPtr loose = Stored(
      WidgetKind(), R"({ "apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}})");
  const auto own = EncodingOf(Context::Background(), *loose, "v1", Format::kJson).value();
  CHECK(own->own_bytes() == own->size());
  CHECK(own->ToString() == R"("apiVersion":"example.com/v1","kind":"Widget","metadata":)"
                           R"({"name":"a","resourceVersion":"7"}})");
}

}  // namespace
}  // namespace apiserver::inline v0::codec
