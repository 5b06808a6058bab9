#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <catch2/catch.hpp>
#include <random>

#include "apiserver/codec/protobuf.h"
#include "codec/gadget.h"
#include "codec/protobuf_message.h"
#include "codec/protobuf_wire.h"
#include "codec/text.h"

// What we write is read by protobuf's own library, and the other way round.
namespace apiserver::inline v0::codec {
namespace {

namespace pb = google::protobuf;

using runtime::Arena;
using runtime::Field;
using runtime::Schema;
using runtime::SchemaType;
using runtime::Value;
using testing::DecodeGadget;
using testing::Json;

// Messages of the gadget's descriptors, without generated classes.
class Peer {
 public:
  Peer() {
    pb::FileDescriptorSet set;
    REQUIRE(set.ParseFromString(std::string(gadget_api::Descriptors())));
    for (const pb::FileDescriptorProto& file : set.file())
      REQUIRE(pool_.BuildFile(file) != nullptr);
  }

  std::unique_ptr<pb::Message> New() {
    const pb::Descriptor* type = pool_.FindMessageTypeByName("example.gadget.v1.Gadget");
    REQUIRE(type != nullptr);
    return std::unique_ptr<pb::Message>(factory_.GetPrototype(type)->New());
  }

 private:
  pb::DescriptorPool pool_;
  pb::DynamicMessageFactory factory_{&pool_};
};

// Maps in the order of their keys.
std::string Serialize(const pb::Message& message) {
  std::string bytes;
  pb::io::StringOutputStream stream(&bytes);
  pb::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  REQUIRE(message.SerializePartialToCodedStream(&coded));
  coded.Trim();
  return bytes;
}

std::string Text(const pb::Message& message) {
  std::string text;
  pb::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  printer.PrintToString(message, &text);
  return text;
}

std::string Body(const runtime::Object& object) {
  return EncodingOf(Context::Background(), object, "v1", runtime::Format::kProtobuf)
      .value()
      ->ToString();
}
std::string JsonOf(const runtime::Object& object) {
  return EncodingOf(Context::Background(), object, "v1", runtime::Format::kJson)
      .value()
      ->ToString();
}

// What protobuf's library makes of the message that `json` is written as.
std::string PeerText(const std::string& json) {
  const Result<DecodedObject> decoded = DecodeGadget(MediaType::kJson, json);
  INFO(decoded.status().ToString());
  REQUIRE(decoded.ok());
  Peer peer;
  const std::unique_ptr<pb::Message> message = peer.New();
  REQUIRE(message->ParseFromString(Body(*decoded->object)));
  return Text(*message);
}

TEST_CASE("codec: an empty object has every value and no pointer, as gogo writes it", "[codec]") {
  const std::string metadata =
      R"(metadata { name: "" generateName: "" namespace: "" selfLink: "" uid: "" )"
      R"(resourceVersion: "" generation: 0 creationTimestamp { } } )";
  const std::string status = "status { ready: 0 started { } } ";
  const std::string spec =
      R"(spec { source { url: "" } nickname: "" replicas: 1 big: 0 paused: false name: "" )"
      R"(strategy { type: "" } whenZero { type: "" } size { string: "0" } parameters { } )"
      R"(first: "" } )";
  CHECK(PeerText("{}") == metadata + spec + status);
  CHECK(PeerText(R"({"metadata":null,"spec":null,"status":null})") == metadata + spec + status);
}

TEST_CASE("codec: pointers tell zero from absent, slices do not", "[codec]") {
  const auto spec = [](const std::string& members) {
    const std::string text = PeerText(R"({"spec":{)" + members + "}}");
    const std::size_t begin = text.find("spec { ");
    return text.substr(begin, text.find(" } status { ") - begin);
  };
  CHECK(spec(R"("replicas":0)").find("replicas: 0 ") != std::string::npos);
  CHECK(spec(R"("enabled":false,"ratio":0)").find("enabled: false ratio: 0 ") != std::string::npos);
  CHECK(spec(R"("color":"")").find("color: \"\"") != std::string::npos);
  CHECK(spec(R"("color":null)").find("color") == std::string::npos);
  CHECK(spec(R"("fallback":{})").find("fallback { type: \"\" }") != std::string::npos);
  CHECK(spec(R"("port":0)").find("port { type: 0 intVal: 0 strVal: \"\" }") != std::string::npos);
  CHECK(spec(R"("port":"")").find("port { type: 1 intVal: 0 strVal: \"\" }") != std::string::npos);
  CHECK(spec(R"("period":"0s")").find("period { duration: 0 }") != std::string::npos);
  CHECK(spec(R"("selector":{})").find("selector { }") != std::string::npos);
  CHECK(spec(R"("deletion":{"kind":"X","apiVersion":"v1"})").find("deletion { }") !=
        std::string::npos);
  CHECK(spec(R"("alwaysBlob":"")").find("alwaysBlob: \"\"") != std::string::npos);
  CHECK(spec(R"("alwaysBlob":null)").find("alwaysBlob") == std::string::npos);
  CHECK(spec(R"("tags":[],"labels":{},"numbers":[])") == spec(""));
  CHECK(spec(R"("extra":{"a":["x"],"b":[],"c":null})")
            .find(R"(extra { key: "a" value { items: "x" } } extra { key: "b" value { } } )"
                  R"(extra { key: "c" value { } })") != std::string::npos);
  CHECK(spec(R"("mode":"m")").find(R"(mode { mode: "m" })") != std::string::npos);
  CHECK(spec(R"("url":"u","disk":{})").find(R"(source { url: "u" disk { type: "" } })") !=
        std::string::npos);
}

TEST_CASE("codec: lists of numbers are written unpacked, in their order", "[codec]") {
  const Result<DecodedObject> decoded = DecodeGadget(
      MediaType::kJson, R"({"spec":{"numbers":[3,1,-1],"weights":[0.5],"flags":[true,false]}})");
  const std::string body = Body(*decoded->object);
  CHECK(body.find("\x68\x03\x68\x01\x68\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01") !=
        std::string::npos);
  using namespace std::string_literals;
  CHECK(body.find("\xF9\x01\x00\x00\x00\x00\x00\x00\xE0\x3F\x80\x02\x01\x80\x02\x00"s) !=
        std::string::npos);
}

// Objects that fit a schema, from a seed.
class MessageGenerator {
 public:
  MessageGenerator(unsigned seed, Arena& arena) : random_(seed), arena_(arena) {}

