#pragma once  // Library-internal: other rooms include this header.

#include <cstdint>
#include <limits>
#include <string_view>

#include "apiserver/base/status.h"

// Values of query parameters, as apimachinery's conversions from url.Values read them.
namespace apiserver::inline v0::meta {

// Follows Convert_Slice_string_To_bool: whatever is not "0" or "false" in any case is true, the
// empty text, too.
bool IsTrue(std::string_view text);

// Follow strconv.ParseInt in 64 bits and strconv.ParseUint, both in base 10. kBadRequest: the text
// is no number, or it is above `max`; the message is Go's.
Result<std::int64_t> ParseInt(std::string_view text);
Result<std::uint64_t> ParseUint(std::string_view text,
                                std::uint64_t max = std::numeric_limits<std::uint64_t>::max());

}  // namespace apiserver::inline v0::meta
