#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/authn/config.h"
#include "require.h"

// The authentication configuration: a file is refused with a message, or is a valid one.
namespace {

namespace authn = apiserver::authn;
using apiserver_fuzz::Require;

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
