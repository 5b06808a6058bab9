#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace apiserver::inline v0::flowcontrol {

// Work in units of 10 nanoseconds times a seat. It wraps around, so that a difference may be added
// as its complement. k8s.io/apiserver/pkg/util/flowcontrol/request.SeatSeconds.
using SeatSeconds = std::uint64_t;

inline constexpr double kSeatSecondsScale = 1e8;
inline constexpr SeatSeconds kSeatSecondsMax = std::numeric_limits<SeatSeconds>::max();

// Returns the work of `seats` seats over `duration`; for increments, not for all the work since a
// process began.
inline SeatSeconds SeatsTimesDuration(double seats, std::chrono::nanoseconds duration) {
  return static_cast<SeatSeconds>(static_cast<std::int64_t>(
      std::round(seats * static_cast<double>(duration.count()) / (1e9 / kSeatSecondsScale))));
}

inline double SeatSecondsToDouble(SeatSeconds work) {
  return static_cast<double>(work) / kSeatSecondsScale;
}

// Returns the time that `seats` seats are busy with `work`.
inline std::chrono::nanoseconds DurationPerSeat(SeatSeconds work, double seats) {
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(work) / seats * (1e9 / kSeatSecondsScale)));
}

// Returns a text such as "12.34000000ss".
std::string FormatSeatSeconds(SeatSeconds work);

}  // namespace apiserver::inline v0::flowcontrol
