#pragma once

#include <memory>
#include <string>

#include "apiserver/base/trace.h"
#include "apiserver/codec/codec.h"
#include "response/negotiate.h"

namespace apiserver::inline v0::response {

// What is made into bytes while it lives shows in the request's trace.
trace::Span SerializeSpan(const http::Exchange& exchange, const Negotiated& negotiated);

// A finished JSON document (compact, ending in a newline) in the negotiated media type.
// kNotAcceptable: protobuf, which cannot be made of JSON.
http::Step SendJsonAs(http::Exchange& exchange, int code, std::string json,
                      const Negotiated& negotiated);
// Before an answer is made whole, with bytes of its own: NoRoomToAnswer() when such answers, not
// sent yet, take all memory that the request's tenant may have. Never for what has changed
// something.
Status CheckRoomToAnswer(const http::Exchange& exchange);
// Where the encodings count that are made for an answer.
codec::EncodingShare EncodingShareOf(const http::Exchange& exchange);
// `bytes` as they are, gzipped if there are many and the client likes that.
http::Step SendAs(http::Exchange& exchange, int code, http::Bytes bytes, std::string content_type);

// `,"resourceVersion":…` and siblings of a list's metadata, braces included.
std::string ListMetaJson(const std::string& resource_version, const std::string& continue_token,
                         const std::optional<std::int64_t>& remaining_item_count);

}  // namespace apiserver::inline v0::response
