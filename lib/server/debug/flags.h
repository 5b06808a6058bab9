#pragma once  // Library-internal: other rooms include this header.

#include <cstdint>
#include <functional>

#include "apiserver/base/status.h"
#include "server/debug/place.h"

namespace apiserver::inline v0::server::debug {

// Installs PUT /debug/flags/v, which changes the verbosity of logs by `set_verbosity`, and
// /debug/flags/, which lists the flags. k8s.io/apiserver/pkg/server/routes/flags.go. kConflict: a
// path is taken.
Status InstallFlags(const Place& place, std::function<Status(std::uint32_t)> set_verbosity);

}  // namespace apiserver::inline v0::server::debug
