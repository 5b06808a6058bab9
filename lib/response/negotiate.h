#pragma once  // Library-internal: other rooms include this header.

#include <cstdint>
#include <string>

#include "apiserver/codec/codec.h"
#include "apiserver/http/exchange.h"
#include "apiserver/meta/table.h"
#include "apiserver/response/response.h"

namespace apiserver::inline v0::response {

// The form of an object or list that the client asks for.
enum class Shape : std::uint8_t {
  kObject,
  kPartialObjectMetadata,
  kPartialObjectMetadataList,
  kTable,
};

struct Negotiated {
  codec::MediaType type = codec::MediaType::kJson;
  Shape shape = Shape::kObject;
  std::string meta_version = "v1";  // The version of meta.k8s.io, for all shapes but kObject.
  bool pretty = false;
};

// Returns the first clause of the Accept header that can be served. Null `target`: shapes are not
// acceptable. kNotAcceptable: there is none.
Result<Negotiated> Negotiate(const http::Exchange& exchange, const Target* target, bool watch);

// Writes an object as WriteObject() does, in the form that was negotiated before.
http::Step WriteNegotiated(http::Exchange& exchange, int code, const runtime::ObjectPtr& object,
                           const Target& target, const Negotiated& negotiated);

// Returns includeObject of a Table request. kBadRequest: the value is unknown.
Result<meta::TableOptions> TableOptionsOf(http::Exchange& exchange);

}  // namespace apiserver::inline v0::response
