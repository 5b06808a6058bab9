#pragma once

#include "http/asio.h"
#include "http/loop.h"

namespace apiserver::inline v0::http {

// The reactor that a loop waits with. Built without locks, because only the loop's own thread
// touches it: other threads write to the event descriptor that `wake` reads.
struct Loop::Reactor {
  explicit Reactor(int event_fd) : wake(io, event_fd), timer(io) {}
  boost::asio::io_context io{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
  boost::asio::posix::stream_descriptor wake;
  boost::asio::steady_timer timer;
  // The time that `timer` is armed for. nullopt: it is not armed.
  std::optional<Clock::Monotonic> timer_armed;
};

}  // namespace apiserver::inline v0::http
