// "METHOD target": what authorization is asked about any request is what a storage is then asked.
#include "judged_routes.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static auto* const routes = new apiserver::testing::JudgedRoutes();  // As long as the process.
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || !line.substr(space + 1).starts_with('/')) return 0;
  const std::string difference =
      routes->Difference({.method = std::string(line.substr(0, space)),
                          .target = std::string(line.substr(space + 1))});
  if (difference.empty()) return 0;
  std::cerr << difference << '\n';
  std::abort();
}
