#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"

// What an issuer of service accounts' tokens says of itself, so that others can check them:
// k8s.io/kubernetes/pkg/serviceaccount/openidmetadata.go.
namespace apiserver::inline v0::authn {

inline constexpr std::string_view kOpenIDConfigPath = "/.well-known/openid-configuration";
inline constexpr std::string_view kJWKSPath = "/openid/v1/jwks";

struct OpenIDMetadataOptions {
  // Required. An https URL without query and fragment.
  std::string issuer;
  // Where the keys are; empty: kJWKSPath of `external_address`, "host:port".
  std::string jwks_uri = {};
  std::string external_address = {};
  // Required. As ServiceAccountTokenOptions::keys; of private keys only the public halves are told.
  std::string keys;
};

// Both documents, as they are served.
struct OpenIDMetadata {
  std::string config_json;  // application/json
  std::string keyset_json;  // application/jwk-set+json
};

// kInvalid: URLs that OpenID Connect Discovery does not allow, or keys that cannot be used.
Result<OpenIDMetadata> NewOpenIDMetadata(const OpenIDMetadataOptions& options);

// kInvalid, in kube-apiserver's words: no https URL. For --service-account-jwks-uri.
Status CheckJwksUri(std::string_view uri);
// kInvalid, in kube-apiserver's words: empty, or has a colon and is no URL. For
// --service-account-issuer.
Status CheckServiceAccountIssuer(std::string_view issuer);

}  // namespace apiserver::inline v0::authn
