#pragma once

#include <memory>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/authz/rbac.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/server/server.h"

// The group rbac.authorization.k8s.io, v1, as of Kubernetes 1.35: roles and their bindings.
namespace apiserver::inline v0::groups::rbac {

// Returns ClusterRole, ClusterRoleBinding, Role and RoleBinding; see core::Kinds().
Result<std::vector<runtime::KindPtr>> Kinds();

// The storage of the group, and the authorizers that use it.
struct Options {
  // Required. The storage of the objects.
  registry::StorageConfig storage;
  // Required. The server's RBAC authorizer, which is kept up to date with the objects.
  std::shared_ptr<authz::rbac::RbacAuthorizer> rbac;
  // Required. The server's whole authorizer: it is also asked whether a user may grant more than
  // the user's own rights (verbs `escalate` and `bind`).
  std::shared_ptr<const auth::Authorizer> authorizer;
  // If set, the default roles and bindings are created, and completed if parts are missing:
  // cluster-admin, admin, edit, view, system:discovery and so on. If the server serves namespaces,
  // also those of kube-system and kube-public: extension-apiserver-authentication-reader and so on.
  bool bootstrap = true;
  LogSink* log = &NullLogSink();  // Must outlive the server.
};

// Serves the group, and follows its objects from the start of the server on. Before Start.
//
//   std::shared_ptr<authz::rbac::RbacAuthorizer> rbac = authz::rbac::NewRbacAuthorizer();
//   config.authorizer = authz::NewUnion({authz::NewPrivilegedGroups({"system:masters"}), rbac});
//   …
//   RETURN_IF_ERROR(groups::rbac::Install(*server, {.storage = storage, .rbac = rbac,
//                                                   .authorizer = authorizer}));
//
// The post-start hook rbac/bootstrap-roles returns when `rbac` knows all objects; until then
// /readyz fails, and `rbac` allows nothing. Later changes are known within milliseconds. A user
// cannot create or change a role or binding that grants more than the user's own rights, except
// with the verbs `escalate` or `bind`, or in system:masters. A ClusterRole with an aggregationRule
// gets its rules from the server.
//
// kInvalid: something required is missing. kConflict: the server has the group already.
Status Install(server::GenericAPIServer& server, Options options);

}  // namespace apiserver::inline v0::groups::rbac
