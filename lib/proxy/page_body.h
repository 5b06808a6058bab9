#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/http/exchange.h"
#include "apiserver/http/headers.h"
#include "proxy/location_rewriter.h"

namespace apiserver::inline v0::proxy {

// Returns whether the links of an answer with these headers can be rewritten: HTML as it is, or in
// gzip or deflate.
bool IsRewritablePage(const http::Headers& headers);

// Makes a body that is the page of `inner` with its links rewritten. The page is kept whole, and
// rewritten on the pool; one of more than 4 MiB, before or after decoding, and one that cannot be
// decoded are passed on as they are. `encoding` is the Content-Encoding.
std::unique_ptr<http::BodySource> NewPageBody(std::unique_ptr<http::BodySource> inner,
                                              LocationRewriter rewriter, std::string encoding,
                                              std::shared_ptr<http::Exchange> exchange);

// Returns `page` with its links rewritten and encoded again. A page that cannot be decoded, or that
// becomes longer than the limit, is returned as it is.
std::string RewritePage(std::string page, const LocationRewriter& rewriter,
                        std::string_view encoding);

}  // namespace apiserver::inline v0::proxy
