#pragma once

#include "apiserver/base/context.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::server {

// process_cpu_seconds_total, process_resident_memory_bytes and their siblings of Prometheus'
// clients, looked up in /proc when somebody asks. `files` outlives the registration.
Context::Registration ShowProcess(metrics::Registry& registry, const FileSystem& files);

}  // namespace apiserver::inline v0::server
