#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "apiserver/base/context.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::server {

// The requests that are being answered, so that stopping can wait for the short ones and end the
// long ones. Any thread.
class InFlight {
 public:
  // Zero: the server stops, and the request is to be refused. Else give it to Leave().
  std::uint64_t Enter(const Context& ctx, bool long_running);
  void Leave(std::uint64_t id);

  // From now on Enter refuses, and the long ones are cancelled.
  void Close();
  // Until none is left, or `longest` has passed; says whether none is left.
  bool WaitUntilEmpty(std::chrono::milliseconds longest);
  std::size_t size() const;

 private:
  struct State {
    bool closed = false;
    std::uint64_t last_id = 0;
    std::size_t short_running = 0;
    std::unordered_map<std::uint64_t, Context> long_running;
  };
  // Ids of short requests are odd, so that Leave need not look them up.
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::server
