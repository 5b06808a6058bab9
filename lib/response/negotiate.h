#pragma once

#include <cstdint>
#include <string>

#include "apiserver/codec/codec.h"
#include "apiserver/http/exchange.h"
#include "apiserver/meta/table.h"
#include "apiserver/response/response.h"

namespace apiserver::inline v0::response {

// What the client wants made of an object or list.
enum class Shape : std::uint8_t {
  kObject,
  kPartialObjectMetadata,
  kPartialObjectMetadataList,
  kTable,
};

struct Negotiated {
  codec::MediaType type = codec::MediaType::kJson;
  Shape shape = Shape::kObject;
  std::string meta_version = "v1";  // Of meta.k8s.io, for all shapes but kObject.
  bool pretty = false;
};

// The first clause of the Accept header that can be served. Null `target`: shapes are not
// acceptable. kNotAcceptable otherwise.
Result<Negotiated> Negotiate(const http::Exchange& exchange, const Target* target, bool watch);

// includeObject of a Table request. kBadRequest: an unknown word.
Result<meta::TableOptions> TableOptionsOf(http::Exchange& exchange);

}  // namespace apiserver::inline v0::response
