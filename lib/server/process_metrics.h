#pragma once

#include "apiserver/base/context.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::server {

// Exports process_cpu_seconds_total, process_resident_memory_bytes and their siblings of
// Prometheus' clients, read from /proc on each scrape. `files` must outlive the registration.
Context::Registration ShowProcess(metrics::Registry& registry, const FileSystem& files);

}  // namespace apiserver::inline v0::server
