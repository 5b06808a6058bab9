#pragma once

#include <memory>

#include "part.h"

namespace sample {

// --request-timeout, --min-request-timeout, --feature-gates.
std::unique_ptr<Part> NewServerRun();

}  // namespace sample
