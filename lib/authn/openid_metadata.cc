#include "apiserver/authn/openid_metadata.h"

#include <set>
#include <utility>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"
#include "authn/signature_key.h"
#include "base/from_text.h"
#include "base/status_macros.h"
#include "text/go_url.h"

namespace apiserver::v0::authn {
namespace {

Status BadMetadata(std::string why) { return Status(Reason::kInvalid, std::move(why)); }

Status CheckIssuerUrl(const std::string& issuer) {
  if (issuer.empty()) return BadMetadata("empty issuer URL");
  ASSIGN_OR_RETURN(const text::GoUrl url, FromText(text::ParseGoUrl(issuer), Reason::kInvalid));
  if (url.scheme != "https") {
    return BadMetadata("issuer URL must use https scheme, got: " + issuer);
  }
  if (!url.raw_query.empty()) {
    return BadMetadata("issuer URL may not include a query, got: " + issuer);
  }
  if (!url.fragment.empty()) {
    return BadMetadata("issuer URL may not include a fragment, got: " + issuer);
  }
  return {};
}

// The flag wins over the external address, as in Go's NewOpenIDMetadata.
Result<std::string> JwksUriOf(const OpenIDMetadataOptions& options) {
  if (!options.jwks_uri.empty()) {
    ASSIGN_OR_RETURN(const text::GoUrl url,
                     FromText(text::ParseGoUrl(options.jwks_uri), Reason::kInvalid));
    if (url.scheme == "https") return options.jwks_uri;
    return BadMetadata("jwksURI requires https scheme, parsed as: " + url.String());
  }
  const std::string& address = options.external_address;
  if (address.empty()) {
    return BadMetadata("either the JWKS URI or the default external address, or both, must be set");
  }
  const text::GoUrl wanted{.scheme = "https", .host = address, .path = std::string(kJWKSPath)};
  std::string uri = wanted.String();
  const text::Read<text::GoUrl> url = text::ParseGoUrl(uri);
  // Special characters of the address would end up in another part of the URL.
  if (url.ok() && url->host == wanted.host && url->path == wanted.path) return uri;
  return BadMetadata(
      "attempted to build jwks_uri from external address " + address +
      ", but could not construct a valid URL. Error: " +
      (url.ok() ? "got " + url->String() + ", expected " + uri : url.error().message()));
}

// Returns the algorithm that Kubernetes uses with such a key.
Result<std::string_view> AlgorithmOf(KeyType type) {
  switch (type) {
    case KeyType::kRsa:
      return "RS256";
    case KeyType::kP256:
      return "ES256";
    case KeyType::kP384:
      return "ES384";
    case KeyType::kP521:
      return "ES512";
    case KeyType::kEd25519:
      break;
  }
  return BadMetadata("keys of service accounts must be RSA or EC");
}

void AddMember(std::string_view name, std::string_view value, std::string& json) {
  if (value.empty()) return;
  if (json.back() != '{') json += ',';
  codec::AppendJsonString(name, json);
  json += ':';
  codec::AppendJsonString(value, json);
}

// Writes the members in the order of go-jose.
std::string JwkJson(const VerificationKey& key, std::string_view algorithm) {
  const VerificationKey::Jwk jwk = key.ToJwk();
  std::string json = "{";
  AddMember("use", "sig", json);
  AddMember("kty", jwk.kty, json);
  AddMember("kid", key.KeyId(), json);
  AddMember("crv", jwk.crv, json);
  AddMember("alg", algorithm, json);
  AddMember("x", jwk.x, json);
  AddMember("y", jwk.y, json);
  AddMember("n", jwk.n, json);
  AddMember("e", jwk.e, json);
  return json + "}";
}

std::string ConfigJson(const std::string& issuer, const std::string& jwks_uri,
                       const std::set<std::string_view>& algorithms) {
  std::string json = "{";
  AddMember("issuer", issuer, json);
  AddMember("jwks_uri", jwks_uri, json);
  json += R"(,"response_types_supported":["id_token"],"subject_types_supported":["public"],)"
          R"("id_token_signing_alg_values_supported":[)";
  for (const std::string_view algorithm : algorithms) {
    if (json.back() != '[') json += ',';
    codec::AppendJsonString(algorithm, json);
  }
  return json + "]}";
}

}  // namespace

Result<OpenIDMetadata> NewOpenIDMetadata(const OpenIDMetadataOptions& options) {
  RETURN_IF_ERROR(CheckIssuerUrl(options.issuer));
  ASSIGN_OR_RETURN(const std::string jwks_uri, JwksUriOf(options));
  ASSIGN_OR_RETURN(const std::vector<VerificationKey> keys, ReadPublicKeys(options.keys));
  OpenIDMetadata metadata{.config_json = "", .keyset_json = "{\"keys\":["};
  std::set<std::string_view> algorithms;
  for (const VerificationKey& key : keys) {
    ASSIGN_OR_RETURN(const std::string_view algorithm, AlgorithmOf(key.type()));
    algorithms.insert(algorithm);
    if (metadata.keyset_json.back() != '[') metadata.keyset_json += ',';
    metadata.keyset_json += JwkJson(key, algorithm);
  }
  metadata.keyset_json += "]}";
  metadata.config_json = ConfigJson(options.issuer, jwks_uri, algorithms);
  return metadata;
}

Status CheckJwksUri(std::string_view uri) {
  const text::Read<text::GoUrl> url = text::ParseGoUrl(uri);
  if (!url.ok()) {
    return BadMetadata("service-account-jwks-uri must be a valid URL: " + url.error().message());
  }
  if (url->scheme == "https") return {};
  return BadMetadata("service-account-jwks-uri requires https scheme, parsed as: " + url->String());
}

Status CheckServiceAccountIssuer(std::string_view issuer) {
  if (issuer.empty()) {
    return BadMetadata("service-account-issuer should not be an empty string");
  }
  if (issuer.find(':') == std::string_view::npos) return {};
  const text::Read<text::GoUrl> url = text::ParseGoUrl(issuer);
  if (url.ok()) return {};
  return BadMetadata("service-account-issuer " + field::Quote(issuer) +
                     " contained a ':' but was not a valid URL: " + url.error().message());
}

}  // namespace apiserver::v0::authn
