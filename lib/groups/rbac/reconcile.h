#pragma once

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "groups/rbac/bootstrap_policy.h"

// k8s.io/component-helpers/auth/rbac/reconciliation, the way that only adds.
namespace apiserver::inline v0::groups::rbac {

// Creates what is not there and adds what is missing: labels, annotations, rules, selectors,
// subjects. A binding to another role is made anew. Whatever has kAutoUpdate "false" stays as it
// is. The first error ends it; doing it again does no harm.
Status Reconcile(client::Client& client, const Context& ctx);

}  // namespace apiserver::inline v0::groups::rbac
