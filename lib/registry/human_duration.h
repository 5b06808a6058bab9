#pragma once

#include <chrono>
#include <string>

namespace apiserver::inline v0::registry {

// "<invalid>", "5s", "3m7s", "2d3h", "4y100d": two or three significant figures, as
// k8s.io/apimachinery/pkg/util/duration.HumanDuration.
std::string HumanDuration(std::chrono::nanoseconds duration);

}  // namespace apiserver::inline v0::registry
