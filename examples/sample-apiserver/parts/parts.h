#pragma once

#include <memory>

#include "part.h"

namespace sample {

// --audit-*.
std::unique_ptr<Part> NewAudit();
// options::ServerRunOptions and FeatureOptions, and the group that configures flow control.
std::unique_ptr<Part> NewServerRun();
// --tracing-config-file.
std::unique_ptr<Part> NewTracing();
// --enable-admission-plugins, --disable-admission-plugins, --admission-control-config-file;
// webhooks, and the group that tells of them.
std::unique_ptr<Part> NewAdmission();

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
