#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/date.h"
#include "require.h"

// Any bytes are a date or none. A date is written again as it was read, but for a leap second.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using apiserver::http::FormatDate;
  using apiserver::http::ParseDate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto date = ParseDate(text)) {
    const bool leap = text.substr(23, 2) == "60";
    apiserver_fuzz::Require(leap || FormatDate(*date) == text);
  }
  return 0;
}
