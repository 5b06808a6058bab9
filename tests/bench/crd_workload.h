#pragma once

#include "bench/report.h"
#include "bench/server_under_test.h"

namespace bench {

// W14: a thousand and ten thousand CustomResourceDefinitions, which are those of
// tests/testdata/crds in groups of other names; small kinds beside them, in turns with a second
// server that has none.
apiserver::Status RunW14(const StartServer& start, Report& report);
apiserver::Status RunW14Large(const StartServer& start, Report& report);
// The same on somebody else's server, without a second one.
apiserver::Status RunW14On(ServerUnderTest& server, Report& report);
apiserver::Status RunW14LargeOn(ServerUnderTest& server, Report& report);

}  // namespace bench
