#include "apiserver/codec/protobuf.h"

#include <catch2/catch.hpp>

#include "apiserver/meta/errors.h"
#include "codec/protobuf_message.h"
#include "codec/protobuf_wire.h"
#include "codec/text.h"

namespace apiserver::inline v0::codec {
namespace {

using runtime::Arena;
using runtime::Format;
using runtime::SchemaPtr;
using runtime::StructBuilder;
using runtime::Value;
using testing::Json;

constexpr auto kPointer = runtime::Field::Presence::kPointer;

// One field of every type.
SchemaPtr AllTypes() {
  const SchemaPtr inner = StructBuilder("Inner")
                              .Field("a", runtime::IntegerSchema(32), {.proto_number = 1})
                              .Field("b", runtime::StringSchema(), {.proto_number = 2})
                              .Build();
  const SchemaPtr source =
      StructBuilder("Source")
          .Field("host", runtime::StringSchema(), {.presence = kPointer, .proto_number = 1})
          .Build();
  return StructBuilder("All")
      .Field("flag", runtime::BooleanSchema(), {.proto_number = 2})
      .Field("number", runtime::NumberSchema(), {.presence = kPointer, .proto_number = 3})
      .Field("big", runtime::IntegerSchema(64), {.presence = kPointer, .proto_number = 4})
      .Field("small", runtime::IntegerSchema(32), {.presence = kPointer, .proto_number = 5})
      .Field("text", runtime::StringSchema(), {.presence = kPointer, .proto_number = 6})
      .Field("bytes", runtime::BytesSchema(), {.proto_number = 7})
      .Field("time", runtime::TimeSchema(), {.presence = kPointer, .proto_number = 8})
      .Field("micro", runtime::MicroTimeSchema(), {.presence = kPointer, .proto_number = 9})
      .Field("duration", runtime::DurationSchema(), {.presence = kPointer, .proto_number = 10})
      .Field("quantity", runtime::QuantitySchema(), {.presence = kPointer, .proto_number = 11})
      .Field("port", runtime::IntOrStringSchema(), {.presence = kPointer, .proto_number = 12})
      .Field("raw", runtime::RawExtensionSchema(), {.presence = kPointer, .proto_number = 13})
      .Field("inner", inner, {.presence = kPointer, .proto_number = 14})
      .Field("list", runtime::ListOf(inner), {.proto_number = 15})
      .Field("numbers", runtime::ListOf(runtime::IntegerSchema(64)), {.proto_number = 16})
      .Field("map", runtime::MapOf(runtime::StringSchema()), {.proto_number = 17})
      .Field("source", source, {.presence = kPointer, .inlined = true, .proto_number = 1})
      .Build();
}

std::string Encode(std::string_view json, const SchemaPtr& schema = AllTypes()) {
  Arena arena;
  std::string out;
  const Status status = AppendMessage(ParseJson(json, arena).value(), *schema, out);
  return status.ok() ? out : std::string(status.message());
}

std::string Decode(std::string_view bytes, const SchemaPtr& schema = AllTypes()) {
  Arena arena;
  const Result<Value> value = DecodeMessage(bytes, *schema, arena);
  return value.ok() ? Json(*value) : std::string(value.status().message());
}

TEST_CASE("codec: every type goes to protobuf and comes back", "[codec]") {
  const char* const rows[] = {
      R"({"flag":true,"number":1.5})",
      R"({"flag":false,"big":-9223372036854775808,"small":-1})",
      R"({"flag":false,"text":"","bytes":"AP8="})",
      R"({"flag":false,"time":"2008-01-01T01:01:01Z","micro":"2008-01-01T01:01:01.000123Z"})",
      R"({"flag":false,"duration":"1h2m3.5s","quantity":"100Mi"})",
      R"({"flag":false,"port":8080})",
      R"({"flag":false,"port":"http"})",
      R"({"flag":false,"raw":{"any":[1,"x"]}})",
      R"({"flag":false,"inner":{"a":1,"b":"x"},"list":[{"a":0,"b":""},{"a":-2,"b":"y"}]})",
      R"({"flag":false,"numbers":[1,-1,300],"map":{"a":"1","b":""}})",
      R"({"flag":false,"host":"h"})",
  };
  for (const std::string row : rows) {
    INFO(row);
    CHECK(Decode(Encode(row)) == row);
  }
}

// What a Go slice type with a name of its own is: authentication's ExtraValue, meta's Verbs.
SchemaPtr NamedSlice() {
  runtime::SchemaParts list(*runtime::ListOf(runtime::StringSchema()));
  list.proto_message = true;
  return MakeSchema(list);
}

TEST_CASE("codec: a list that is a message can be nil, empty, and stand in a map", "[codec]") {
  const SchemaPtr schema = StructBuilder("M")
                               .Field("verbs", NamedSlice(), {.proto_number = 1})
                               .Field("extra", runtime::MapOf(NamedSlice()), {.proto_number = 2})
                               .Build();
  CHECK(Encode("{}", schema).empty());
  CHECK(Encode(R"({"verbs":[]})", schema) == std::string("\x0a\x00", 2));
  CHECK(Encode(R"({"verbs":["a",""]})", schema) == std::string("\x0a\x05\x0a\x01\x61\x0a\x00", 7));
  for (const std::string row :
       {R"({"verbs":[]})", R"({"verbs":["a",""]})", R"({"extra":{"k":["v","w"],"none":[]}})"}) {
    CHECK(Decode(Encode(row, schema), schema) == row);
  }
  CHECK(Decode(std::string("\x0a\x03\x0a\x01\x61\x0a\x03\x0a\x01\x62", 10), schema) ==
        R"({"verbs":["a","b"]})");
}

TEST_CASE("codec: protobuf leaves out what only JSON has", "[codec]") {
  const SchemaPtr schema =
      StructBuilder("M")
          .Field("kind", runtime::StringSchema(), {.proto_number = runtime::Field::kNotInProto})
          .Field("size", runtime::IntegerSchema(32), {.proto_number = 1})
          .Build();
  CHECK(Encode(R"({"kind":"X","size":1})", schema) == "\x08\x01");
  CHECK(Decode("\x08\x01", schema) == R"({"size":1})");
}

TEST_CASE("codec: values that are no pointers are always written, in the order of numbers",
          "[codec]") {
  const SchemaPtr schema =
      StructBuilder("M")
          .Field("b", runtime::StringSchema(), {.proto_number = 2})
          .Field("a", runtime::IntegerSchema(64), {.proto_number = 1})
          .Field("t", runtime::TimeSchema(), {.proto_number = 3})
          .Field("l", runtime::ListOf(runtime::StringSchema()), {.proto_number = 4})
          .Build();
  CHECK(Encode("{}", schema) == std::string("\x08\x00\x12\x00\x1a\x00", 6));
}

TEST_CASE("codec: map entries are sorted by key", "[codec]") {
  CHECK(Encode(R"({"map":{"b":"2","a":"1"}})") == std::string("\x10\x00", 2) +
                                                      "\x8a\x01\x06\x0a\x01"
                                                      "a\x12\x01"
                                                      "1" +
                                                      "\x8a\x01\x06\x0a\x01"
                                                      "b\x12\x01"
                                                      "2");
}

TEST_CASE("codec: nil bytes in a map are an entry without value", "[codec]") {
  const SchemaPtr schema =
      StructBuilder("M")
          .Field("files", runtime::MapOf(runtime::BytesSchema()), {.proto_number = 1})
          .Build();
  CHECK(Encode(R"({"files":{"a":null,"b":""}})", schema) ==
        std::string("\x0a\x03\x0a\x01\x61\x0a\x05\x0a\x01\x62\x12\x00", 12));
}

// The order of field sets is by value, not by byte: containerPort 80 comes before 443.
TEST_CASE("codec: JSON in protobuf keeps the order of its keys", "[codec]") {
  const SchemaPtr schema =
      StructBuilder("").Field("raw", runtime::RawExtensionSchema(), {.proto_number = 1}).Build();

  const std::string json = R"({"k:{\"p\":80}":{},"k:{\"p\":443}":{}})";
  CHECK(Encode(R"({"raw":)" + json + "}", schema).ends_with(json));
}

TEST_CASE("codec: a pointer to a zero time is an empty message", "[codec]") {
  const SchemaPtr schema =
      StructBuilder("")
          .Field("held", runtime::TimeSchema(), {.proto_number = 1})
          .Field("time", runtime::TimeSchema(), {.presence = kPointer, .proto_number = 2})
          .Build();
  const std::string empty("\x0a\x00\x12\x00", 4);
  Arena arena;

  const Value decoded = DecodeMessage(empty, *schema, arena).value();
  std::string again;
  REQUIRE(AppendMessage(decoded, *schema, again).ok());

  CHECK(Json(decoded) == R"({"held":null,"time":null})");
  CHECK(decoded["held"].is_null());
  CHECK_FALSE(decoded["time"].is_null());
  CHECK(again == empty);
  CHECK(Encode("{}", schema) == std::string("\x0a\x00", 2));
}

TEST_CASE("codec: unknown protobuf fields and groups are skipped", "[codec]") {
  std::string bytes;
  wire::PutInt(999, 7, bytes);
  wire::PutBytes(998, "x", bytes);
  wire::PutTag(997, wire::Type::kStartGroup, bytes);
  wire::PutInt(2, 1, bytes);
  wire::PutTag(997, wire::Type::kEndGroup, bytes);
  wire::PutInt(2, 1, bytes);
  CHECK(Decode(bytes) == R"({"flag":true})");
}

TEST_CASE("codec: a message in pieces is one, of scalars the last counts", "[codec]") {
  std::string bytes;
  wire::PutBytes(14, "\x08\x01", bytes);
  wire::PutBytes(14, "\x12\x01x", bytes);
  wire::PutBytes(6, "first", bytes);
  wire::PutBytes(6, "last", bytes);
  CHECK(Decode(bytes) == R"({"text":"last","inner":{"a":1,"b":"x"}})");
}

TEST_CASE("codec: malformed protobuf is refused", "[codec]") {
  const auto with = [](int number, std::string_view bytes) {
    std::string out;
    wire::PutBytes(number, bytes, out);
    return out;
  };
  CHECK(Decode("\x10") == "unexpected EOF");
  CHECK(Decode("\x32\x05"
               "ab") == "unexpected EOF");
  CHECK(Decode(std::string(11, '\xFF')) == "proto: integer overflow");
  CHECK(Decode(std::string("\x00\x00", 2)) == "proto: All: illegal tag 0 (wire type 0)");
  CHECK(Decode("\x17") == "proto: illegal wireType 7");
  CHECK(Decode("\x14") == "proto: All: wiretype end group for non-group");
  CHECK(Decode("\x12\x01x") == "proto: wrong wireType = 2 for field Flag");
  CHECK(Decode(with(13, with(1, "{x"))) ==
        "invalid character 'x' looking for beginning of object key string");
  CHECK(Decode(with(8, "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F")) == "a time is out of range");
}

// Of AllTypes(): bytes that are wrong in one way each, and gogo's words for it.
TEST_CASE("codec: each wrong wire type and each cut is refused in gogo's words", "[codec]") {
  using namespace std::string_literals;
  const struct {
    std::string bytes;
    const char* why;
  } rows[] = {
      // A known field of another wire type.
      {"\x15\x00\x00\x00\x00"s, "proto: wrong wireType = 5 for field Flag"},
      {"\x18\x01"s, "proto: wrong wireType = 0 for field Number"},
      {"\x1a\x00"s, "proto: wrong wireType = 2 for field Number"},
      {"\x22\x00"s, "proto: wrong wireType = 2 for field Big"},
      {"\x30\x00"s, "proto: wrong wireType = 0 for field Text"},
      {"\x39\x00\x00\x00\x00\x00\x00\x00\x00"s, "proto: wrong wireType = 1 for field Bytes"},
      {"\x40\x00"s, "proto: wrong wireType = 0 for field Time"},
      {"\x70\x00"s, "proto: wrong wireType = 0 for field Inner"},
      {"\x78\x00"s, "proto: wrong wireType = 0 for field List"},
      {"\x85\x01\x00\x00\x00\x00"s, "proto: wrong wireType = 5 for field Numbers"},
      {"\x88\x01\x00"s, "proto: wrong wireType = 0 for field Map"},
      // Within messages that JSON has as scalars.
      {"\x42\x02\x0a\x00"s, "proto: wrong wireType = 2 for field Seconds"},
      {"\x42\x02\x12\x00"s, "proto: wrong wireType = 2 for field Nanos"},
      {"\x52\x02\x0a\x00"s, "proto: wrong wireType = 2 for field Duration"},
      {"\x5a\x02\x08\x00"s, "proto: wrong wireType = 0 for field String_"},
      {"\x62\x02\x0a\x00"s, "proto: wrong wireType = 2 for field Type"},
      {"\x62\x02\x12\x00"s, "proto: wrong wireType = 2 for field IntVal"},
      {"\x62\x02\x18\x00"s, "proto: wrong wireType = 0 for field StrVal"},
      {"\x6a\x02\x08\x00"s, "proto: wrong wireType = 0 for field Raw"},
      {"\x8a\x01\x02\x08\x00"s, "proto: wrong wireType = 0 for field Map"},
      {"\x8a\x01\x02\x10\x00"s, "proto: wrong wireType = 0 for field Map"},
      // Cut, or longer than what holds it.
      {"\x19\x00\x00"s, "unexpected EOF"},
      {"\x32"s, "unexpected EOF"},
      {"\x32\x80"s, "unexpected EOF"},
      {"\x72\x02\x08"s, "unexpected EOF"},
      {"\x72\x01\x08"s, "unexpected EOF"},
      {"\x72\x02\x12\x05"s, "unexpected EOF"},
      {"\x82\x01\x01\x80"s, "unexpected EOF"},
      {"\x8a\x01\x03\x0a\x05\x61"s, "unexpected EOF"},
      {"\xa2\x3f\x05"s, "unexpected EOF"},
      {"\x32\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s,
       "proto: negative length found during unmarshaling"},
      // Tags that there are not.
      {"\x72\x02\x00\x00"s, "proto: Inner: illegal tag 0 (wire type 0)"},
      {"\x72\x01\x0c"s, "proto: Inner: wiretype end group for non-group"},
      {"\x72\x01\x0e"s, "proto: illegal wireType 6"},
      {"\xF8\xFF\xFF\xFF\x7F\x00"s, "proto: All: illegal tag -1 (wire type 34359738360)"},
      {"\xa3\x3f\x08"s, "unexpected EOF"},
      // What JSON cannot say.
      {"\x6a\x03\x0a\x01{"s, "unexpected end of JSON input"},
  };
  for (const auto& row : rows) {
    INFO(row.why);
    CHECK(Decode(row.bytes) == row.why);
  }
}

TEST_CASE("codec: every cut of a message is refused or is a message", "[codec]") {
  const std::string whole = Encode(
      R"({"text":"t","time":"2008-01-01T01:01:01Z","quantity":"1","port":"x","raw":{"a":1},)"
      R"("inner":{"a":1,"b":"x"},"list":[{"a":1}],"numbers":[1,300],"map":{"a":"1"},"host":"h"})");
  std::size_t refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Arena arena;
    const Result<Value> value =
        DecodeMessage(std::string_view(whole).substr(0, size), *AllTypes(), arena);
    if (value.ok()) continue;
    ++refused;
    CHECK(value.status().reason() == Reason::kBadRequest);
  }
  // It may end between fields only.
  CHECK(refused == whole.size() - 12);
}

