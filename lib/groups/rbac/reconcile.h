#pragma once

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "groups/rbac/bootstrap_policy.h"

// Follows k8s.io/component-helpers/auth/rbac/reconciliation, in the mode that only adds.
namespace apiserver::inline v0::groups::rbac {

// Creates missing objects and adds missing parts: labels, annotations, rules, selectors, subjects.
// A binding to another role is made anew. An object with kAutoUpdate "false" is left unchanged. The
// first error ends it; it can be repeated. `namespaces`: the server serves namespaces, so that
// kube-system and kube-public and the objects in them are made, too.
Status Reconcile(client::Client& client, const Context& ctx, bool namespaces);

}  // namespace apiserver::inline v0::groups::rbac
