#pragma once

#include <optional>

#include "apiserver/base/clock.h"
#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::server {

// The times between which a filter is measured; a value of the exchange, set by NewFilterStarted.
// A reading of the clock costs as much as a small filter, so that a filter which measures itself
// shares its readings with those around it.
struct FilterTimes {
  mutable Clock::Monotonic began;  // The end of the filter before, or NewFilterStarted's reading.
  // Set by the filter itself if it has read the clock at its end; NewFilterCompleted clears it.
  mutable std::optional<Clock::Monotonic> ended = std::nullopt;
};

// Returns when the filter that calls this began. Reads `clock` if nothing measures the filter.
inline Clock::Monotonic BeganAt(const http::Exchange& exchange, const Clock& clock) {
  const auto* const times = exchange.Find<FilterTimes>();
  return times ? times->began : clock.Now();
}

// Reads `clock` at the end of the filter that calls this.
inline Clock::Monotonic EndedAt(const http::Exchange& exchange, const Clock& clock) {
  const Clock::Monotonic now = clock.Now();
  if (const auto* const times = exchange.Find<FilterTimes>()) times->ended = now;
  return now;
}

}  // namespace apiserver::inline v0::server
