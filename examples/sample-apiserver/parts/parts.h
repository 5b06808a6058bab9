#pragma once

#include <memory>

#include "part.h"

namespace sample {

// --audit-*.
std::unique_ptr<Part> NewAudit();
// --request-timeout, --min-request-timeout, --feature-gates.
std::unique_ptr<Part> NewServerRun();
// --goaway-chance, --cors-allowed-origins, --strict-transport-security-directives,
// --livez-grace-period, --shutdown-*.
std::unique_ptr<Part> NewOperations();

// --authorization-mode; serves roles, bindings and access reviews.
std::unique_ptr<Part> NewAuthorization();

}  // namespace sample
