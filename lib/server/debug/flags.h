#pragma once

#include <cstdint>
#include <functional>

#include "apiserver/base/status.h"
#include "server/mux/path_mux.h"

namespace apiserver::inline v0::server {

// PUT /debug/flags/v changes the verbosity of logs by `set_verbosity`; /debug/flags/ names the
// flags. k8s.io/apiserver/pkg/server/routes/flags.go. kConflict: a path is taken.
Status InstallDebugFlags(PathMux& mux, std::function<Status(std::uint32_t)> set_verbosity);

}  // namespace apiserver::inline v0::server
