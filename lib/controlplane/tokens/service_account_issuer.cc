#include "apiserver/controlplane/service_account_issuer.h"

#include <utility>

#include "apiserver/http/tls.h"
#include "base/status_macros.h"

namespace apiserver::v0::controlplane {
namespace {

constexpr std::chrono::hours kShortestMaximum(1);
constexpr std::chrono::seconds kLongestMaximum(std::int64_t{1} << 32);
// Lets only the owner read keys.
constexpr unsigned kOwnerOnly = 0600;

// Elliptic, because an RSA key takes longer to make than the whole start of a server.
Status MakeKey(const std::string& path, const ServiceAccountIssuerOptions::Environment& with) {
  if (with.files->Exists(path)) return {};
  ASSIGN_OR_RETURN(const http::KeyPair pair,
                   http::NewCertificateAuthority("service-accounts", *with.clock));
  return with.files->WriteAtomically(path, pair.key_pem, kOwnerOnly);
}

bool HasIssuer(const options::BuiltInAuthenticationOptions& accounts) {
  const std::vector<std::string>& issuers = accounts.service_accounts.issuers;
  return !issuers.empty() && !issuers.front().empty();
}

}  // namespace

void ServiceAccountIssuerOptions::AddFlags(options::FlagSet& flags) {
  flags.BeginSection("Authentication");
  flags.Add({.name = "--service-account-max-token-expiration",
             .value = &max_token_expiration,
             .help = "The longest expiration of a token of a service account; a longer one is "
                     "shortened (default: any is granted)"});
  flags.Add({.name = "--service-account-extend-token-expiration",
             .value = &extend_token_expiration,
             .help = "Let the tokens that admission gives to pods live for a year, and record uses "
                     "after the hour they are made for (default: true)"});
  flags.BeginSection("Misc");
  flags.Add({.name = "--service-account-signing-key-file",
             .value = &signing_key_file,
             .help = "PEM file of the private key that signs tokens of service accounts (default: "
                     "one of the server's own, if no flag tells of service accounts)"});
}

std::vector<std::string> ServiceAccountIssuerOptions::Validate(
    const options::BuiltInAuthenticationOptions& accounts) const {
  std::vector<std::string> problems;
  if (max_token_expiration.count() != 0 &&
      (max_token_expiration < kShortestMaximum || max_token_expiration > kLongestMaximum)) {
    problems.emplace_back(
        "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds");
  }
  const bool attempted =
      !signing_key_file.empty() || HasIssuer(accounts) || !accounts.api_audiences.empty();
  if (!attempted) {
    problems.emplace_back(
        "--service-account-signing-key-file and --service-account-issuer are required flags");
  } else if (signing_key_file.empty() || !HasIssuer(accounts)) {
    problems.emplace_back(
        "--service-account-signing-key-file, --service-account-issuer, and --api-audiences should "
        "be specified together");
  }
  return problems;
}

Status ServiceAccountIssuerOptions::Complete(const Environment& environment,
                                             options::BuiltInAuthenticationOptions& accounts) {
  if (!signing_key_file.empty() || accounts.WantsServiceAccounts()) return {};
  signing_key_file = environment.folder + "/service-account.key";
  accounts.service_accounts.key_files = {signing_key_file};
  accounts.service_accounts.issuers = {kDefaultIssuer};
  return MakeKey(signing_key_file, environment);
}

Result<TokenRequestOptions> ServiceAccountIssuerOptions::NewTokenRequestOptions(
    const Environment& environment, const options::BuiltInAuthenticationOptions& accounts,
    std::shared_ptr<const groups::TokenObjects> objects) const {
  const Result<std::string> pem = environment.files->Read(signing_key_file);
  if (!pem.ok()) {
    return Status(Reason::kInvalid, "failed to parse service-account-issuer-key-file: " +
                                        std::string(pem.status().message()));
  }
  auto issuer = authn::NewServiceAccountTokenGenerator(
      accounts.service_accounts.issuers.front(), *pem, *environment.random, *environment.clock);
  if (!issuer.ok()) {
    return Status(Reason::kInvalid,
                  "failed to build token generator: " + std::string(issuer.status().message()));
  }
  return TokenRequestOptions{
      .issuer = *std::move(issuer),
      .api_audiences = accounts.api_audiences.empty() ? accounts.service_accounts.issuers
                                                      : accounts.api_audiences,
      .max_expiration = std::chrono::floor<std::chrono::seconds>(max_token_expiration),
      .extend_expiration = extend_token_expiration,
      .objects = std::move(objects),
      .clock = environment.clock,
      .random = environment.random};
}

}  // namespace apiserver::v0::controlplane
