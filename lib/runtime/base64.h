#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "apiserver/runtime/arena.h"

namespace apiserver::inline v0::runtime {

// Standard base64 with padding, as Go's base64.StdEncoding reads it: line breaks are skipped.
// Nothing when malformed; `error_at` is then the offset that Go names.
std::optional<std::string_view> DecodeBase64(std::string_view text, Arena& arena,
                                             std::size_t& error_at);

}  // namespace apiserver::inline v0::runtime
