#include "authn/distributed_claims.h"

#include <algorithm>
#include <utility>

#include "apiserver/base/field_path.h"
#include "auth/config_hash.h"
#include "authn/called_url.h"
#include "authn/claims.h"
#include "base/status_macros.h"
#include "text/go_url.h"

namespace apiserver::v0::authn {
namespace {

using runtime::Value;

constexpr std::string_view kRefused = "oidc: could not expand distributed claims: ";
constexpr std::size_t kEndpointBytesMax = 4096;

Status NotExpanded(const std::string& why) {
  return Status(Reason::kUnauthorized, std::string(kRefused) + why);
}

// Describes an error as one of distributed claims, except for kWouldBlock.
Status AsNotExpanded(const Status& why, const std::string& before = "") {
  if (why.reason() == Reason::kWouldBlock) return why;
  return NotExpanded(before + std::string(why.message()));
}

// Removes `url` from the message of a client, which may repeat it.
std::string WithoutUrl(std::string message, const std::string& url) {
  const std::string shown = ShownUrl(url);
  if (shown == url) return message;
  for (std::size_t at = message.find(url); at != std::string::npos; at = message.find(url, at)) {
    message.replace(at, url.size(), shown);
    at += shown.size();
  }
  return message;
}

// Returns why no claim may be fetched from `url`; empty: it may.
std::string EndpointProblem(const std::string& url, const std::string& access_token) {
  if (url.size() > kEndpointBytesMax) return "the endpoint's URL is too long";
  // An attacker on the network could read the access token, and forge the response.
  std::string problem = CalledUrlProblem("the endpoint", url);
  if (!problem.empty()) return problem;
  const bool visible =
      std::ranges::all_of(access_token, [](char c) { return c > 0x20 && c < 0x7F; });
  if (visible) return "";
  return "the access token for the endpoint " + field::Quote(ShownUrl(url)) + " is no bearer token";
}

// Checks the fields that go-oidc unmarshals.
std::string SourceProblem(Value source) {
  if (source.is_null()) return "";
  if (!source.is_map()) return "_claim_sources holds no objects";
  for (const char* name : {"endpoint", "access_token"}) {
    const Value field = source[name];
    if (!field.is_null() && !field.is_string()) return std::string(name) + " is no text";
  }
  return "";
}

Result<std::string> BodyOfClaim(Result<http::ClientResponse> answer, const std::string& url) {
  if (!answer.ok()) {
    return Status(Reason::kUnauthorized,
                  "Get " + field::Quote(ShownUrl(url)) + ": " +
                      WithoutUrl(std::string(answer.status().message()), url));
  }
  // Upstream accepts 200 (OK) to 226 (IM Used).
  if (answer->code < 200 || answer->code > 226) {
    return Status(Reason::kUnauthorized,
                  "error while getting distributed claim JWT: " + std::to_string(answer->code));
  }
  return std::move(answer->body);
}

}  // namespace

std::string ClaimSourcesProblem(Value claims) {
  const std::string unmarshal = "oidc: failed to unmarshal claims: ";
  const Value names = claims["_claim_names"];
  const Value sources = claims["_claim_sources"];
  if (!names.is_null() && !names.is_map()) return unmarshal + "_claim_names is no object";
  if (!sources.is_null() && !sources.is_map()) return unmarshal + "_claim_sources is no object";
  for (const runtime::Member& source : sources.members()) {
    const std::string problem = SourceProblem(source.value);
    if (!problem.empty()) return unmarshal + problem;
  }
  for (const runtime::Member& name : names.members()) {
    if (!name.value.is_null() && !name.value.is_string()) {
      return unmarshal + "_claim_names holds no texts";
    }
    const std::string_view source = name.value.AsString();
    if (source.empty()) return "oidc: failed to obtain source from claim name";
    if (sources.Find(source) == nullptr) return "oidc: source does not exist";
  }
  return "";
}

DistributedClaims::DistributedClaims(DistributedClaimsOptions options)
    : options_(std::move(options)),
      told_({.entries_max = 1024,
             .clock = options_.clock,
             .lifetime = [](const Result<std::string>& answer) -> std::chrono::nanoseconds {
               return answer.ok() ? kClaimLifetime : std::chrono::seconds(0);
             }}) {}

Status DistributedClaims::Expand(const Context& ctx, Jwt& jwt) const {
  ASSIGN_OR_RETURN(const std::optional<Endpoint> endpoint, EndpointOf(jwt.claims));
  return endpoint ? Resolve(ctx, *endpoint, jwt) : Status();
}

Result<std::optional<DistributedClaims::Endpoint>> DistributedClaims::EndpointOf(
    Value claims) const {
  // A claim of the token itself takes precedence.
  if (claims.Find(options_.claim) != nullptr) return std::optional<Endpoint>();
  if (claims.Find("_claim_names") == nullptr) return std::optional<Endpoint>();
  if (claims.Find("_claim_sources") == nullptr) return NotExpanded("oidc: no claim sources");
  const Value* const name = claims["_claim_names"].Find(options_.claim);
  if (name == nullptr) return std::optional<Endpoint>();
  const Value source = claims["_claim_sources"][name->AsString()];
  Endpoint endpoint{.url = std::string(source["endpoint"].AsString()),
                    .access_token = std::string(source["access_token"].AsString())};
  // An aggregated claim, perhaps, which upstream does not support either.
  if (endpoint.url.empty()) return std::optional<Endpoint>();
  const std::string problem = EndpointProblem(endpoint.url, endpoint.access_token);
  if (!problem.empty()) {
    return NotExpanded("while getting distributed claim " + field::Quote(options_.claim) + ": " +
                       problem);
  }
  return std::optional(std::move(endpoint));
}

Result<std::string> DistributedClaims::Fetch(const Context& ctx, const Endpoint& endpoint) const {
  // The key does not hold the token in clear text.
  const std::string key = auth::ConfigHash(endpoint.access_token + " " + endpoint.url);
  const auto ask = [this, &endpoint](auth::CachedLookUps<std::string>::Done done) {
    client::HttpRequest request;
    request.method = "GET";
    request.url = endpoint.url;
    request.timeout = options_.timeout;
    if (!endpoint.access_token.empty()) {
      request.headers.Add("Authorization", "Bearer " + endpoint.access_token);
    }
    options_.http->Start(
        Context::Background(), std::move(request),
        [url = endpoint.url, done = std::move(done)](Result<http::ClientResponse> answer) mutable {
          done(BodyOfClaim(std::move(answer), url));
        });
  };
  return told_.Get(ctx, key, ask);
}

// Takes the issuer from a token that is not verified yet, so the number of issuers is bounded.
Result<std::shared_ptr<const IssuerKeys>> DistributedClaims::KeysOf(
    const std::string& issuer) const {
  if (issuer == options_.issuer) return options_.keys;
  const std::string before = "verifying untrusted issuer " + field::Quote(ShownUrl(issuer));
  const text::Read<text::GoUrl> url = text::ParseGoUrl(issuer);
  const bool good = issuer.size() <= kEndpointBytesMax && CalledUrlProblem("", issuer).empty() &&
                    url->raw_query.empty() && url->fragment.empty();
  if (!good) return NotExpanded(before.substr(0, kEndpointBytesMax) + " failed: no https URL");
  const auto others = others_.Lock();
  const auto known = others->find(issuer);
  if (known != others->end()) return known->second;
  if (others->size() >= kClaimIssuersMax) {
    return NotExpanded(before + " failed: claims come from too many issuers");
  }
  std::shared_ptr<const IssuerKeys> keys = options_.new_keys(issuer);
  others->emplace(issuer, keys);
  return keys;
}

// Follows claimResolver.resolve of plugin/pkg/authenticator/token/oidc.
Status DistributedClaims::Resolve(const Context& ctx, const Endpoint& endpoint, Jwt& jwt) const {
  const Result<std::string> token = Fetch(ctx, endpoint);
  if (!token.ok()) {
    return AsNotExpanded(token.status(),
                         "while getting distributed claim " + field::Quote(options_.claim) + ": ");
  }
  const std::string shown = ShownUrl(endpoint.url);
  const Result<Jwt> told = ParseJwt(*token);
  if (!told.ok()) {
    return NotExpanded("getting untrusted issuer from endpoint " + shown + " failed for claim " +
                       field::Quote(options_.claim) + ": " + std::string(told.status().message()));
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<const IssuerKeys> keys, KeysOf(UntrustedIssuer(*token)));
  const std::string refusal = std::string(kRefused) + "verify distributed claim token: ";
  RETURN_IF_ERROR(CheckIdToken(options_.rules, *told, refusal));
  const Status verified = CheckIdTokenSignature(ctx, options_.rules, *told, *keys, refusal);
  if (!verified.ok()) {
    return verified.message().starts_with(kRefused) ? verified : AsNotExpanded(verified);
  }
  const Value* const value = told->claims.Find(options_.claim);
  if (value == nullptr) {
    return NotExpanded("jwt returned by distributed claim endpoint " + field::Quote(shown) +
                       " did not contain claim: " + options_.claim);
  }
  jwt.claims = runtime::With(jwt.claims, options_.claim, Copy(*value, jwt.arena), jwt.arena);
  return {};
}

}  // namespace apiserver::v0::authn
