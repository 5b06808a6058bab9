#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

// Searches in UTF-8, in linear time: the texts are strangers'.
namespace apiserver::inline v0::cel::functions {

// Returns the position of the first and of the last occurrence, in bytes; npos: there is none.
// `needle` must not be empty.
std::size_t FindFirst(std::string_view text, std::string_view needle);
std::size_t FindLast(std::string_view text, std::string_view needle);

// Returns the position of code point `index`, in bytes; of the end for the number of code points.
// nullopt: the text is shorter.
std::optional<std::size_t> ByteOf(std::string_view text, std::size_t index);

}  // namespace apiserver::inline v0::cel::functions
