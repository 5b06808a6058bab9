// Kubernetes protobuf over HTTP, of a kind that is described by a .proto file.
#include <catch2/catch.hpp>

#include "apiserver/codec/protobuf.h"
#include "codec/gadget.h"
#include "codec/protobuf_message.h"
#include "codec/protobuf_wire.h"
#include "media_types.h"
#include "widget_server.h"

namespace codec = apiserver::codec;
namespace runtime = apiserver::runtime;
namespace wire = apiserver::codec::wire;
using apiserver::Context;
using apiserver::testing::Contains;
using apiserver::testing::kProtobuf;
using apiserver::testing::kWidgets;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::TestServer;

namespace {

constexpr char kGadgets[] = "/apis/gadget.example.com/v1/namespaces/default/gadgets";
const apiserver::http::Headers kSends{{"Content-Type", kProtobuf}};
const apiserver::http::Headers kAccepts{{"Accept", kProtobuf}};
const apiserver::http::Headers kBoth{{"Content-Type", kProtobuf}, {"Accept", kProtobuf}};

class GadgetStrategy final : public apiserver::rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  apiserver::field::ErrorList Validate(const Context&, const runtime::Object&) const override {
    return {};
  }
};

std::unique_ptr<TestServer> StartGadgetServer() {
  apiserver::testing::TestServerOptions options;
  options.resources = {{codec::testing::GadgetKind(), std::make_shared<GadgetStrategy>()}};
  return std::move(apiserver::testing::StartTestServer(std::move(options))).value();
}

// The enveloped gadget that `json` describes.
std::string Gadget(const std::string& json) {
  const auto decoded = codec::testing::DecodeGadget(codec::MediaType::kJson, json);
  REQUIRE(decoded.ok());
  return codec::EncodeProtobuf(Context::Background(), *decoded->object, "v1").value();
}

// Of an enveloped answer of this kind.
std::string Raw(const std::string& body, const std::string& kind) {
  const auto envelope = codec::OpenProtobufEnvelope(body);
  INFO(body);
  REQUIRE(envelope.ok());
  CHECK(envelope->kind == kind);
  return std::string(envelope->raw);
}

std::string SpecOf(const std::string& raw) {
  runtime::Arena arena;
  const auto schema = codec::testing::GadgetKind()->FindVersion("v1")->schema;
  const auto object = codec::DecodeMessage(raw, *schema, arena);
  REQUIRE(object.ok());
  std::string json;
  codec::AppendJson((*object)["metadata"]["name"], json);
  codec::AppendJson((*object)["spec"]["tags"], json);
  return json;
}

}  // namespace

TEST_CASE("endpoints: objects are created, read, replaced and listed as protobuf", "[endpoints]") {
  const auto server = StartGadgetServer();

  const auto created =
      server->Call("POST", kGadgets,
                   Gadget(R"({"metadata":{"name":"a"},"spec":{"name":"n","tags":["x"]}})"), kBoth);
  const auto read = server->Call("GET", std::string(kGadgets) + "/a", "", kAccepts);
  const auto json = server->Call("GET", std::string(kGadgets) + "/a");
  const auto replaced = server->Call(
      "PUT", std::string(kGadgets) + "/a",
      Gadget(R"({"metadata":{"name":"a"},"spec":{"name":"n","tags":["y","z"]}})"), kBoth);
  const auto list = server->Call("GET", kGadgets, "", kAccepts);

  CHECK(created.code == 201);
  CHECK(created.headers.Get("Content-Type") == kProtobuf);
  CHECK(SpecOf(Raw(created.body, "Gadget")) == R"("a"["x"])");
  CHECK(read.body == created.body);
  CHECK(Contains(json.body, R"("spec":{"name":"n","replicas":1,"alwaysBlob":null)"));
  CHECK(replaced.code == 200);
  CHECK(SpecOf(Raw(replaced.body, "Gadget")) == R"("a"["y","z"])");
  const std::string raw = Raw(list.body, "GadgetList");
  std::vector<std::string> items;
  REQUIRE(wire::ForEachField(raw, "", [&](const wire::Token& token) {
            if (token.number == 2) items.emplace_back(token.bytes);
            return apiserver::Status();
          }).ok());
  CHECK(items == std::vector<std::string>{Raw(replaced.body, "Gadget")});
}

