#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "apiserver/base/context.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::server {

// The running requests, so that a shutdown can wait for the short ones and end the long ones: the
// two wait groups of k8s.io/apiserver. Any thread.
class InFlight {
 public:
  enum class Kind : std::uint8_t {
    kShort,
    kLong,
    kProbe,  // Health and metrics: answered to the end, and not waited for.
  };

  // The requests that a shutdown waits for.
  struct Left {
    std::size_t watches = 0;  // And other long requests.
    std::size_t requests = 0;

    // Returns "37 watches, 2 requests"; "" if there are none.
    std::string ToString() const;
  };

  // Registers a request. Zero: the server stops, and the request must be refused. Otherwise pass
  // the id to Leave().
  std::uint64_t Enter(const Context& ctx, Kind kind);
  void Leave(std::uint64_t id);
  // Makes a short request a long one, whose end nobody can wait for, and returns its new id for
  // Leave(); `id` is Enter()'s. Where long requests are refused already, it is cancelled at once.
  std::uint64_t Prolong(std::uint64_t id, const Context& ctx);

  // Refuses long requests from now on and cancels the running ones: all at once, or spread over
  // `grace`, but not fewer than 200 a second. Waits until the last was cancelled, and calls
  // `on_step` after each of its pauses. Null: it is not called.
  void EndLongRunning(std::chrono::milliseconds grace,
                      const std::function<void()>& on_step = nullptr);
  // Refuses all requests but probes from now on; calls EndLongRunning if that has not happened.
  void Close();
  // Refuses all requests from now on; waits for probes, at most for `longest`.
  void Seal(std::chrono::milliseconds longest);
  // Waits until only probes are left, or `longest` has passed; returns whether only probes are
  // left.
  bool WaitUntilEmpty(std::chrono::milliseconds longest);
  // Returns the number of requests without probes.
  Left left() const;

  // Returns how many long requests are cancelled a second, of `count` within `grace`.
  static std::size_t EndsPerSecond(std::size_t count, std::chrono::milliseconds grace);

 private:
  struct State {
    bool refuses_long = false;
    bool refuses_short = false;
    bool sealed = false;
    std::uint64_t last_id = 0;
    std::size_t short_running = 0;
    std::size_t probes = 0;
    std::unordered_map<std::uint64_t, Context> long_running;
  };
  // The lowest two bits of an id are its kind, so that Leave need not look short ones up.
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::server
