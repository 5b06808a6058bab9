#pragma once

#include <string>
#include <string_view>

#include "apiserver/runtime/names.h"

// What the doctor tells people to apply; a YAML document each, for the user that the cluster takes
// the server for.
namespace apiserver::inline v0::delegation {

struct ServiceReference {
  std::string name;
  std::string namespace_;
};

// Lets `user` read kube-system/extension-apiserver-authentication.
std::string AuthenticationReaderYaml(std::string_view user);
// Lets `user` ask for TokenReviews and SubjectAccessReviews.
std::string AuthDelegatorYaml(std::string_view user);
// Has the cluster's aggregator ask the service; `ca_pem` is what it verifies the server with.
std::string ApiServiceYaml(const runtime::GroupVersion& group_version,
                           const ServiceReference& service, std::string_view ca_pem);

}  // namespace apiserver::inline v0::delegation
