#pragma once

#include <memory>
#include <string>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/metrics.h"

// Metrics of authorizers: k8s.io/apiserver/pkg/authorization/metrics.
namespace apiserver::inline v0::authz {

// Wraps `authorizer` and counts its decisions to allow and deny in
// apiserver_authorization_decisions_total{type,name,decision}; no opinion is no decision.
// `registry` outlives it.
std::unique_ptr<auth::Authorizer> NewInstrumented(
    std::string type, std::string name, std::shared_ptr<const auth::Authorizer> authorizer,
    metrics::Registry& registry);

}  // namespace apiserver::inline v0::authz
