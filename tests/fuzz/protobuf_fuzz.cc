#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "apiserver/codec/json.h"
#include "apiserver/codec/protobuf.h"
#include "codec/gadget.h"
#include "codec/protobuf_message.h"
#include "require.h"

// Protobuf: what decodes can be written as JSON, and encodes to something that decodes to the same.
namespace {

namespace codec = apiserver::codec;
namespace runtime = apiserver::runtime;
using apiserver_fuzz::Require;

void TryMessage(std::string_view bytes, const runtime::Schema& schema) {
  runtime::Arena arena;
  const auto value = codec::DecodeMessage(bytes, schema, arena);
  if (!value.ok()) {
    Require(value.status().reason() == apiserver::Reason::kBadRequest);
    return;
  }
  std::string json;
  codec::AppendJson(*value, json);
  Require(codec::ParseJson(json, arena).ok());
  std::string message;
  Require(codec::AppendMessage(*value, schema, message).ok());
  Require(codec::DecodeMessage(message, schema, arena).ok());
}

std::string JsonOf(const runtime::Object& object) {
  const auto encoding =
      codec::EncodingOf(apiserver::Context::Background(), object, "v1", runtime::Format::kJson);
  Require(encoding.ok());
  return (*encoding)->ToString();
}

// The body of a request: what is made of it is the same after it was written and read once more.
void TryObject(std::shared_ptr<const std::string> body) {
  static const runtime::KindPtr kind = codec::testing::GadgetKind();
  const codec::DecodeOptions options{.kind = kind, .version = "v1"};
  const auto first = codec::DecodeObject(codec::MediaType::kProtobuf, std::move(body), options);
  if (!first.ok()) {
    Require(first.status().reason() == apiserver::Reason::kBadRequest);
    return;
  }
  auto written = codec::EncodeProtobuf(apiserver::Context::Background(), *first->object, "v1");
  Require(written.ok());
  const auto again =
      codec::DecodeObject(codec::MediaType::kProtobuf,
                          std::make_shared<const std::string>(std::move(*written)), options);
  Require(again.ok());
  Require(JsonOf(*again->object) == JsonOf(*first->object));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto body = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
  (void)codec::DecodeBody(codec::MediaType::kProtobuf, body);
  (void)codec::DecodeDeleteOptionsProtobuf(body);
  std::string_view raw = *body;
  if (const auto envelope = codec::OpenProtobufEnvelope(*body); envelope.ok()) raw = envelope->raw;
  TryObject(body);
  TryObject(
      std::make_shared<const std::string>(codec::Envelope("gadget.example.com/v1", "Gadget", raw)));
  TryMessage(raw, *codec::MetaMessageSchema("Status"));
  TryMessage(raw, *codec::MetaMessageSchema("DeleteOptions"));
  TryMessage(raw, *runtime::ObjectMetaSchema());
  return 0;
}
