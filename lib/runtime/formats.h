#pragma once  // Library-internal: other rooms include this header.

#include <string_view>

namespace apiserver::inline v0::runtime {

// Tells if apiextensions-apiserver checks a format of strings; others are published only. Dashes in
// the name play no part.
bool IsKnownFormat(std::string_view format);
// Tells if `text` has the format; true if that is not known. As kube-openapi's strfmt.
bool MatchesFormat(std::string_view format, std::string_view text);

}  // namespace apiserver::inline v0::runtime
