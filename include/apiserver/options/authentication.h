#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/status.h"
#include "apiserver/delegation/delegated_authentication.h"
#include "apiserver/options/environment.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/server/server.h"

// k8s.io/apiserver/pkg/server/options/authentication.go.
namespace apiserver::inline v0::options {

// Authentication left to a cluster or to front proxies. A standalone server asks no cluster, but
// may have front proxies, and then only if it has a file of their authorities.
struct DelegatingAuthenticationOptions {
  // The fields of the flags --authentication-* and --requestheader-*, and of --client-ca-file, with
  // upstream's defaults. ApplyTo sets what a server has of its own: executor, log, metrics,
  // clients.
  delegation::DelegatedAuthenticationOptions values = {};

  // Set by AddFlags: the flags that a standalone server refuses, and those about front proxies.
  Flags of_cluster = {};
  Flags of_proxies = {};

  // Adds the flags. The options must outlive the reading of the command line.
  void AddFlags(FlagSet& flags);
  // Returns a line for each mistake, which names a flag and the remedy. `standalone`: as in
  // Environment.
  std::vector<std::string> Validate(bool standalone) const;
  // Sets the authenticator; for a standalone server it is asked before the one that `config` has.
  // Calls the cluster, so it blocks. Returns the threads that the authenticator needs, which must
  // outlive `config` and the server. Null: it needs none. Errors are those of
  // delegation::NewDelegatedAuthentication.
  Result<std::unique_ptr<ThreadPool>> ApplyTo(server::Config& config,
                                              const Environment& environment) const;
};

}  // namespace apiserver::inline v0::options
