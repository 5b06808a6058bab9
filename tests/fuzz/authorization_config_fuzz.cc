#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/authz/config.h"
#include "require.h"

// The authorization configuration: a file is refused with a message, or is a valid one.
namespace {

namespace authz = apiserver::authz;
using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto files = apiserver::NewMemoryFileSystem();
  Require(files->WriteAtomically("/k", "", 0600).ok());
  const auto config = authz::ParseAuthorizationConfiguration(text, *files);
  if (!config.ok()) {
    Require(config.status().reason() == apiserver::Reason::kInvalid);
    Require(!config.status().message().empty());
    Require(config.status().message().find('\n') == std::string_view::npos);
    return 0;
  }
  Require(authz::ValidateAuthorizationConfiguration(*config, *files).empty());
  return 0;
}