  Value Make(const Schema& schema) {
    switch (schema.type) {
      case SchemaType::kStruct: {
        runtime::MapBuilder map(arena_);
        AddFields(schema, map);
        return map.Build();
      }
      case SchemaType::kMap: {
        runtime::MapBuilder map(arena_);
        for (int i = Roll(3); i >= 0; --i) {
          map.Add(arena_.Copy(std::string(Word()) + std::to_string(i)), Make(*schema.items()));
        }
        return map.Build();
      }
      case SchemaType::kList: {
        runtime::ListBuilder list(arena_);
        for (int i = Roll(3); i >= 0; --i) list.Add(Make(*schema.items()));
        return list.Build();
      }
      default:
        return Scalar(schema);
    }
  }

 private:
  int Roll(int sides) { return static_cast<int>(random_() % static_cast<unsigned>(sides)); }

  void AddFields(const Schema& schema, runtime::MapBuilder& map) {
    for (const Field& field : schema.fields()) {
      if (field.inlined) {
        AddFields(*field.schema, map);
      } else if (Roll(3) > 0 && field.proto_number != Field::kNotInProto) {
        map.Add(field.name(), Make(*field.schema));
      }
    }
  }

  std::string_view Word() {
    constexpr std::string_view kWords[] = {"",  "a",    "long enough to need no copy",
                                           "é", "日\n", "\\\""};
    return kWords[Roll(std::size(kWords))];
  }

