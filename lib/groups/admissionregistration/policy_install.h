#pragma once

#include <memory>

#include "admission/policy/expression.h"
#include "apiserver/admission/policy.h"
#include "apiserver/auth/authorizer.h"
#include "apiserver/base/log.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/server.h"

namespace apiserver::inline v0::groups::admissionregistration {

// The policies that a server has.
struct PolicyResources {
  registry::StorageConfig storage;
  // The sources to keep up to date. Null: the kinds of that type are not served, since nothing
  // would enforce them.
  std::shared_ptr<admission::Policies> mutating = nullptr;
  std::shared_ptr<admission::Policies> validating = nullptr;
  // Serves the mutating kinds in v1beta1 too.
  bool v1beta1 = false;
  // Decides if the writer of a policy may read its parameters. Null: every writer may.
  std::shared_ptr<const auth::Authorizer> authorizer = nullptr;
  admission::policy::NewExpressionChecker new_checker = nullptr;  // Required with a source.
  // Writes warnings about types into the status of validating policies.
  bool check_types = false;
  LogSink* log = &NullLogSink();
};

// Serves the kinds of the sources, and follows their objects from the start of the server to its
// stop.
Status InstallPolicies(server::GenericAPIServer& server, const PolicyResources& resources);

}  // namespace apiserver::inline v0::groups::admissionregistration