TEST_CASE("endpoints: the three media types say the same of an object", "[endpoints]") {
  const auto server = StartGadgetServer();
  const std::string a = std::string(kGadgets) + "/a";
  const auto created = server->Call(
      "POST", kGadgets,
      R"({"metadata":{"name":"a"},"spec":{"name":"n","enabled":false,"port":"http"}})");
  REQUIRE(created.code == 201);

  const auto protobuf = server->Call("GET", a, "", kAccepts);
  const auto yaml = server->Call("GET", a, "", {{"Accept", "application/yaml"}});
  const auto again = server->Call("PUT", a, protobuf.body, kSends);
  const auto and_again = server->Call("PUT", a, yaml.body, {{"Content-Type", "application/yaml"}});

  CHECK(again.code == 200);
  CHECK(again.body == created.body);
  CHECK(and_again.body == created.body);
}

TEST_CASE("endpoints: unknown protobuf fields are passed by, strictly too", "[endpoints]") {
  const auto server = StartGadgetServer();
  std::string message(Raw(Gadget(R"({"metadata":{"name":"a"}})"), "Gadget"));
  wire::PutBytes(999, "new", message);

  const auto answer =
      server->Call("POST", std::string(kGadgets) + "?fieldValidation=Strict",
                   codec::Envelope("gadget.example.com/v1", "Gadget", message), kSends);

  CHECK(answer.code == 201);
  CHECK_FALSE(answer.headers.Has("Warning"));
}

