#pragma once

#include "apiserver/base/status.h"
#include "bench/report.h"
#include "bench/server_under_test.h"

namespace bench {

// What bodies of nearly three megabytes cost that are wrong in as many ways as possible: bytes of
// the answer, CPU, and how much more memory the server takes meanwhile. One at a time.
apiserver::Status RunHostile(ServerUnderTest& server, Report& report);

}  // namespace bench
