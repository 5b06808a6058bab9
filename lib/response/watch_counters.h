#pragma once  // Library-internal: other rooms include this header.

#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::response {

// The counters for the events of one watch, if the exchange has it: apiserver_watch_events_total
// and _sizes of its resource. They live as long as the server.
struct WatchCounters {
  metrics::Counter* events = nullptr;
  metrics::Histogram* sizes = nullptr;

  void Count(std::size_t bytes) const {
    if (events == nullptr) return;
    events->Add();
    sizes->Observe(static_cast<double>(bytes));
  }
};

}  // namespace apiserver::inline v0::response
