#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <string_view>

#include "apiserver/runtime/arena.h"

// UTF-8 as Go's unicode/utf8 judges it.
namespace apiserver::inline v0::codec {

// The length of the well-formed sequence that starts `text`, which must not be empty; 0: there is
// none (overlong, surrogate, out of range, truncated).
std::size_t Utf8SequenceLength(std::string_view text);
bool ValidUtf8(std::string_view text);
// `text` with every byte that starts no well-formed sequence replaced by U+FFFD.
std::string_view ReplaceInvalidUtf8(std::string_view text, runtime::Arena& arena);

}  // namespace apiserver::inline v0::codec
