#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <memory>
#include <string>

#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::response {

// Takes the output of a body and makes the bytes to send. Used by one thread at a time.
class Packer : public http::ChunkWriter {
 public:
  // Tells that no more output comes for now: TakeMade() must return everything.
  virtual void Flush() = 0;
  // True if a turn on the pool should end: enough was read or made.
  virtual bool enough() const = 0;
  virtual bool failed() const = 0;
  virtual std::string TakeMade() = 0;
};

// Returns a body like `body`, but pulled on the exchange's pool, where Next() may block and take
// its time; its output goes through `packer`. It is at most one turn ahead of the peer. An
// exception of Next() is thrown again on the loop.
std::unique_ptr<http::BodySource> NewPoolBody(http::Exchange& exchange,
                                              std::unique_ptr<http::BodySource> body,
                                              std::unique_ptr<Packer> packer);
// Does the same with the bytes as they are. A turn ends when it has made `turn_bytes` or more.
std::unique_ptr<http::BodySource> NewPoolBody(http::Exchange& exchange,
                                              std::unique_ptr<http::BodySource> body,
                                              std::size_t turn_bytes = std::size_t{64} << 10);

}  // namespace apiserver::inline v0::response
