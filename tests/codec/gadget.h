#pragma once

#include <string>

#include "apiserver/codec/codec.h"
#include "apiserver/codec/proto_schema.h"
#include "gadget_api.h"

// The kind of tests/codec/proto/example/gadget/v1/gadget.proto.
namespace apiserver::inline v0::codec::testing {

inline runtime::KindPtr GadgetKind() {
  const ProtoSchemas schemas = ProtoSchemas::Load(gadget_api::Descriptors()).value();
  runtime::KindOptions options;
  options.group = "gadget.example.com";
  options.kind = "Gadget";
  options.plural = "gadgets";
  options.versions = {
      {.version = "v1", .schema = schemas.Find("example.gadget.v1.Gadget").value()}};
  return runtime::Kind::New(std::move(options)).value();
}

// Decoded as a server does a body.
inline Result<DecodedObject> DecodeGadget(MediaType type, std::string body) {
  return DecodeObject(type, std::make_shared<const std::string>(std::move(body)),
                      {.kind = GadgetKind(), .version = "v1"});
}

}  // namespace apiserver::inline v0::codec::testing
