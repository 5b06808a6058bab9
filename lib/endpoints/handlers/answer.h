#pragma once

#include "endpoints/handlers/scope.h"

namespace apiserver::inline v0::endpoints {

// Answers a write that has ended on a thread of the storage with `object`: on the loop if it is
// encoded already, else on the pool, where host code may run.
void Answer(const ScopePtr& scope, http::Exchange& exchange, const rest::UpdateResult& written,
            http::Resume resume);

}  // namespace apiserver::inline v0::endpoints
