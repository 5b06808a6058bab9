#include <cstddef>
#include <cstdint>
#include <string_view>

#include "authn/distributed_claims.h"
#include "authn/jwt.h"
#include "require.h"
#include "text/base64.h"

// A token is refused with a reason or taken apart; nobody's key has signed one that was not signed.
namespace {

namespace authn = apiserver::authn;
using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view token(reinterpret_cast<const char*>(data), size);
  if (const auto bytes = apiserver::text::DecodeBase64Url(token)) {
    std::string text;
    apiserver::text::AppendBase64Url(*bytes, text);
    Require(text == token);
  }
  const std::string issuer = authn::UntrustedIssuer(token);
  const auto jwt = authn::ParseJwt(token);
  if (!jwt.ok()) {
    Require(jwt.status().reason() == apiserver::Reason::kUnauthorized);
    Require(!jwt.status().message().empty());
    return 0;
  }
  Require(size <= authn::kTokenBytesMax);
  Require(jwt->claims.is_map());
  Require(jwt->claims["iss"].AsString() == issuer);
  Require(!jwt->signature.empty());
  static_cast<void>(authn::AudienceOf(jwt->claims));
  static_cast<void>(authn::ClaimSourcesProblem(jwt->claims));
  for (const char* claim : {"exp", "nbf", "iat"}) {
    static_cast<void>(authn::NumericDate(jwt->claims[claim]));
  }
  // RFC 8037 A.2; the seeds hold nothing that it signed.
  static const auto key = authn::VerificationKey::Ed25519(
      *apiserver::text::DecodeBase64Url("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"));
  constexpr authn::SigningAlgorithm kAllowed[] = {authn::SigningAlgorithm::kEdDsa};
  const std::vector<authn::Jwk> known = {{*key, jwt->key_id}};
  Require(authn::HasKeyFor(*jwt, known));
  Require(!authn::VerifySignature(*jwt, kAllowed, known).ok());
  return 0;
}
