#pragma once

#include "apiserver/base/status.h"
#include "bench/report.h"

namespace bench {

// A thousand resources are added to a server in this process and removed again, while clients read
// and watch: what each costs, what a write costs beside them, and what memory is left.
apiserver::Status RunRoutes(Report& report);

}  // namespace bench
