#pragma once

#include "bench/report.h"
#include "bench/server_under_test.h"

namespace bench {

// W14: a thousand and ten thousand CustomResourceDefinitions, which are those of
// tests/testdata/crds in groups of other names.
apiserver::Status RunW14(ServerUnderTest& server, Report& report);
apiserver::Status RunW14Large(ServerUnderTest& server, Report& report);

}  // namespace bench
