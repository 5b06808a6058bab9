#pragma once

#include "apiserver/base/status.h"
#include "bench/report.h"
#include "bench/server_under_test.h"

namespace bench {

// Updates of objects of 16 KiB: PUT, JSON patch, merge patch, apply by two managers.
apiserver::Status RunW9(ServerUnderTest& server, Report& report);

}  // namespace bench
