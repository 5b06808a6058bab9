#include "apiserver/options/flag_set.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace apiserver::v0::options {

namespace {

using std::chrono::milliseconds;

// So many of a unit at most: no sum of a text's parts overflows before its length ends it.
constexpr std::int64_t kCountMax = 1'000'000'000;

std::optional<milliseconds> UnitOf(std::string_view name) {
  if (name == "h") return std::chrono::hours(1);
  if (name == "m") return std::chrono::minutes(1);
  if (name == "s") return std::chrono::seconds(1);
  if (name == "ms") return milliseconds(1);
  return std::nullopt;
}

std::optional<milliseconds> Parse(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text == "0") return milliseconds(0);
  milliseconds total(0);
  while (!text.empty()) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (error != std::errc() || count < 0 || count > kCountMax) return std::nullopt;
    const std::size_t length = std::min(text.find_first_of("0123456789"), text.size());
    const auto unit = UnitOf(text.substr(0, length));
    text.remove_prefix(length);
    if (!unit) return std::nullopt;
    total += count * *unit;
  }
  return total;
}

}  // namespace

std::string FirstGiven(const Flags& flags) {
  const auto first = std::ranges::find_if(flags, [](const FlagPtr& flag) { return flag->given; });
  return first == flags.end() ? "" : (*first)->name;
}

Result<milliseconds> ParseDuration(std::string_view text) {
  if (const auto duration = Parse(text)) return *duration;
  return Status(Reason::kInvalid,
                "\"" + std::string(text) + "\" is no duration; give one like 5s, 1m30s or 500ms");
}

}  // namespace apiserver::v0::options
