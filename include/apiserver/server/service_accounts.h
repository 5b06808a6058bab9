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

// Tokens of a server's own service accounts, as the flags of kube-apiserver set them up:
// k8s.io/kubernetes/pkg/kubeapiserver/options, ServiceAccountAuthenticationOptions.
namespace apiserver::inline v0::server {

struct ServiceAccountOptions {
  // --service-account-key-file: PEM; public or private keys, RSA or EC. Read once.
  std::vector<std::string> key_files = {};
  // --service-account-issuer: the first is the one that the metadata tell of. Tokens of the legacy
  // issuer, kept in Secrets, are known besides.
  std::vector<std::string> issuers = {};
  // --api-audiences; empty: the issuers.
  std::vector<std::string> api_audiences = {};
  // --service-account-lookup: a token is good only as long as its objects exist.
  bool lookup = true;
  // Required with `lookup`: groups::TokenObjects.
  std::shared_ptr<const authn::ServiceAccountTokenGetter> getter = nullptr;
  // --service-account-jwks-uri; empty: of the external address.
  std::string jwks_uri = {};
  FileSystem* file_system = &RealFileSystem();
  const Clock* clock = &RealClock();
};

// What is wrong with the flags, a line each in kube-apiserver's words. No file is read.
std::vector<std::string> ValidateServiceAccountOptions(const ServiceAccountOptions& options);

struct ServiceAccountAuthentication {
  std::shared_ptr<const auth::TokenAuthenticator> tokens;
  std::vector<std::string> api_audiences;  // For Config::api_audiences.
  std::string issuer;
  std::string jwks_uri;
  std::string keys;  // PEM of all files.

  // For an issuer that is an https URL; else, or for an address that is no "host:port", kInvalid:
  // such a server has no metadata, and works all the same. `external_address` is where clients
  // reach the server; not needed with a jwks_uri.
  Result<authn::OpenIDMetadata> Metadata(const std::string& external_address) const;
};

// kInvalid, one line: what ValidateServiceAccountOptions finds first, or a file with its flag.
Result<ServiceAccountAuthentication> NewServiceAccountAuthentication(
    const ServiceAccountOptions& options);

// Serves both documents to whoever may read them, which the ClusterRole
// system:service-account-issuer-discovery of RBAC's built-in policy lets service accounts; caches
// may keep them for an hour. kConflict: the paths are taken.
Status ServeOpenIDMetadata(GenericAPIServer& server, const authn::OpenIDMetadata& metadata);

}  // namespace apiserver::inline v0::server
