#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/status.h"
#include "apiserver/options/admission.h"
#include "apiserver/options/audit.h"
#include "apiserver/options/authentication.h"
#include "apiserver/options/authorization.h"
#include "apiserver/options/built_in_authentication.h"
#include "apiserver/options/core_api.h"
#include "apiserver/options/environment.h"
#include "apiserver/options/etcd.h"
#include "apiserver/options/feature.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/options/secure_serving.h"
#include "apiserver/options/server_run.h"
#include "apiserver/options/tracing.h"
#include "apiserver/server/server.h"

// k8s.io/apiserver/pkg/server/options/recommended.go.
namespace apiserver::inline v0::options {

// The objects that ApplyTo makes. They must outlive the configuration and the server.
struct Recommended {
  // First, so that it goes last: delegated authentication waits there. Null: there is none.
  std::unique_ptr<ThreadPool> delegation = nullptr;
  BuiltInAuthentication authentication = {};
  Authorization authorization = {};
  CoreApi core_api = {};
  Admission admission = {};
};

// All groups of flags of a server, which is standalone or belongs to a cluster. Beside the groups
// of upstream's RecommendedOptions it has those of a server that knows its own users and roles.
struct RecommendedOptions {
  bool standalone = true;  // --standalone, --no-standalone: as in Environment.
  SecureServingOptions secure_serving = {};
  EtcdOptions etcd = {};
  ServerRunOptions server_run = {};
  FeatureOptions features = {};
  AuditOptions audit = {};
  TracingOptions tracing = {};
  DelegatingAuthenticationOptions authentication = {};
  BuiltInAuthenticationOptions built_in_authentication = {};
  AuthorizationOptions authorization = {};
  CoreApiOptions core_api = {};
  AdmissionOptions admission = {};

  // Adds the flags of all groups. The options must outlive the reading of the command line.
  void AddFlags(FlagSet& flags);
  // Returns the mistakes of all groups, each in a line that names a flag and the remedy.
  std::vector<std::string> Validate() const;
  // Applies all groups, except for the values that NewStandalone and the stores take. `config` must
  // have the authenticator of a standalone server's administrator and the program's admission
  // plugins. May block. `standalone` replaces that of `environment`. `made` must outlive `config`,
  // which may refer to it even after an error. Errors are those of the groups.
  Status ApplyTo(server::Config& config, Environment environment, Recommended& made) const;
};

}  // namespace apiserver::inline v0::options
