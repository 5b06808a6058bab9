#include "authn/id_token.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "apiserver/base/field_path.h"
#include "authn/claims.h"
#include "authn/distributed_claims.h"
#include "base/status_macros.h"
#include "text/quote.h"

namespace apiserver::v0::authn {
namespace {

// How far in the future `nbf` may be, as with other providers of OpenID Connect.
constexpr std::int64_t kNotBeforeLeewaySeconds = 300;

Status Refused(std::string_view refusal, const std::string& why) {
  return Status(Reason::kUnauthorized, std::string(refusal) + why);
}

// Returns why the audiences do not match; empty: they do.
std::string AudienceProblem(const std::vector<std::string>& wanted, runtime::Value claims) {
  const auto found = AudienceOf(claims);
  if (!found) return "oidc: failed to unmarshal claims: aud is no list of texts";
  for (const std::string& audience : *found) {
    if (std::ranges::find(wanted, audience) != wanted.end()) return "";
  }
  if (wanted.size() == 1) {
    return "oidc: expected audience " + field::Quote(wanted.front()) + " got " +
           text::QuoteAll(*found);
  }
  std::vector<std::string> sorted = wanted;
  std::ranges::sort(sorted);
  return "oidc: expected audience in " + text::QuoteAll(sorted) + " got " + text::QuoteAll(*found);
}

// Returns why the token is not valid now; empty: it is.
std::string TimeProblem(const Clock& clock, runtime::Value claims) {
  const auto wall = clock.WallNow().time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(wall);
  const std::int64_t now = seconds.count();
  const auto expires = NumericDate(claims["exp"]);
  if (!expires) return "oidc: failed to unmarshal claims: exp is no time";
  // In the second of its expiry the token is still valid, as in Go.
  if (*expires < now || (*expires == now && wall != seconds)) {
    return "oidc: token is expired (Token Expiry: " + GoTimeText(*expires) + ")";
  }
  if (claims.Find("nbf") == nullptr || claims["nbf"].is_null()) return "";
  const auto begins = NumericDate(claims["nbf"]);
  if (!begins) return "oidc: failed to unmarshal claims: nbf is no time";
  if (now + kNotBeforeLeewaySeconds >= *begins) return "";
  return "oidc: current time " + GoTimeText(now) +
         " before the nbf (not before) time: " + GoTimeText(*begins);
}

}  // namespace

Status CheckIdToken(const IdTokenRules& rules, const Jwt& jwt, std::string_view refusal) {
  std::string problem = ClaimSourcesProblem(jwt.claims);
  if (problem.empty()) problem = AudienceProblem(rules.audiences, jwt.claims);
  if (problem.empty()) problem = TimeProblem(*rules.clock, jwt.claims);
  return problem.empty() ? Status() : Refused(refusal, problem);
}

Status CheckIdTokenSignature(const Context& ctx, const IdTokenRules& rules, const Jwt& jwt,
                             const IssuerKeys& keys, std::string_view refusal) {
  if (std::ranges::find(rules.algorithms, jwt.algorithm) == rules.algorithms.end()) {
    return Refused(refusal,
                   "oidc: " + std::string(VerifySignature(jwt, rules.algorithms, {}).message()));
  }
  // Tries the known keys first, so that a valid token costs no call.
  if (const JwkSetPtr known = keys.Known()) {
    if (VerifySignature(jwt, rules.algorithms, known->keys).ok()) return {};
  }
  // The issuer may have new keys, also under an old name.
  ASSIGN_OR_RETURN(const JwkSetPtr newer, keys.Newer(ctx));
  const Status verified = VerifySignature(jwt, rules.algorithms, newer->keys);
  return verified.ok() ? verified : Refused(refusal, std::string(verified.message()));
}

}  // namespace apiserver::v0::authn
