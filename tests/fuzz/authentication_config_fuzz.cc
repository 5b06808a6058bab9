#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "apiserver/authn/config.h"

// The authentication configuration: a file is refused with a message, or is a valid one.
namespace {

namespace authn = apiserver::authn;

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = authn::ParseAuthenticationConfiguration(text);
  if (!config.ok()) {
    Require(config.status().reason() == apiserver::Reason::kInvalid);
    Require(!config.status().message().empty());
    return 0;
  }
  Require(authn::ValidateAuthenticationConfiguration(*config).empty());
  return 0;
}
