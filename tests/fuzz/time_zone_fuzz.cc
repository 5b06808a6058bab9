#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cel/run/time_zone.h"
#include "require.h"

// Any bytes are a time zone or none. A zone has an offset at every time that expressions have.
namespace {

using apiserver::cel::TimeZone;
using apiserver::cel::ZoneRule;
using apiserver_fuzz::Require;

constexpr std::int64_t kFirst = -62'135'596'800;  // The years 1 to 9999.
constexpr std::int64_t kLast = 253'402'300'799;

// Offsets of a file have 32 bits, those of a rule at most a week and an hour.
template <class Zone>
void RequireOffsets(const Zone& zone) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31U;
  for (const std::int64_t at : {kFirst, std::int64_t{-1}, std::int64_t{0},
                                std::int64_t{951'782'400}, std::int64_t{1'700'000'000}, kLast}) {
    const std::int64_t offset = zone.OffsetAt(at);
    Require(offset >= -kMost && offset <= kMost);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const std::optional<TimeZone> zone = TimeZone::Parse(bytes)) RequireOffsets(*zone);
  if (const std::optional<ZoneRule> rule = ZoneRule::Parse(bytes)) RequireOffsets(*rule);
  return 0;
}
