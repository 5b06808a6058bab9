#pragma once

#include "apiserver/base/status.h"
#include "bench/report.h"

namespace bench {

// RBAC decisions in process: 10,000 bindings, 200 roles of 50 rules, 1,000 users, and the same with
// a tenth of the bindings, because a decision must not grow with those of others.
apiserver::Status RunRbac(Report& report);

}  // namespace bench
