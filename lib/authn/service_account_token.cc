#include "apiserver/authn/service_account_token.h"

#include <algorithm>
#include <utility>

#include "apiserver/auth/audiences.h"
#include "apiserver/auth/service_account.h"
#include "apiserver/base/field_path.h"
#include "apiserver/base/sync.h"
#include "apiserver/codec/json.h"
#include "authn/jwt.h"
#include "authn/service_account_claims.h"
#include "authn/token_hash.h"
#include "authn/verified_tokens.h"
#include "base/status_macros.h"
#include "text/quote.h"

namespace apiserver::v0::authn {
namespace {

using auth::AuthenticateResponse;
using auth::serviceaccount::ServiceAccountInfo;
using AccountAnswer = Result<std::optional<AuthenticateResponse>>;
using AccountKeys = std::shared_ptr<const std::vector<Jwk>>;

// The algorithms that Kubernetes signs with.
constexpr SigningAlgorithm kAccountAlgorithms[] = {
    SigningAlgorithm::kRs256, SigningAlgorithm::kEs256, SigningAlgorithm::kEs384,
    SigningAlgorithm::kEs512};

// Ed25519 is refused where the file is read, rather than for each token.
Result<AccountKeys> ReadAccountKeys(const std::string& pem) {
  ASSIGN_OR_RETURN(const std::vector<VerificationKey> keys, ReadPublicKeys(pem));
  auto named = std::make_shared<std::vector<Jwk>>();
  for (const VerificationKey& key : keys) {
    if (key.type() == KeyType::kEd25519) {
      return Status(Reason::kInvalid, "keys of service accounts must be RSA or EC");
    }
    named->push_back({.key = key, .id = key.KeyId()});
  }
  return AccountKeys(std::move(named));
}

class ServiceAccountTokens final : public auth::TokenAuthenticator {
 public:
  ServiceAccountTokens(ServiceAccountTokenOptions options, std::shared_ptr<const std::string> pem,
                       AccountKeys keys)
      : options_(std::move(options)),
        hasher_(*options_.random),
        known_(Known{std::move(pem), std::move(keys)}) {}

  AccountAnswer AuthenticateToken(const Context& ctx, std::string_view token) const override {
    ASSIGN_OR_RETURN(const std::shared_ptr<const Jwt> jwt, Verified(token));
    if (jwt == nullptr) return std::optional<AuthenticateResponse>();
    ASSIGN_OR_RETURN(std::vector<std::string> audiences, Audiences(ctx, jwt->claims));
    Result<ServiceAccountInfo> account =
        jwt->claims["iss"].AsString() == kLegacyServiceAccountIssuer
            ? ValidateLegacyClaims(ctx, options_, token, jwt->claims)
            : ValidateBoundClaims(ctx, options_, jwt->claims);
    if (!account.ok()) return account.status();
    return std::optional(AuthenticateResponse{
        std::make_shared<const auth::UserInfo>(account->ToUserInfo()), std::move(audiences)});
  }

 private:
  struct Known {
    std::shared_ptr<const std::string> pem;
    AccountKeys keys;
  };

  // Returns the token if its signature is that of a known key. Null: it is of another issuer, or no
  // token.
  Result<std::shared_ptr<const Jwt>> Verified(std::string_view token) const {
    const AccountKeys keys = Keys();
    const std::string hash = hasher_.Hash(token, nullptr);
    if (auto known = verified_.Find(keys, hash)) return known;
    // Only chooses the authenticator; the signature is verified below.
    const std::string issuer = UntrustedIssuer(token);
    if (std::ranges::find(options_.issuers, issuer) == options_.issuers.end()) {
      return std::shared_ptr<const Jwt>();
    }
    ASSIGN_OR_RETURN(Jwt parsed, ParseJwt(token));
    if (!HasKeyFor(parsed, *keys)) {
      return Status(Reason::kUnauthorized, "invalid signature, no keys found");
    }
    RETURN_IF_ERROR(VerifySignature(parsed, kAccountAlgorithms, *keys));
    parsed.signing_input = {};  // Borrows the caller's token.
    const auto verified = std::make_shared<const Jwt>(std::move(parsed));
    verified_.Store(keys, hash, verified);
    return verified;
  }

  // Two threads may parse the same new file at once; both results are equal, and the later one
  // stays.
  AccountKeys Keys() const {
    const std::shared_ptr<const std::string> pem = options_.keys->Get();
    {
      const auto known = known_.Lock();
      if (known->pem == pem) return known->keys;
    }
    // Parsed without the lock: requests with the old keys need not wait.
    Result<AccountKeys> keys = ReadAccountKeys(*pem);
    const auto known = known_.Lock();
    known->pem = pem;
    if (keys.ok()) known->keys = *std::move(keys);
    return known->keys;
  }

