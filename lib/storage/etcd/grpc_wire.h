#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/http/headers.h"
#include "storage/etcd/rpc.h"

// gRPC's messages and outcomes as they stand in HTTP/2:
// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md.
namespace apiserver::inline v0::storage::etcd {

// Returns a message with its prefix, uncompressed.
std::string FrameOf(std::string_view message);

// Puts messages together from the pieces of a body. Used by one thread.
class MessageReader {
 public:
  // A longer message is refused.
  explicit MessageReader(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Takes bytes from the front of `bytes`: to the end of a message, which is returned, or all of
  // them. kInvalid: they are compressed or too long; nothing may be read after them.
  Result<std::optional<std::string>> Next(std::string_view& bytes);

 private:
  const std::size_t bytes_max_;
  std::string prefix_;  // The flag and the length, or the beginning of them.
  std::string kept_;    // The beginning of the message behind them.
};

// Returns the outcome that trailers tell, or a head without a body (Trailers-Only). One without
// grpc-status is kUnknown.
RpcOutcome OutcomeOf(const http::Headers& trailers);
// Returns the outcome of a response whose head is not that of a gRPC server: of a proxy, say.
RpcOutcome OutcomeOfCode(int http_code);

// Returns the value of grpc-timeout, rounded up to milliseconds: "1500m".
std::string TimeoutText(std::chrono::nanoseconds timeout);

}  // namespace apiserver::inline v0::storage::etcd
