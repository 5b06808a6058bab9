#pragma once

#include <memory>
#include <string>

#include "apiserver/base/trace.h"
#include "apiserver/codec/codec.h"
#include "response/negotiate.h"

namespace apiserver::inline v0::response {

// Starts the span in which a response is encoded; it ends with the result.
trace::Span SerializeSpan(const http::Exchange& exchange, const Negotiated& negotiated);

// Sends a finished JSON document (compact, ending in a newline) in the negotiated media type.
// kNotAcceptable: protobuf, which cannot be made from JSON.
http::Step SendJsonAs(http::Exchange& exchange, int code, std::string json,
                      const Negotiated& negotiated);
// Checks that a response may be made as a whole, with bytes of its own: NoRoomToAnswer() if such
// responses, not sent yet, take all memory that the request's tenant may have. A request that has
// changed something is never refused here.
Status CheckRoomToAnswer(const http::Exchange& exchange);
// Returns the share that encodings made for a response are counted in.
codec::EncodingShare EncodingShareOf(const http::Exchange& exchange);
// Sends `bytes` as they are, gzipped if there are many and the client accepts it.
http::Step SendAs(http::Exchange& exchange, int code, http::Bytes bytes, std::string content_type);

// Returns a list's metadata, `{"resourceVersion":…}`, braces included.
std::string ListMetaJson(const std::string& resource_version, const std::string& continue_token,
                         const std::optional<std::int64_t>& remaining_item_count);

}  // namespace apiserver::inline v0::response
