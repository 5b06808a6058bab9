#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/http/exchange.h"

// Compressed answers: k8s.io/apiserver responsewriters/writers.go and compression.go.
namespace apiserver::inline v0::response {

// What is not longer than this is sent as it is.
inline constexpr std::size_t kGzipThresholdBytes = std::size_t{128} << 10;

// Whether the client accepts gzip and the server gives it. As in Go `gzip` stands alone in the
// list: with a weight it is not seen.
bool WantsGzip(const http::Exchange& exchange, std::string_view feature);
// Content-Encoding and Vary.
void AddGzipHeaders(http::ResponseHead& head);
// All of `bytes`. Takes its time: not for loops.
std::string Gzip(const http::Bytes& bytes);
// What `body` makes, compressed on the exchange's pool, where it is pulled, a piece at a time and
// only as fast as the peer reads. Whatever there is when `body` waits goes out at once; nothing is
// kept for compressing while it does.
std::unique_ptr<http::BodySource> NewGzipBody(http::Exchange& exchange,
                                              std::unique_ptr<http::BodySource> body);

}  // namespace apiserver::inline v0::response
