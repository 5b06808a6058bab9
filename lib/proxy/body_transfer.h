#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/executor.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/http/exchange.h"
#include "apiserver/http/stream.h"

namespace apiserver::inline v0::proxy {

// The body of an answer on its way from the loop of its backend to that of its client. Holds the
// backend back while the client is slow. Thread-safe.
class BodyTransfer final {
 public:
  // Counts what waits in the output share of `memory`, for `tenant`. Null: it is not counted.
  BodyTransfer(std::shared_ptr<MemoryBudget> memory, const Tenant& tenant)
      : memory_(std::move(memory)), tenant_(tenant) {}
  BodyTransfer(const BodyTransfer&) = delete;
  BodyTransfer& operator=(const BodyTransfer&) = delete;
  ~BodyTransfer();

  // Takes bytes that were read from `from`. On the loop of `from`.
  void Push(std::string_view bytes, http::ReadStream& from);
  // Ends the body: completely, or cut if `status` is an error. The first call counts.
  void End(const Status& status);
  // Does what BodySource::Next does, on the loop of the client.
  http::Pull Next(http::ChunkWriter& out, const Waker& waker, http::ReadStream& from);

 private:
  struct State {
    std::string waiting;
    bool paused = false;
    std::optional<Status> end;
    Waker waker;
  };

  const std::shared_ptr<MemoryBudget> memory_;
  const Tenant tenant_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::proxy
