#pragma once  // Library-internal: other rooms include this header.

#include <chrono>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::registry {

// "<invalid>", "5s", "3m7s", "2d3h", "4y100d": two or three significant figures, as
// k8s.io/apimachinery/pkg/util/duration.HumanDuration.
std::string HumanDuration(std::chrono::nanoseconds duration);

// The time since the object's creationTimestamp, as printers' translateTimestampSince.
std::string AgeOf(const runtime::Object& object, const Clock& clock);

}  // namespace apiserver::inline v0::registry
