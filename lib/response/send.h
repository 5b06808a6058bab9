#pragma once

#include <memory>
#include <string>

#include "response/negotiate.h"

namespace apiserver::inline v0::response {

// A finished JSON document (compact, ending in a newline) in the negotiated media type.
// kNotAcceptable: protobuf, which cannot be made of JSON.
http::Step SendJsonAs(http::Exchange& exchange, int code, std::string json,
                      const Negotiated& negotiated);
// `bytes` as they are.
http::Step SendAs(http::Exchange& exchange, int code, http::Bytes bytes, std::string content_type);

// `,"resourceVersion":…` and siblings of a list's metadata, braces included.
std::string ListMetaJson(const std::string& resource_version, const std::string& continue_token,
                         const std::optional<std::int64_t>& remaining_item_count);

}  // namespace apiserver::inline v0::response
