#pragma once

#include <memory>
#include <string>

#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::response {

// Takes what a body writes and makes of it what is sent. Used by one thread at a time.
class Packer : public http::ChunkWriter {
 public:
  // Nothing more comes for now: TakeMade() must not keep anything back.
  virtual void Flush() = 0;
  // Ends a turn on the pool: enough was read or made.
  virtual bool enough() const = 0;
  virtual bool failed() const = 0;
  virtual std::string TakeMade() = 0;
};

// As `body`, but pulled on the exchange's pool, where Next() may wait and take its time; what it
// writes goes through `packer`. One turn ahead of the peer at the most. What Next() throws is
// thrown again on the loop.
std::unique_ptr<http::BodySource> NewPoolBody(http::Exchange& exchange,
                                              std::unique_ptr<http::BodySource> body,
                                              std::unique_ptr<Packer> packer);
// The same with the bytes as they are.
std::unique_ptr<http::BodySource> NewPoolBody(http::Exchange& exchange,
                                              std::unique_ptr<http::BodySource> body);

}  // namespace apiserver::inline v0::response
