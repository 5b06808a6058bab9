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
// --tracing-config-file.
std::unique_ptr<Part> NewTracing();
// --enable-admission-plugins, --disable-admission-plugins, --admission-control-config-file;
// webhooks, and the group that tells of them.
std::unique_ptr<Part> NewAdmission();
// Max in flight or priority and fairness, and the group that configures it.
std::unique_ptr<Part> NewFlowControl();

// --token-auth-file, --authentication-config, --anonymous-auth, --api-audiences,
// --service-account-*, --enable-bootstrap-token-auth; serves reviews of tokens and of oneself, and
// the Secrets and ServiceAccounts that tokens are checked against.
std::unique_ptr<Part> NewAuthentication();

// --authorization-*; serves roles, bindings and access reviews.
std::unique_ptr<Part> NewAuthorization();

// --authentication-*: with --no-standalone a cluster knows who somebody is. --requestheader-*:
// front proxies, which a standalone server may have too.
std::unique_ptr<Part> NewDelegation();

}  // namespace sample
