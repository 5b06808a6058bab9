#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"

// Percent signs in the parts of a URL, as Go's net/url has them.
namespace apiserver::inline v0::http {

enum class UrlPart { kPath, kHost, kZone, kUserPassword, kFragment };

// kInvalid, in Go's words: no escape, one that does not belong there or, of a host or zone, a
// character that must not be there.
Result<std::string> UnescapeUrlPart(std::string_view text, UrlPart part);
std::string EscapeUrlPart(std::string_view text, UrlPart part);
// Whether `text` is a right, if not the usual, spelling of such a part.
bool IsEncodedUrlPart(std::string_view text, UrlPart part);

}  // namespace apiserver::inline v0::http
