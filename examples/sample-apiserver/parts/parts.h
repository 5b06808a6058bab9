#pragma once

#include <memory>

#include "part.h"

namespace sample {

// --audit-*.
std::unique_ptr<Part> NewAudit();
// --request-timeout, --min-request-timeout, --feature-gates.
std::unique_ptr<Part> NewServerRun();

}  // namespace sample
