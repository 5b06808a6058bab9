#pragma once

#include "apiserver/base/status.h"
#include "bench/report.h"
#include "bench/server_under_test.h"

// Lists of 10,000 in forms that are not spliced from what is stored, and a canary beside each: GETs
// of one object over a connection of its own.
namespace bench {

// Tables, YAML, pretty JSON, partial metadata.
apiserver::Status RunW4(ServerUnderTest& server, Report& report);
// Protobuf, of a kind that has it.
apiserver::Status RunW4Protobuf(const StartServer& start, Report& report);

}  // namespace bench
