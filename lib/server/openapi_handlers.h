#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/http/exchange.h"
#include "apiserver/openapi/spec.h"

namespace apiserver::inline v0::server {

using OpenApiPtr = std::shared_ptr<const openapi::Document>;

// The document of v2: the part of installed resources, which is kept, and the fragments, whose
// texts are made while they are sent. Immutable.
class V2Document {
 public:
  V2Document(std::shared_ptr<const openapi::V2Base> base,
             std::vector<openapi::FragmentPtr> fragments);

  const std::string& etag() const { return etag_; }
  // Returns the document if it has no fragments. Null: it has.
  OpenApiPtr whole() const;
  // Returns the body that a client pulls, in the form it asked for. `exchange` must outlive it.
  std::unique_ptr<http::BodySource> NewBody(http::Exchange& exchange, bool protobuf) const;

 private:
  const std::shared_ptr<const openapi::V2Base> base_;
  const std::shared_ptr<const std::vector<openapi::FragmentPtr>> fragments_;
  std::string etag_;
};

// Send finished documents, with ETags, hashes and content negotiation as kube-openapi's handlers.
//
// Answers "/openapi/v2".
http::Step SendOpenApiV2(http::Exchange& exchange, const V2Document& document);
// Answers "/openapi/v3"; the index has one form, whatever the client accepts.
http::Step SendOpenApiV3Index(http::Exchange& exchange, const OpenApiPtr& index);
// Answers "/openapi/v3/<path>".
http::Step SendOpenApiV3(http::Exchange& exchange, const OpenApiPtr& document, const Clock& clock);
// Answers a path that has no document: as kube-openapi with an empty response, not an error.
http::Step SendNoOpenApi(http::Exchange& exchange);

}  // namespace apiserver::inline v0::server
