#pragma once

#include "apiserver/base/status.h"
#include "bench/report.h"
#include "bench/server_under_test.h"

// Workloads over 100,000 objects.
namespace bench {

// Selective lists; W5 is any revision and 1 % of the objects.
apiserver::Status RunW5(ServerUnderTest& server, Report& report);
// Whole walks page by page; an operation is a page.
apiserver::Status RunW6(ServerUnderTest& server, Report& report);
// From exec to ready, and what memory is held.
apiserver::Status RunW13(ServerUnderTest& server, Report& report);
apiserver::Status RunW13OverEtcd(ServerUnderTest& server, Report& report);

}  // namespace bench