  Value Scalar(const Schema& schema) {
    constexpr std::string_view kTimes[] = {"1970-01-01T00:00:00Z", "0001-01-01T00:00:01Z",
                                           "9999-12-31T23:59:59Z"};
    constexpr std::string_view kMicroTimes[] = {"2008-01-01T01:01:01.000001Z",
                                                "0001-01-01T00:00:00.999999Z"};
    constexpr std::string_view kDurations[] = {"0s", "1h2m3.000000004s", "-1ns"};
    constexpr std::string_view kQuantities[] = {"0", "100Mi", "250m", "-1500m"};
    const auto one_of = [&](std::span<const std::string_view> texts) {
      return Value::String(texts[static_cast<std::size_t>(Roll(static_cast<int>(texts.size())))]);
    };
    switch (schema.type) {
      case SchemaType::kBoolean:
        return Value::Bool(Roll(2) == 0);
      case SchemaType::kInteger: {
        const auto number = static_cast<std::int64_t>(random_() >> Roll(64));
        return Value::Int(schema.bits == 32 ? static_cast<std::int32_t>(number) : number);
      }
      case SchemaType::kNumber:
        return Value::Double((Roll(2'000'000) - 1'000'000) / 1024.0);
      case SchemaType::kBytes:
        return Value::Bytes(Word());
      case SchemaType::kTime:
        return one_of(kTimes);
      case SchemaType::kMicroTime:
        return one_of(kMicroTimes);
      case SchemaType::kDuration:
        return one_of(kDurations);
      case SchemaType::kQuantity:
        return one_of(kQuantities);
      case SchemaType::kIntOrString:
        return Roll(2) == 0 ? Value::String(Word()) : Value::Int(Roll(70'000) - 1);
      case SchemaType::kRaw:
        return Value::Raw(Roll(2) == 0 ? R"({"any":[1,null,"x"]})" : R"("text")");
      default:
        return Value::String(Word());
    }
  }

  std::mt19937_64 random_;
  Arena& arena_;
};

TEST_CASE("codec: what goes from JSON to protobuf and back is the same, to protobuf's library too",
          "[codec]") {
  const runtime::KindPtr kind = testing::GadgetKind();
  Peer peer;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Arena arena;
    const std::string json =
        Json(MessageGenerator(seed, arena).Make(*kind->FindVersion("v1")->schema));
    INFO("seed " << seed << ": " << json);
    const Result<DecodedObject> sent = DecodeGadget(MediaType::kJson, json);
    INFO(sent.status().ToString());
    REQUIRE(sent.ok());
    const std::string body = Body(*sent->object);
    const std::unique_ptr<pb::Message> message = peer.New();
    REQUIRE(message->ParseFromString(body));
    CHECK(Serialize(*message) == body);

    const Result<DecodedObject> back =
        DecodeGadget(MediaType::kProtobuf, Envelope("gadget.example.com/v1", "Gadget", body));
    INFO(back.status().ToString());
    REQUIRE(back.ok());
    CHECK(JsonOf(*back->object) == JsonOf(*sent->object));
    CHECK(Body(*back->object) == body);
  }
}

TEST_CASE("codec: fields in any order, in pieces and packed are read as protobuf's library does",
          "[codec]") {
  Peer peer;
  const std::string json =
      R"({"spec":{"name":"n","numbers":[1,2],"fallback":{"type":"t","rolling":{"maxSurge":1}}}})";
  const std::string body = Body(*DecodeGadget(MediaType::kJson, json)->object);
  std::string more;
  wire::Nested spec(2, more);
  wire::PutBytes(13, "\x03\x04", more);
  wire::Nested fallback(21, more);
  wire::PutBytes(1, "last", more);
  fallback.Close();
  wire::PutBytes(12, "other", more);
  spec.Close();
  std::string none;
  wire::Nested empty(2, none);
  wire::PutBytes(13, "", none);
  empty.Close();
  for (const std::string& bytes : {body + more, more + body, none, none + body, body + none}) {
    const std::unique_ptr<pb::Message> message = peer.New();
    REQUIRE(message->ParseFromString(bytes));
    const auto read = [](const std::string& raw) {
      return JsonOf(
          *DecodeGadget(MediaType::kProtobuf, Envelope("gadget.example.com/v1", "Gadget", raw))
               ->object);
    };
    CHECK(read(bytes) == read(Serialize(*message)));
  }
}

}  // namespace
}  // namespace apiserver::inline v0::codec
