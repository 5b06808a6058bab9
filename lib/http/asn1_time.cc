#include "http/asn1_time.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace apiserver::v0::http {

Clock::Wall WallOf(const ASN1_TIME* time) {
  std::tm utc{};
  if (ASN1_TIME_to_tm(time, &utc) != 1) return {};
  // Limited before the conversion: Clock::Wall counts nanoseconds, which would overflow.
  const auto last = std::chrono::floor<std::chrono::seconds>(Clock::Wall::max());
  const std::int64_t seconds =
      std::clamp<std::int64_t>(timegm(&utc), 0, last.time_since_epoch().count());
  return Clock::Wall(std::chrono::seconds(seconds));
}

}  // namespace apiserver::v0::http
