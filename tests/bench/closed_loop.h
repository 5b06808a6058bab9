#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/http/dialer.h"

namespace bench {

using Connections = std::vector<std::unique_ptr<apiserver::http::Connection>>;

// Opens `count` connections to one server.
apiserver::Result<Connections> DialMany(apiserver::http::Dialer& dialer,
                                        const apiserver::http::DialOptions& options,
                                        std::size_t count);

struct LoopOptions {
  std::size_t streams = 1;     // Requests under way on each connection.
  std::size_t operations = 0;  // All together.
  int expected_code = 200;
  // Gives each of the s slots requests of its own: the kth asks for n = k, k + s, k + 2s and so on,
  // so that n and n + s are never under way at once. False: a slot that is free takes the next n.
  bool strides = false;
  // The nth request.
  std::function<apiserver::http::ClientRequest(std::size_t n)> request;
  // Told the body that answered the nth, on the thread that asks for the next; null: bodies are
  // only counted.
  std::function<void(std::size_t n, std::string_view body)> answered = nullptr;
};

struct LoopResult {
  double seconds = 0;
  std::vector<double> latencies_us;
  std::size_t bytes = 0;  // Of all bodies.
};

// Keeps connections x streams requests under way until `operations` are done. Any answer but the
// expected one voids the run.
apiserver::Result<LoopResult> RunClosedLoop(const Connections& connections,
                                            const LoopOptions& options);

}  // namespace bench
