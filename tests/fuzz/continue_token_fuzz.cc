#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "apiserver/storage/interface.h"

// A token that is accepted stays inside of its prefix and says the same when it is made again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apiserver;  // NOLINT: a fuzz target.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto token = storage::DecodeContinueToken(text);
  if (!token.ok()) {
    if (token.status().reason() != Reason::kBadRequest) std::abort();
    return 0;
  }
  const std::string slashed = "/" + token->start_key + "/";
  if (slashed.find("/../") != std::string::npos) std::abort();
  const auto again = storage::DecodeContinueToken(storage::EncodeContinueToken(*token));
  if (!again.ok() || again->start_key != token->start_key ||
      again->resource_version != token->resource_version) {
    std::abort();
  }
  return 0;
}
