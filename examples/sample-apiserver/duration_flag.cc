#include "duration_flag.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace sample {

namespace {

// A Go duration of whole milliseconds or more.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text == "0") return std::chrono::milliseconds(0);
  std::chrono::milliseconds total(0);
  while (!text.empty()) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (error != std::errc() || count < 0 || count > 1'000'000'000) return std::nullopt;
    const std::size_t unit = std::min(text.find_first_of("0123456789"), text.size());
    const std::string_view name = text.substr(0, unit);
    text.remove_prefix(unit);
    if (name == "h") {
      total += std::chrono::hours(count);
    } else if (name == "m") {
      total += std::chrono::minutes(count);
    } else if (name == "s") {
      total += std::chrono::seconds(count);
    } else if (name == "ms") {
      total += std::chrono::milliseconds(count);
    } else {
      return std::nullopt;
    }
  }
  return total;
}

}  // namespace

CLI::Option* AddDuration(CLI::App& app, const std::string& name, std::chrono::milliseconds& value,
                         const std::string& help) {
  const auto read = [&value, name](const CLI::results_t& texts) {
    const auto duration = ParseDuration(texts.at(0));
    if (!duration) {
      throw CLI::ValidationError(
          name, "\"" + texts.at(0) + "\" is no duration; give one like 5s, 1m30s or 500ms");
    }
    value = *duration;
    return true;
  };
  return app.add_option(name, read, help)->type_name("DURATION");
}

}  // namespace sample
