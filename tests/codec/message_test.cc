#include "apiserver/codec/message.h"

#include <catch2/catch.hpp>

#include "codec/gadget.h"
#include "codec/text.h"
#include "example/gadget/v1/gadget.pb.h"

namespace apiserver::inline v0::codec {
namespace {

using testing::DecodeGadget;
using Message = ::example::gadget::v1::Gadget;

std::unique_ptr<runtime::Object> Decoded(const std::string& json) {
  return std::move(DecodeGadget(MediaType::kJson, json).value().object);
}

TEST_CASE("codec: an object becomes a message of the host's class and comes back", "[codec]") {
  const auto object =
      Decoded(R"({"metadata":{"name":"a","labels":{"k":"v"}},"spec":{"name":"n","enabled":false,)"
              R"("ports":[{"port":1}],"port":"http","url":"u"}})");

  Result<Message> message = ToMessage<Message>(*object);

  REQUIRE(message.ok());
  CHECK(message->metadata().name() == "a");
  CHECK(message->metadata().labels().at("k") == "v");
  CHECK(message->spec().replicas() == 1);
  CHECK(message->spec().has_enabled());
  CHECK_FALSE(message->spec().has_ratio());
  CHECK(message->spec().ports(0).protocol() == "TCP");
  CHECK(message->spec().port().strval() == "http");
  CHECK(message->spec().source().url() == "u");

  message->mutable_spec()->set_replicas(3);
  message->mutable_spec()->clear_port();
  message->mutable_spec()->add_ports()->set_port(2);
  message->mutable_status()->set_ready(2);
  REQUIRE(FromMessage(*message, *object).ok());

  CHECK((*object)["spec"]["replicas"].AsInt() == 3);
  CHECK((*object)["spec"]["port"].is_null());
  CHECK(testing::Json((*object)["spec"]["ports"]) == R"([{"port":1,"protocol":"TCP"},{"port":2}])");
  CHECK((*object)["status"]["ready"].AsInt() == 2);
  CHECK((*object)["spec"]["url"].AsString() == "u");
  CHECK((*object)["metadata"]["name"].AsString() == "a");
}

TEST_CASE("codec: a message sees what was edited and is not yet canonical", "[codec]") {
  const auto object = Decoded(R"({"metadata":{"name":"a"}})");
  object->Edit("spec", "size") = "1024Ki";
  object->Edit("spec", "nickname") = runtime::Value();

  CHECK(ToMessage<Message>(*object).value().spec().size().string() == "1Mi");
}

TEST_CASE("codec: what is no message of the kind leaves the object as it is", "[codec]") {
  const auto object = Decoded(R"({"metadata":{"name":"a"},"spec":{"name":"n"}})");
  Message message;
  message.mutable_spec()->mutable_size()->set_string("much");

  const Status unfit = FromMessage(message, *object);
  const Status malformed = FromMessageBytes("\x12\x05", *object);

  CHECK(unfit.reason() == Reason::kBadRequest);
  CHECK(malformed.reason() == Reason::kBadRequest);
  CHECK((*object)["spec"]["name"].AsString() == "n");
}

TEST_CASE("codec: a kind without field numbers has no messages", "[codec]") {
  runtime::KindOptions options;
  options.group = "example.com";
  options.kind = "Thing";
  options.plural = "things";
  options.versions = {
      {.version = "v1",
       .schema =
           runtime::StructBuilder("Thing").Field("metadata", runtime::ObjectMetaSchema()).Build()}};
  runtime::Object object(runtime::Kind::New(std::move(options)).value(), "v1");

  CHECK(ToMessage<Message>(object).status().reason() == Reason::kNotAcceptable);
  CHECK(FromMessage(Message(), object).reason() == Reason::kNotAcceptable);
}

}  // namespace
}  // namespace apiserver::inline v0::codec
