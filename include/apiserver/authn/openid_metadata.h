#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"

// The discovery documents of an issuer of service accounts' tokens, by which other programs verify
// them: k8s.io/kubernetes/pkg/serviceaccount/openidmetadata.go.
namespace apiserver::inline v0::authn {

inline constexpr std::string_view kOpenIDConfigPath = "/.well-known/openid-configuration";
inline constexpr std::string_view kJWKSPath = "/openid/v1/jwks";

// Options of NewOpenIDMetadata().
struct OpenIDMetadataOptions {
  // Required. An https URL without query and fragment.
  std::string issuer;
  // The URL of the keys. Empty: kJWKSPath of `external_address`, "host:port".
  std::string jwks_uri = {};
  std::string external_address = {};
  // Required. As ServiceAccountTokenOptions::keys; of private keys only the public halves are
  // published.
  std::string keys;
};

// Both documents, as they are served.
struct OpenIDMetadata {
  std::string config_json;  // application/json
  std::string keyset_json;  // application/jwk-set+json
};

// Makes the documents. kInvalid: URLs that OpenID Connect Discovery does not allow, or keys that
// cannot be used.
Result<OpenIDMetadata> NewOpenIDMetadata(const OpenIDMetadataOptions& options);

// Checks --service-account-jwks-uri. kInvalid, in kube-apiserver's words: no https URL.
Status CheckJwksUri(std::string_view uri);
// Checks --service-account-issuer. kInvalid, in kube-apiserver's words: empty, or it has a colon
// and is no URL.
Status CheckServiceAccountIssuer(std::string_view issuer);

}  // namespace apiserver::inline v0::authn
