#pragma once

#include "apiserver/base/status.h"
#include "bench/report.h"
#include "bench/server_under_test.h"

// Workloads over an etcd.
namespace bench {

// Reads of the newest state; `etcd_calls_per_get` is by etcd's own count.
apiserver::Status RunW2(ServerUnderTest& server, Report& report);
// Creates, and as W7/update merge patches of what was created.
apiserver::Status RunW7(ServerUnderTest& server, Report& report);

}  // namespace bench
