#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/storage/value/config.h"
#include "require.h"

// The encryption configuration: a file is refused with a message, or read and judged.
namespace {

namespace value = apiserver::storage::value;
using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = value::ParseEncryptionConfiguration(text);
  if (!config.ok()) {
    Require(config.status().reason() == apiserver::Reason::kInvalid);
    Require(!config.status().message().empty());
    return 0;
  }
  const auto errors = value::ValidateEncryptionConfiguration(*config, true);
  Require(errors.empty() == errors.Aggregate().empty());
  return 0;
}