TEST_CASE("codec: protobuf nested without end is refused", "[codec]") {
  std::string groups;
  for (int i = 0; i < 1'000'000; ++i) wire::PutTag(900, wire::Type::kStartGroup, groups);
  CHECK(Decode(groups) == "unexpected EOF");
}

TEST_CASE("codec: a few bytes cannot become many", "[codec]") {
  // What an empty item is filled up with is 64 times its length.
  const SchemaPtr item = StructBuilder("Item")
                             .Field("a", runtime::StringSchema(),
                                    {.omit = runtime::Field::Omit::kNever, .proto_number = 1})
                             .Field("b", runtime::StringSchema(),
                                    {.omit = runtime::Field::Omit::kNever, .proto_number = 2})
                             .Build();
  const SchemaPtr schema =
      StructBuilder("M").Field("items", runtime::ListOf(item), {.proto_number = 1}).Build();
  std::string few;
  std::string many;
  for (int i = 0; i < 500; ++i) wire::PutBytes(1, "", few);
  for (int i = 0; i < 1'000'000; ++i) wire::PutBytes(1, "", many);
  Arena arena;
  CHECK(DecodeMessage(few, *schema, arena).value()["items"].size() == 500);
  CHECK(Decode(many, schema) == "the message takes too much memory for its length");
  const SchemaPtr map =
      StructBuilder("M")
          .Field("map", runtime::MapOf(runtime::StringSchema()), {.proto_number = 1})
          .Build();
  CHECK(Decode(many, map) == "the message takes too much memory for its length");
  // Items that say what they have are not too much.
  std::string honest;
  for (int i = 0; i < 100'000; ++i)
    wire::PutBytes(1, std::string_view("\x0a\x00\x12\x00", 4), honest);
  CHECK(DecodeMessage(honest, *schema, arena).value()["items"].size() == 100'000);
}

TEST_CASE("codec: bytes that are no envelope are told apart", "[codec]") {
  CHECK(OpenProtobufEnvelope("").status().message() == "empty data");
  CHECK(OpenProtobufEnvelope(kProtobufPrefix).status().message() == "empty body");
  const auto why = [](std::string_view unknown) {
    const Status status =
        OpenProtobufEnvelope(std::string(kProtobufPrefix).append(unknown)).status();
    CHECK(status.reason() == Reason::kBadRequest);
    return std::string(status.message());
  };
  CHECK(why("\x08\x01") == "proto: wrong wireType = 0 for field TypeMeta");
  CHECK(why("\x10\x01") == "proto: wrong wireType = 0 for field Raw");
  CHECK(why(std::string_view("\x0a\x02\x08\x00", 4)) ==
        "proto: wrong wireType = 0 for field APIVersion");
  CHECK(why(std::string_view("\x0a\x02\x10\x00", 4)) == "proto: wrong wireType = 0 for field Kind");
  CHECK(why("\x0c") == "proto: Unknown: wiretype end group for non-group");
  CHECK(why("\x12\x05x") == "unexpected EOF");
  CHECK(OpenProtobufEnvelope("{}").status().message() ==
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
}

runtime::KindPtr ThingKind() {
  runtime::KindOptions options;
  options.group = "example.com";
  options.kind = "Thing";
  options.plural = "things";
  options.versions = {
      {.version = "v1",
       .schema = StructBuilder("v1.Thing")
                     .Field("metadata", runtime::ObjectMetaSchema(), {.proto_number = 1})
                     .Field("size", runtime::IntegerSchema(32), {.proto_number = 2})
                     .Build()},
      {.version = "v1alpha1",
       .schema = StructBuilder("v1alpha1.Thing")
                     .Field("metadata", runtime::ObjectMetaSchema(), {.proto_number = 1})
                     .Field("size", runtime::IntegerSchema(32))
                     .Build()},
      {.version = "v1beta1",
       .schema = StructBuilder("v1beta1.Thing")
                     .Field("metadata", runtime::ObjectMetaSchema(), {.proto_number = 3})
                     .Field("size", runtime::IntegerSchema(32), {.proto_number = 1})
                     .Build()}};
  return runtime::Kind::New(std::move(options)).value();
}

runtime::ObjectPtr Thing(const std::string& name, const std::string& revision, int size) {
  auto object = std::make_unique<runtime::Object>(ThingKind(), "v1");
  object->Edit("metadata", "name") = name;
  object->Edit("metadata", "resourceVersion") = revision;
  object->Edit("size") = size;
  return object;
}

TEST_CASE("codec: a version without field numbers has no protobuf form", "[codec]") {
  const runtime::KindPtr kind = ThingKind();
  CHECK(HasProtobuf(*kind, "v1"));
  CHECK_FALSE(HasProtobuf(*kind, "v1alpha1"));
  CHECK_FALSE(HasProtobuf(*kind, "v1beta1"));
  CHECK_FALSE(HasProtobuf(*kind, "v2"));

  const Status status =
      EncodeProtobuf(Context::Background(), *Thing("a", "1", 1), "v1alpha1").status();

  CHECK(status.reason() == Reason::kNotAcceptable);
  CHECK(status.message() ==
        "object *v1alpha1.Thing does not implement the protobuf marshalling interface and cannot "
        "be encoded to a protobuf message");
}

TEST_CASE("codec: a protobuf body tells where metadata and the revision stand", "[codec]") {
  const runtime::ObjectPtr thing = Thing("a", "4711", 3);

  const runtime::EncodingPtr encoding =
      EncodingOf(Context::Background(), *thing, "v1", Format::kProtobuf).value();

  CHECK(encoding->ToString().substr(encoding->marks().rv_begin,
                                    encoding->marks().rv_end - encoding->marks().rv_begin) ==
        "4711");
  CHECK(encoding->marks().metadata_begin == 2);
  CHECK(encoding->ToString().substr(encoding->marks().metadata_end) == "\x10\x03");
}

TEST_CASE("codec: lists are protobuf with typed items", "[codec]") {
  runtime::List list;
  list.items = {Thing("a", "1", 1), Thing("b", "2", 2)};
  list.resource_version = "9";
  list.continue_token = "next";
  list.remaining_item_count = 5;

  const std::string bytes =
      EncodeListProtobuf(Context::Background(), list, *ThingKind(), "v1").value();

  const ProtobufEnvelope envelope = OpenProtobufEnvelope(bytes).value();
  CHECK(envelope.kind == "ThingList");
  CHECK(envelope.api_version == "example.com/v1");
  const SchemaPtr schema =
      StructBuilder("ThingList")
          .Field("metadata", runtime::ListMetaSchema(), {.proto_number = 1})
          .Field("items", runtime::ListOf(ThingKind()->FindVersion("v1")->schema),
                 {.proto_number = 2})
          .Build();
  Arena arena;
  const Value value = DecodeMessage(envelope.raw, *schema, arena).value();
  CHECK(value["metadata"]["resourceVersion"].AsString() == "9");
  CHECK(value["metadata"]["continue"].AsString() == "next");
  CHECK(value["metadata"]["remainingItemCount"].AsInt() == 5);
  REQUIRE(value["items"].size() == 2);
  CHECK(value["items"].at(1)["metadata"]["name"].AsString() == "b");
  CHECK(value["items"].at(1)["size"].AsInt() == 2);
}

TEST_CASE("codec: PartialObjectMetadata lists swap their numbers in v1beta1", "[codec]") {
  runtime::List list;
  list.items = {Thing("a", "1", 1)};
  list.resource_version = "9";
  const auto first_number = [&](std::string_view version) {
    const std::string bytes = EncodePartialObjectMetadataListProtobuf(list, version).value();
    const ProtobufEnvelope envelope = OpenProtobufEnvelope(bytes).value();
    CHECK(envelope.kind == "PartialObjectMetadataList");
    CHECK(envelope.api_version == "meta.k8s.io/" + std::string(version));
    wire::Reader reader(envelope.raw);
    const wire::Token first = reader.Next().value();
    const wire::Token second = reader.Next().value();
    CHECK(first.number == 1);
    CHECK(second.number == 2);
    return first.bytes.find('9') == std::string_view::npos ? "items" : "metadata";
  };
  CHECK(first_number("v1") == std::string("metadata"));
  CHECK(first_number("v1beta1") == std::string("items"));
}

// The event of a frame and the object in it.
Value OpenEvent(const std::string& frame, Arena& arena, ProtobufEnvelope& object) {
  const std::size_t length =
      static_cast<unsigned char>(frame[2]) * 256U + static_cast<unsigned char>(frame[3]);
  REQUIRE(frame.size() == 4 + length);
  wire::Reader reader(std::string_view(frame).substr(4));
  const wire::Token type = reader.Next().value();
  const wire::Token raw = reader.Next().value();
  wire::Reader inner(raw.bytes);
  object = OpenProtobufEnvelope(inner.Next().value().bytes).value();
  return Value::String(arena.Copy(type.bytes));
}

TEST_CASE("codec: a deleted object is sent with the revision of its deletion", "[codec]") {
  const runtime::ObjectPtr thing = Thing("a", "4711", 3);
  std::string frame;

  REQUIRE(AppendWatchEventProtobuf(
              Context::Background(),
              {.type = watch::EventType::kDeleted, .object = thing, .resource_version = "1000000"},
              {.kind = thing->kind(), .version = "v1"}, frame)
              .ok());

  Arena arena;
  ProtobufEnvelope envelope;
  CHECK(OpenEvent(frame, arena, envelope).AsString() == "DELETED");
  const Value object =
      DecodeMessage(envelope.raw, *thing->kind().FindVersion("v1")->schema, arena).value();
  CHECK(object["metadata"]["resourceVersion"].AsString() == "1000000");
  CHECK(object["metadata"]["name"].AsString() == "a");
  CHECK(object["size"].AsInt() == 3);
}

TEST_CASE("codec: bookmarks and errors are watch events too", "[codec]") {
  // Decoded values refer to the names of its schemas.
  const auto kind = ThingKind();
  Arena arena;
  ProtobufEnvelope envelope;
  std::string frame;
  REQUIRE(AppendWatchEventProtobuf(Context::Background(),
                                   {.type = watch::EventType::kBookmark,
                                    .resource_version = "12",
                                    .initial_events_end = true},
                                   {.kind = *kind, .version = "v1"}, frame)
              .ok());
  CHECK(OpenEvent(frame, arena, envelope).AsString() == "BOOKMARK");
  CHECK(envelope.kind == "Thing");
  const Value bookmark =
      DecodeMessage(envelope.raw, *kind->FindVersion("v1")->schema, arena).value();
  CHECK(bookmark["metadata"]["resourceVersion"].AsString() == "12");
  CHECK(bookmark["metadata"]["annotations"]["k8s.io/initial-events-end"].AsString() == "true");

  std::string failed;
  REQUIRE(AppendWatchEventProtobuf(
              Context::Background(),
              {.type = watch::EventType::kError, .error = meta::NewResourceExpired("too old")},
              {.kind = *kind, .version = "v1", .meta_version = "v1"}, failed)
              .ok());
  CHECK(OpenEvent(failed, arena, envelope).AsString() == "ERROR");
  CHECK(envelope.kind == "Status");
  const Value status = DecodeMessage(envelope.raw, *MetaMessageSchema("Status"), arena).value();
  CHECK(status["code"].AsInt() == 410);
  CHECK(status["reason"].AsString() == "Expired");
}

TEST_CASE("codec: a Status whose texts are no UTF-8 is valid protobuf", "[codec]") {
  StatusDetails details{.name = "a\xff", .group = {}, .kind = {}, .uid = {}, .causes = {}};
  details.causes.push_back({"", "b\x8d", "c"});
  const Status status = Status(Reason::kBadRequest, "in {\"k\x8d").WithDetails(details);

  runtime::Arena arena;
  const auto bytes = std::make_shared<const std::string>(EncodeStatusProtobuf(status));
  const ProtobufEnvelope envelope = OpenProtobufEnvelope(*bytes).value();
  const Value read = DecodeMessage(envelope.raw, *MetaMessageSchema("Status"), arena).value();

  CHECK(read["message"].AsString() == "in {\"k\xEF\xBF\xBD");
  CHECK(read["details"]["name"].AsString() == "a\xEF\xBF\xBD");
  CHECK(read["details"]["causes"].at(0)["message"].AsString() == "b\xEF\xBF\xBD");
  CHECK(read["code"].AsInt() == 400);
}

TEST_CASE("codec: DeleteOptions of any group version are read from protobuf", "[codec]") {
  std::string message;
  wire::PutInt(1, 30, message);
  wire::PutBytes(4, "Foreground", message);
  const auto body =
      std::make_shared<const std::string>(Envelope("apps/v1", "DeleteOptions", message));

  const Result<DecodedBody> decoded = DecodeDeleteOptionsProtobuf(body);

  REQUIRE(decoded.ok());
  CHECK(decoded->root["gracePeriodSeconds"].AsInt() == 30);
  CHECK(decoded->root["propagationPolicy"].AsString() == "Foreground");
  const auto other = std::make_shared<const std::string>(Envelope("v1", "Pod", ""));
  CHECK(DecodeDeleteOptionsProtobuf(other).status().message() ==
        "no kind \"Pod\" is registered for version \"v1\"");
}

}  // namespace
}  // namespace apiserver::inline v0::codec