TEST_CASE("endpoints: bad protobuf bodies are refused and nothing is stored", "[endpoints]") {
  const auto server = StartGadgetServer();
  const std::string good(Raw(Gadget(R"({"metadata":{"name":"a"}})"), "Gadget"));
  const auto enveloped = [](const std::string& raw) {
    return codec::Envelope("gadget.example.com/v1", "Gadget", raw);
  };
  std::string groups = good;
  for (int i = 0; i < 500'000; ++i) wire::PutTag(900, wire::Type::kStartGroup, groups);
  std::string bomb = good;
  std::string ports;
  for (int i = 0; i < 400'000; ++i) wire::PutBytes(14, "", ports);
  wire::PutBytes(2, ports, bomb);
  const struct {
    std::string body;
    const char* text;
  } rows[] = {
      {"{}",
       "the object provided is unrecognized (must be of type Gadget): provided data does not "
       "appear to be a protobuf message, expected prefix [107 56 115 0] ({})"},
      {std::string("k8s\0", 4),
       "the object provided is unrecognized (must be of type Gadget): empty body (6b387300)"},
      {enveloped(good).substr(0, 40), "(must be of type Gadget): unexpected EOF (6b387300"},
      {codec::Envelope("v1", "Pod", good),
       R"(Pod in version \"v1\" cannot be handled as a Gadget: no kind \"Pod\" is registered)"},
      {enveloped(good + "\x10\x01"),
       R"(Gadget in version \"v1\" cannot be handled as a Gadget: proto: wrong wireType = 0 for )"
       R"(field Spec)"},
      {enveloped(good + "\x12\x05"),
       R"(Gadget in version \"v1\" cannot be handled as a Gadget: unexpected EOF)"},
      {enveloped(good + "\x0c"),
       R"(cannot be handled as a Gadget: proto: Gadget: wiretype end group for non-group)"},
      {enveloped(good + "\x12\x06\xca\x01\x03\x0a\x01x"),
       R"(cannot be handled as a Gadget: quantities must match the regular expression)"},
      {enveloped(groups), R"(cannot be handled as a Gadget: unexpected EOF)"},
      {enveloped(bomb),
       R"(cannot be handled as a Gadget: the message takes too much memory for its length)"},
  };
  for (const auto& row : rows) {
    INFO(row.text);
    const auto answer = server->Call("POST", kGadgets, row.body, kSends);
    CHECK(answer.code == 400);
    INFO(answer.body.substr(0, 600));
    CHECK(Contains(answer.body, row.text));
  }
  CHECK(Contains(server->Call("GET", kGadgets).body, R"("items":[])"));
}

TEST_CASE("endpoints: a kind without field numbers is JSON where that is accepted, else 406",
          "[endpoints]") {
  const auto server = StartWidgetServer();
  const std::string a = std::string(kWidgets) + "/a";
  REQUIRE(server->Call("POST", kWidgets, apiserver::testing::Widget("a", 1)).code == 201);

  const auto falls_back = server->Call(
      "GET", a, "", {{"Accept", "application/vnd.kubernetes.protobuf,application/json"}});
  const auto refused = server->Call("GET", a, "", kAccepts);
  const auto body =
      server->Call("POST", kWidgets, codec::Envelope("example.com/v1", "Widget", ""), kSends);

  CHECK(falls_back.code == 200);
  CHECK(falls_back.headers.Get("Content-Type") == "application/json");
  CHECK(refused.code == 406);
  CHECK(Contains(refused.body,
                 "object *v1.Widget does not implement the protobuf marshalling interface and "
                 "cannot be encoded to a protobuf message"));
  CHECK(Contains(refused.body, "NotAcceptable"));
  CHECK(body.code == 400);
  CHECK(
      Contains(body.body,
               R"(Widget in version \"v1\" cannot be handled as a Widget: object *v1.Widget does )"
               "not implement the protobuf marshalling interface and cannot be encoded to a "
               "protobuf message"));
}

TEST_CASE("endpoints: a watch sends frames of protobuf", "[endpoints]") {
  const auto server = StartGadgetServer();
  const std::string gadget = Gadget(R"({"metadata":{"name":"a"},"spec":{"tags":["x"]}})");
  const auto created = server->Call("POST", kGadgets, gadget, kBoth);
  const auto connection = server->server().LoopbackConnection();
  const auto context = Context::Child(Context::Background(),
                                      apiserver::RealClock().Now() + std::chrono::seconds(60));
  apiserver::http::ClientRequest request{.target = std::string(kGadgets) +
                                                   "?watch=true&resourceVersion=0"};
  request.headers.Add("Accept", "application/vnd.kubernetes.protobuf;stream=watch");
  const auto stream = std::move(connection->Open(request)).value();
  const auto head = stream->Head(context).value();
  CHECK(head.headers.Get("Content-Type") == "application/vnd.kubernetes.protobuf;stream=watch");

  std::string bytes;
  const auto frame = [&] {
    const auto has = [&](std::size_t size) {
      while (bytes.size() < size) {
        const auto more = stream->Read(context);
        REQUIRE(more.ok());
        bytes += *more;
      }
    };
    has(4);
    std::size_t size = 0;
    for (int i = 0; i < 4; ++i) size = size * 256 + static_cast<unsigned char>(bytes[i]);
    has(4 + size);
    std::string event = bytes.substr(4, size);
    bytes.erase(0, 4 + size);
    return event;
  };
  const auto object_of = [](const std::string& event, const std::string& type) {
    runtime::Arena arena;
    std::string object;
    REQUIRE(wire::ForEachField(event, "", [&](const wire::Token& token) {
              if (token.number == 1) CHECK(token.bytes == type);
              if (token.number != 2) return apiserver::Status();
              return wire::ForEachField(token.bytes, "", [&](const wire::Token& raw) {
                object = raw.bytes;
                return apiserver::Status();
              });
            }).ok());
    return object;
  };

  CHECK(object_of(frame(), "ADDED") == created.body);
  const auto deleted = server->Call("DELETE", std::string(kGadgets) + "/a");
  CHECK(deleted.code == 200);
  CHECK(SpecOf(Raw(object_of(frame(), "DELETED"), "Gadget")) == R"("a"["x"])");
}
