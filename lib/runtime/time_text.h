#pragma once  // Library-internal: other rooms include this header.

#include <array>
#include <string_view>

#include "apiserver/runtime/time.h"

namespace apiserver::inline v0::runtime {

// Room for the longest text of a time.
using TimeText = std::array<char, 48>;

// Formats as FormatMicroTime() does, without the heap; returns the part of `text` that it wrote.
std::string_view PutMicroTime(UnixTime time, TimeText& text);
// Replaces the fraction of a time that PutMicroTime() has written, of a year with four digits.
void PutFraction(UnixTime time, TimeText& text);

}  // namespace apiserver::inline v0::runtime
