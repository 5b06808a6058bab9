#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/authz/config_file.h"
#include "apiserver/authz/rbac.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/status.h"
#include "apiserver/options/environment.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/server/server.h"

// k8s.io/apiserver/pkg/server/options/authorization.go, and of kube-apiserver
// k8s.io/kubernetes/pkg/kubeapiserver/options/authorization.go.
namespace apiserver::inline v0::options {

// The objects that ApplyTo makes. They must outlive the configuration and the server.
struct Authorization {
  // First, so that it goes last: files are read and webhooks answered there.
  std::unique_ptr<ThreadPool> executor = nullptr;
  std::unique_ptr<authz::AuthorizationConfigFile> file = nullptr;
  // The authorizer by roles and bindings, which groups::rbac::Install fills. Null: there is none.
  std::shared_ptr<authz::rbac::RbacAuthorizer> rbac = nullptr;
  // Lists the rules of a user, as far as they can be listed. Null: they cannot.
  std::shared_ptr<const auth::RuleResolver> rules = nullptr;
  // Equals config.authorizer. Null: every authenticated user is allowed everything.
  std::shared_ptr<const auth::Authorizer> authorizer = nullptr;
};

// Authorization by a file, by roles of the server's own, or by a cluster that is asked.
struct AuthorizationOptions {
  using Paths = std::vector<std::string>;

  // --authorization-config: an AuthorizationConfiguration. Empty: the mode says it, or the cluster.
  std::string config_file = {};
  // --authorization-mode of a standalone server: "RBAC" or "AlwaysAllow". Upstream's default is
  // AlwaysAllow.
  std::string mode = "RBAC";
  // --authorization-kubeconfig: the cluster that is asked; empty: the pod's.
  std::string kubeconfig_file = {};
  // --authorization-webhook-cache-authorized-ttl, -unauthorized-ttl: how long the cluster's answers
  // hold.
  std::chrono::milliseconds authorized_ttl = std::chrono::seconds(10);
  std::chrono::milliseconds unauthorized_ttl = std::chrono::seconds(10);
  // --authorization-always-allow-paths: paths that every authenticated user may read; a trailing
  // '*' makes a prefix. nullopt: /healthz, /readyz and /livez if the server asks a cluster, else
  // none.
  std::optional<Paths> always_allow_paths = std::nullopt;

  // Set by AddFlags: the flags of a standalone server only, and of one that asks a cluster only.
  Flags of_standalone = {};
  Flags of_cluster = {};

  // Adds the flags. The options must outlive the reading of the command line.
  void AddFlags(FlagSet& flags);
  // Returns a line for each mistake, which names a flag and the remedy. `standalone`: as in
  // Environment.
  std::vector<std::string> Validate(bool standalone) const;
  // Sets the authorizer, and the metrics if there are none. kInvalid: a file cannot be used, or
  // there is no cluster to ask; the message names the flag.
  Result<Authorization> ApplyTo(server::Config& config, const Environment& environment) const;
};

}  // namespace apiserver::inline v0::options
