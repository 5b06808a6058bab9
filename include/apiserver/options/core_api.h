#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/admission/namespaces.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "apiserver/http/dialer.h"
#include "apiserver/options/admission.h"
#include "apiserver/options/environment.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/runtime/names.h"
#include "apiserver/server/server.h"

// k8s.io/apiserver/pkg/server/options/coreapi.go: the cluster whose namespaces, webhooks and
// policies the admission of a server behind an aggregator obeys.
namespace apiserver::inline v0::options {

// The objects that ApplyTo makes. They must outlive the configuration and the server.
struct CoreApi {
  std::unique_ptr<http::Dialer> dialer = nullptr;
  // Null: no cluster is followed.
  std::shared_ptr<client::Client> client = nullptr;
  // Null: the cluster serves no namespaces.
  std::shared_ptr<admission::InformedNamespaces> namespaces = nullptr;
};

// The choice of the cluster.
struct CoreApiOptions {
  // The program calls FollowCluster(). False: there is no flag, and no cluster is followed.
  bool wanted = false;
  // --kubeconfig. Empty: the pod's cluster; outside of a pod none is followed.
  std::string kubeconfig_file = {};

  // Adds the flag. The options must outlive the reading of the command line.
  void AddFlags(FlagSet& flags);
  // Returns the mistakes, each in a line that names the flag and the remedy.
  std::vector<std::string> Validate(bool standalone) const;
  // Connects to the cluster, asks what it serves, and tells `admission`, before it is applied: its
  // namespaces are the cluster's, NamespaceLifecycle is its first plugin, and plugins whose objects
  // the cluster does not serve are left out. A standalone server, and one without a cluster,
  // changes nothing. May block. kInvalid: the kubeconfig cannot be used; kServiceUnavailable: the
  // cluster does not answer. The message names the flag.
  Result<CoreApi> ApplyTo(AdmissionOptions& admission, const Environment& environment) const;
};

// Returns the resources of the cluster that a server must be allowed to list and watch for that.
std::vector<runtime::GroupResource> FollowedResources();

// Lets the plugins of `admission` follow the cluster's objects from the start of `server` to its
// stop: instead of groups::admissionregistration::Install, for a CoreApi with a client. Until all
// objects are known, writes wait and /readyz fails. Before Start.
Status FollowCluster(server::GenericAPIServer& server, const CoreApi& cluster,
                     const Admission& admission);

}  // namespace apiserver::inline v0::options
