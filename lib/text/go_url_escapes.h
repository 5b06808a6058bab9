#pragma once

#include <string>
#include <string_view>

#include "text/read.h"

// Percent signs in the parts of a URL, as Go's net/url has them.
namespace apiserver::inline v0::text {

enum class UrlPart { kPath, kHost, kZone, kUserPassword, kFragment };

// Decodes the percent escapes of a part. An Error in Go's words: a malformed escape, one that is
// not allowed in this part, or (in a host or zone) a forbidden character.
Read<std::string> UnescapeUrlPart(std::string_view text, UrlPart part);
// Escapes every character that may not stand plainly in this part.
std::string EscapeUrlPart(std::string_view text, UrlPart part);
// Reports whether `text` is a valid, even if not the usual, spelling of such a part.
bool IsEncodedUrlPart(std::string_view text, UrlPart part);

}  // namespace apiserver::inline v0::text
