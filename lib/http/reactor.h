#pragma once

#include "http/asio.h"
#include "http/loop.h"

namespace apiserver::inline v0::http {

// What a loop waits with. Without locks: only its own thread touches it, others write to the
// event descriptor that `wake` reads.
struct Loop::Reactor {
  explicit Reactor(int event_fd) : wake(io, event_fd), timer(io) {}
  boost::asio::io_context io{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
  boost::asio::posix::stream_descriptor wake;
  boost::asio::steady_timer timer;
  std::optional<Clock::Monotonic> timer_armed;
};

}  // namespace apiserver::inline v0::http