  // Returns the audiences of the token that the request asks for.
  Result<std::vector<std::string>> Audiences(const Context& ctx, runtime::Value claims) const {
    std::vector<std::string> of_token = AudienceOf(claims).value_or(std::vector<std::string>());
    if (of_token.empty() && !claims["aud"].is_null() && claims["aud"].size() > 0) {
      return Status(Reason::kUnauthorized, "aud claim is no list of texts");
    }
    if (of_token.empty()) of_token = options_.api_audiences;
    const std::vector<std::string>* const asked = auth::AudiencesOf(ctx);
    const std::vector<std::string>& wanted = asked ? *asked : options_.api_audiences;
    // A token for other audiences must not be accepted here, even if its signature is valid.
    std::vector<std::string> both = auth::Intersect(of_token, wanted);
    if (!both.empty() || options_.api_audiences.empty()) return both;
    return Status(Reason::kUnauthorized, "token audiences " + text::QuoteAll(of_token) +
                                             " is invalid for the target audiences " +
                                             text::QuoteAll(wanted));
  }

  // The table takes a few MiB at most with tokens of the usual 1 KiB.
  static constexpr std::size_t kVerifiedMax = 4096;

  const ServiceAccountTokenOptions options_;
  const TokenHasher hasher_;
  mutable Guarded<Known> known_;
  mutable VerifiedTokens verified_{kVerifiedMax};
};

// Empty names are left out, as Go's omitempty does; the order of members is alphabetical.
void AddReference(std::string_view name, const ServiceAccountTokenRequest::Reference& reference,
                  std::string& json) {
  if (reference.name.empty()) return;
  json += ",";
  codec::AppendJsonString(name, json);
  json += ":{\"name\":";
  codec::AppendJsonString(reference.name, json);
  json += ",\"uid\":";
  codec::AppendJsonString(reference.uid, json);
  json += "}";
}

class Generator final : public ServiceAccountTokenGenerator {
 public:
  Generator(std::string issuer, SigningKey key, Random& random, const Clock& clock)
      : issuer_(std::move(issuer)), key_(std::move(key)), random_(random), clock_(clock) {}

  Result<std::string> GenerateToken(const ServiceAccountTokenRequest& request) const override {
    const std::int64_t now =
        std::chrono::floor<std::chrono::seconds>(clock_.WallNow().time_since_epoch()).count();
    std::string json = "{\"aud\":[";
    for (const std::string& audience : request.audiences) {
      if (&audience != &request.audiences.front()) json += ",";
      codec::AppendJsonString(audience, json);
    }
    json += "],\"exp\":" + std::to_string(now + request.expires_after.count()) +
            ",\"iat\":" + std::to_string(now) + ",\"iss\":";
    codec::AppendJsonString(issuer_, json);
    json += ",\"jti\":";
    codec::AppendJsonString(request.id.empty() ? NewUuid(random_) : request.id, json);
    json += ",\"kubernetes.io\":{\"namespace\":";
    codec::AppendJsonString(request.namespace_, json);
    AddReference("node", request.node, json);
    AddReference("pod", request.pod, json);
    AddReference("secret", request.secret, json);
    AddReference("serviceaccount", request.service_account, json);
    if (request.warn_after.count() != 0) {
      json += ",\"warnafter\":" + std::to_string(now + request.warn_after.count());
    }
    json += "},\"nbf\":" + std::to_string(now) + ",\"sub\":";
    codec::AppendJsonString(
        auth::serviceaccount::MakeUsername(request.namespace_, request.service_account.name), json);
    json += "}";
    return SignJwt(key_, key_.algorithm(), key_.public_key().KeyId(), json);
  }

 private:
  const std::string issuer_;
  const SigningKey key_;
  Random& random_;
  const Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<auth::TokenAuthenticator>> NewServiceAccountTokens(
    ServiceAccountTokenOptions options) {
  if (options.issuers.empty()) {
    return Status(Reason::kInvalid, "tokens of service accounts need an issuer");
  }
  std::shared_ptr<const std::string> pem = options.keys->Get();
  ASSIGN_OR_RETURN(AccountKeys keys, ReadAccountKeys(*pem));
  return std::make_unique<ServiceAccountTokens>(std::move(options), std::move(pem),
                                                std::move(keys));
}

Status CheckServiceAccountKeys(const std::string& pem) { return ReadAccountKeys(pem).status(); }

Result<std::unique_ptr<ServiceAccountTokenGenerator>> NewServiceAccountTokenGenerator(
    std::string issuer, const std::string& private_key_pem, Random& random, const Clock& clock) {
  ASSIGN_OR_RETURN(SigningKey key, SigningKey::FromPem(private_key_pem));
  if (key.public_key().type() == KeyType::kEd25519) {
    return Status(Reason::kInvalid, "tokens of service accounts are signed by RSA or EC keys");
  }
  return std::make_unique<Generator>(std::move(issuer), std::move(key), random, clock);
}

}  // namespace apiserver::v0::authn
