// Indexes of OpenAPI v3 of extension servers.
#include "aggregator/control/remote_openapi.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apiserver;  // NOLINT: a fuzz target.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const aggregator::Facts facts{.name = "v1.a.com", .group = "a.com", .version = "v1"};
  if (const auto urls = aggregator::ReadV3Index(text, facts); urls.ok()) {
    for (const auto& [path, url] : *urls) {
      if (path != "apis/a.com/v1" && path != "apis/a.com") std::abort();
      if (!url.starts_with("/openapi/v3/" + path) || url.size() > 1024) std::abort();
    }
  }
  return 0;
}
