#include "apiserver/server/service_accounts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/base/source.h"
#include "base/status_macros.h"

namespace apiserver::v0::server {

namespace {

constexpr const char* kKeyFileFlag = "--service-account-key-file";

Result<std::string> ReadKeyFiles(const ServiceAccountOptions& options) {
  std::string all;
  for (const std::string& path : options.key_files) {
    const std::string where = std::string(kKeyFileFlag) + ": " + path + ": ";
    const Result<std::string> pem = options.file_system->Read(path);
    if (!pem.ok()) {
      return Status(Reason::kInvalid,
                    where + "cannot be read: " + std::string(pem.status().message()));
    }
    // Each file is checked by itself, so that the message names the one that is wrong.
    const Status good = authn::CheckServiceAccountKeys(*pem);
    if (!good.ok()) {
      return Status(Reason::kInvalid, where + std::string(good.message()) +
                                          "; give PEM of RSA or EC keys, public or private");
    }
    all += *pem;
    // A file without a newline at its end would join its last line with the next file's first.
    if (!all.ends_with('\n')) all += '\n';
  }
  return all;
}

}  // namespace

std::vector<std::string> ValidateServiceAccountOptions(const ServiceAccountOptions& options) {
  std::vector<std::string> errors;
  std::set<std::string> seen;
  for (const std::string& issuer : options.issuers) {
    const Status good = authn::CheckServiceAccountIssuer(issuer);
    if (!good.ok()) {
      errors.emplace_back(good.message());
    } else if (!seen.insert(issuer).second) {
      errors.push_back("service-account-issuer " + field::Quote(issuer) + " is already specified");
    }
  }
  if (options.issuers.empty()) errors.emplace_back("service-account-issuer is a required flag");
  if (options.key_files.empty()) errors.emplace_back("service-account-key-file is a required flag");
  if (!options.jwks_uri.empty()) {
    const Status good = authn::CheckJwksUri(options.jwks_uri);
    if (!good.ok()) errors.emplace_back(good.message());
  }
  return errors;
}

Result<authn::OpenIDMetadata> ServiceAccountAuthentication::Metadata(
    const std::string& external_address) const {
  return authn::NewOpenIDMetadata(
      {.issuer = issuer, .jwks_uri = jwks_uri, .external_address = external_address, .keys = keys});
}

Result<ServiceAccountAuthentication> NewServiceAccountAuthentication(
    const ServiceAccountOptions& options) {
  const std::vector<std::string> errors = ValidateServiceAccountOptions(options);
  if (!errors.empty()) return Status(Reason::kInvalid, errors.front());
  if (options.lookup && options.getter == nullptr) {
    return Status(Reason::kInvalid,
                  "service-account-lookup needs to be told where the objects are: set getter");
  }
  ASSIGN_OR_RETURN(std::string keys, ReadKeyFiles(options));
  std::vector<std::string> issuers = options.issuers;
  // Tokens from Secrets have this issuer, which no flag needs to name.
  const std::string legacy(authn::kLegacyServiceAccountIssuer);
  if (std::ranges::find(issuers, legacy) == issuers.end()) issuers.push_back(legacy);
  // kube-apiserver's default: the issuers are the audiences.
  std::vector<std::string> audiences =
      options.api_audiences.empty() ? options.issuers : options.api_audiences;
  ASSIGN_OR_RETURN(auto tokens, authn::NewServiceAccountTokens(
                                    {.keys = std::make_shared<Variable<std::string>>(keys),
                                     .issuers = std::move(issuers),
                                     .api_audiences = audiences,
                                     .getter = options.lookup ? options.getter : nullptr,
                                     .clock = options.clock,
                                     .metrics = options.metrics}));
  return ServiceAccountAuthentication{.tokens = std::move(tokens),
                                      .api_audiences = std::move(audiences),
                                      .issuer = options.issuers.front(),
                                      .jwks_uri = options.jwks_uri,
                                      .keys = std::move(keys)};
}

}  // namespace apiserver::v0::server
