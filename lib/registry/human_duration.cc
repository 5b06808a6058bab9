#include "registry/human_duration.h"

#include <cstdint>

#include "apiserver/runtime/time.h"

namespace apiserver::v0::registry {
namespace {

constexpr std::int64_t kHoursPerDay = 24;
constexpr std::int64_t kDaysPerYear = 365;

// "3m7s", or "3m" when the smaller part is zero.
std::string Parts(std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
  std::string text = std::to_string(large) + large_unit;
  if (small != 0) text += std::to_string(small) + small_unit;
  return text;
}

}  // namespace

// Follows HumanDuration of apimachinery/util/duration, unit by unit.
std::string HumanDuration(std::chrono::nanoseconds duration) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  // Two machines' clocks may be a second apart.
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return std::to_string(seconds) + "s";
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return Parts(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return std::to_string(minutes) + "m";
  const std::int64_t hours = minutes / 60;
  const std::int64_t days = hours / kHoursPerDay;
  if (hours < 8) return Parts(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return std::to_string(hours) + "h";
  if (days < 8) return Parts(days, 'd', hours % kHoursPerDay, 'h');
  if (days < 2 * kDaysPerYear) return std::to_string(days) + "d";
  const std::int64_t years = days / kDaysPerYear;
  if (days < 8 * kDaysPerYear) return Parts(years, 'y', days % kDaysPerYear, 'd');
  return std::to_string(years) + "y";
}

std::string AgeOf(const runtime::Object& object, const Clock& clock) {
  const auto created = runtime::ParseTime(object.metadata()["creationTimestamp"].AsString());
  if (!created.ok()) return "<unknown>";
  return HumanDuration(clock.WallNow() - created->ToSystem());
}

}  // namespace apiserver::v0::registry
