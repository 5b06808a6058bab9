#include "flowcontrol/seat_seconds.h"

namespace apiserver::v0::flowcontrol {

// Eight decimals, as SeatSeconds.String() upstream.
std::string FormatSeatSeconds(SeatSeconds work) {
  constexpr auto kScale = static_cast<SeatSeconds>(kSeatSecondsScale);
  const std::string fraction = std::to_string(work % kScale);
  return std::to_string(work / kScale) + "." + std::string(8 - fraction.size(), '0') + fraction +
         "ss";
}

}  // namespace apiserver::v0::flowcontrol
