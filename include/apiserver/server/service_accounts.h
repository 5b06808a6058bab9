#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/authn/openid_metadata.h"
#include "apiserver/authn/service_account_token.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"
#include "apiserver/server/server.h"

// Authentication by the server's own service account tokens, as the flags of kube-apiserver set it
// up: k8s.io/kubernetes/pkg/kubeapiserver/options, ServiceAccountAuthenticationOptions.
namespace apiserver::inline v0::server {

// The flags, and the parts of the server that are used with them.
struct ServiceAccountOptions {
  // --service-account-key-file: PEM; public or private keys, RSA or EC. Read once.
  std::vector<std::string> key_files = {};
  // --service-account-issuer: the metadata name the first one. Tokens of the legacy issuer, kept in
  // Secrets, are accepted too.
  std::vector<std::string> issuers = {};
  // --api-audiences. Empty: the issuers.
  std::vector<std::string> api_audiences = {};
  // --service-account-lookup: a token is valid only as long as its objects exist.
  bool lookup = true;
  // Required with `lookup`: groups::TokenObjects.
  std::shared_ptr<const authn::ServiceAccountTokenGetter> getter = nullptr;
  // --service-account-jwks-uri. Empty: a URI at the external address.
  std::string jwks_uri = {};
  FileSystem* file_system = &RealFileSystem();
  const Clock* clock = &RealClock();
  // See authn::ServiceAccountTokenOptions.
  std::shared_ptr<metrics::Registry> metrics = nullptr;
};

// Returns the errors in the flags, a line each in kube-apiserver's words. No file is read.
std::vector<std::string> ValidateServiceAccountOptions(const ServiceAccountOptions& options);

// The authenticator, and the values that its options amount to.
struct ServiceAccountAuthentication {
  std::shared_ptr<const auth::TokenAuthenticator> tokens;
  std::vector<std::string> api_audiences;  // The value for Config::api_audiences.
  std::string issuer;
  std::string jwks_uri;
  std::string keys;  // The PEM text of all files.

  // Returns the metadata of an issuer that is an https URL. kInvalid: the issuer is none, or the
  // address is no "host:port"; such a server has no metadata, and works all the same.
  // `external_address` is the one at which clients reach the server; not needed with a jwks_uri.
  Result<authn::OpenIDMetadata> Metadata(const std::string& external_address) const;
};

// Makes the authenticator. kInvalid, one line: the first error of ValidateServiceAccountOptions, or
// a file with its flag.
Result<ServiceAccountAuthentication> NewServiceAccountAuthentication(
    const ServiceAccountOptions& options);

// Serves both documents to authorized clients, which caches may keep for an hour. RBAC's built-in
// ClusterRole system:service-account-issuer-discovery lets service accounts read them. kConflict:
// the paths are taken.
Status ServeOpenIDMetadata(GenericAPIServer& server, const authn::OpenIDMetadata& metadata);

}  // namespace apiserver::inline v0::server
