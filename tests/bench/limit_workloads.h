#pragma once

#include "apiserver/base/status.h"
#include "bench/report.h"
#include "bench/server_under_test.h"

namespace bench {

// What the largest bodies that are let in cost, when they are made to cost much: patches at their
// limits, huge lists, huge field sets, and whatever is wrong in as many ways as possible. One at a
// time.
apiserver::Status RunLimits(ServerUnderTest& server, Report& report);

}  // namespace bench
