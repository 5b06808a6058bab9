#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/http/exchange.h"

// Compressed responses: k8s.io/apiserver responsewriters/writers.go and compression.go.
namespace apiserver::inline v0::response {

// A response that is not longer than this is not compressed.
inline constexpr std::size_t kGzipThresholdBytes = std::size_t{128} << 10;

// True if the client accepts gzip and the feature is on. As in Go `gzip` must stand alone in the
// list: with a weight it is ignored.
bool WantsGzip(const http::Exchange& exchange, std::string_view feature);
// Adds Content-Encoding and Vary.
void AddGzipHeaders(http::ResponseHead& head);
// Compresses all of `bytes`. It takes time: not for loops.
std::string Gzip(const http::Bytes& bytes);
// Returns the compressed output of `body`, which is pulled on the exchange's pool, a piece at a
// time and only as fast as the peer reads. When `body` waits, everything made so far is sent at
// once, and no memory is kept for compressing.
std::unique_ptr<http::BodySource> NewGzipBody(http::Exchange& exchange,
                                              std::unique_ptr<http::BodySource> body);

}  // namespace apiserver::inline v0::response
