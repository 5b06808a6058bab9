#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apiserver/runtime/names.h"

// The manifests that the doctor recommends; a YAML document each, for the user that the cluster
// takes the server for.
namespace apiserver::inline v0::delegation {

struct ServiceReference {
  std::string name;
  std::string namespace_;
};

// Returns the RoleBinding that lets `user` read kube-system/extension-apiserver-authentication.
std::string AuthenticationReaderYaml(std::string_view user);
// Returns the ClusterRoleBinding that lets `user` create TokenReviews and SubjectAccessReviews.
std::string AuthDelegatorYaml(std::string_view user);
// Returns the ClusterRole that allows to follow what admission obeys, and the ClusterRoleBinding
// that gives it to `user`.
std::string FollowerYaml(std::string_view user, std::span<const runtime::GroupResource> followed);
// Returns the APIService that makes the cluster's aggregator call the service; it verifies the
// server with `ca_pem`.
std::string ApiServiceYaml(const runtime::GroupVersion& group_version,
                           const ServiceReference& service, std::string_view ca_pem);

}  // namespace apiserver::inline v0::delegation
