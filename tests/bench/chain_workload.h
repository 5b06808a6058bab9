#pragma once

#include "apiserver/base/status.h"
#include "bench/closed_loop.h"
#include "bench/report.h"
#include "bench/server_under_test.h"

namespace bench {

// A run of W1: GETs of one of Populate()'s objects from the cache, 10 on each connection.
LoopOptions CachedGets();

// What the filters cost. Two servers on one CPU are asked for the same in turn: the bare one by the
// administrator, without authorization, flow control and audit; the other by an ordinary user, with
// RBAC of 10,000 bindings, flow control and an audit log at Metadata.
apiserver::Status RunChain(const StartServer& start, Report& report);

}  // namespace bench
