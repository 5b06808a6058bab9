#pragma once

#include <string>
#include <string_view>

#include "text/read.h"

// Percent signs in the parts of a URL, as Go's net/url has them.
namespace apiserver::inline v0::text {

enum class UrlPart { kPath, kHost, kZone, kUserPassword, kFragment };

// An Error in Go's words: no escape, one that does not belong there or, of a host or zone, a
// character that must not be there.
Read<std::string> UnescapeUrlPart(std::string_view text, UrlPart part);
std::string EscapeUrlPart(std::string_view text, UrlPart part);
// Whether `text` is a right, if not the usual, spelling of such a part.
bool IsEncodedUrlPart(std::string_view text, UrlPart part);

}  // namespace apiserver::inline v0::text
