#pragma once

#include <string>

#include "apiserver/base/clock.h"

// The current time in metadata. Parsing and the other formats are in runtime/time.h.
namespace apiserver::inline v0::meta {

// Returns the time as meta/v1 Time: "2006-01-02T15:04:05Z".
std::string Timestamp(const Clock& clock);
// Returns the time as meta/v1 MicroTime: "2006-01-02T15:04:05.000000Z".
std::string MicroTimestamp(const Clock& clock);

}  // namespace apiserver::inline v0::meta
