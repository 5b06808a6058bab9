#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/codec.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/groups/authorization.h"
#include "apiserver/groups/core.h"
#include "require.h"

// Bodies of a Pod, of an Event (times), of a Secret (bytes) and of a review (lists in a map): what
// decodes can be encoded, and once it has been through an encoding it stays as it is.
namespace {

namespace codec = apiserver::codec;
namespace runtime = apiserver::runtime;
using Body = std::shared_ptr<const std::string>;
using apiserver_fuzz::Require;

std::vector<runtime::KindPtr> Kinds() {
  std::vector<runtime::KindPtr> kinds = apiserver::groups::core::Kinds().value();
  const auto reviews = apiserver::groups::authorization::Kinds().value();
  kinds.insert(kinds.end(), reviews.begin(), reviews.end());
  return kinds;
}

// Null: refused.
std::unique_ptr<runtime::Object> Decode(codec::MediaType type, Body body,
                                        const runtime::KindPtr& kind) {
  auto decoded = codec::DecodeObject(type, std::move(body), {.kind = kind, .version = "v1"});
  if (decoded.ok()) return std::move(decoded->object);
  Require(decoded.status().reason() == apiserver::Reason::kBadRequest);
  return nullptr;
}

Body Encode(codec::MediaType type, const runtime::Object& object) {
  if (type == codec::MediaType::kProtobuf) {
    return std::make_shared<const std::string>(
        codec::EncodeProtobuf(apiserver::Context::Background(), object, "v1").value());
  }
  const auto body =
      codec::EncodingOf(apiserver::Context::Background(), object, "v1", runtime::Format::kJson)
          .value();
  return std::make_shared<const std::string>(std::string(object.kind().JsonPrefix("v1")) +
                                             body->ToString());
}

void Try(codec::MediaType type, const Body& body, const runtime::KindPtr& kind) {
  const auto object = Decode(type, body, kind);
  if (!object) return;
  for (const auto through : {codec::MediaType::kJson, codec::MediaType::kProtobuf}) {
    const auto once = Decode(through, Encode(through, *object), kind);
    Require(once != nullptr);
    const Body first = Encode(through, *once);
    const auto twice = Decode(through, first, kind);
    Require(twice != nullptr);
    Require(*Encode(through, *twice) == *first);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<runtime::KindPtr> kinds = Kinds();
  const Body body = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
  const auto type =
      body->starts_with("k8s") ? codec::MediaType::kProtobuf : codec::MediaType::kJson;
  for (const runtime::KindPtr& kind : kinds) Try(type, body, kind);
  return 0;
}
