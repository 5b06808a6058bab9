#include "apiserver/authn/bootstrap_token.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "apiserver/runtime/time.h"

namespace apiserver::v0::authn {
namespace {

using auth::AuthenticateResponse;
using BootstrapAnswer = Result<std::optional<AuthenticateResponse>>;

constexpr std::string_view kBootstrapNamespace = "kube-system";
constexpr std::string_view kBootstrapSecretType = "bootstrap.kubernetes.io/token";
constexpr std::string_view kBootstrappersGroup = "system:bootstrappers";
constexpr std::size_t kIdBytes = 6;
constexpr std::size_t kSecretBytes = 16;
constexpr std::size_t kGroupNameBytesMax = 256;

bool IsLowerAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

struct BootstrapToken {
  std::string_view id;
  std::string_view secret;
};

std::optional<BootstrapToken> ParseBootstrapToken(std::string_view token) {
  if (token.size() != kIdBytes + 1 + kSecretBytes || token[kIdBytes] != '.') return std::nullopt;
  const BootstrapToken parts = {token.substr(0, kIdBytes), token.substr(kIdBytes + 1)};
  if (!std::ranges::all_of(parts.id, IsLowerAlphanumeric)) return std::nullopt;
  if (!std::ranges::all_of(parts.secret, IsLowerAlphanumeric)) return std::nullopt;
  return parts;
}

std::string_view DataOf(const StoredSecret& secret, const std::string& key) {
  const auto found = secret.data.find(key);
  return found == secret.data.end() ? std::string_view() : std::string_view(found->second);
}

// Compares in a time that does not depend on the number of equal bytes.
bool SameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// A time that cannot be read counts as expired: upstream fails closed here as well.
bool HasExpired(const StoredSecret& secret, Clock::Wall now) {
  const std::string_view text = DataOf(secret, "expiration");
  if (text.empty()) return false;
  const auto expires = runtime::ParseTime(text);
  return !expires.ok() || expires->ToSystem() <= now;
}

// True for "system:bootstrappers:" and a name.
bool IsGroupOfBootstrappers(std::string_view group) {
  const std::string prefix = std::string(kBootstrappersGroup) + ":";
  if (!group.starts_with(prefix)) return false;
  group.remove_prefix(prefix.size());
  return !group.empty() && group.size() <= kGroupNameBytesMax &&
         IsLowerAlphanumeric(group.back()) && std::ranges::all_of(group, [](char c) {
           return IsLowerAlphanumeric(c) || c == ':' || c == '-';
         });
}

// Returns the groups of the Secret. nullopt: one is not allowed for a bootstrap token.
std::optional<std::vector<std::string>> BootstrapGroupsOf(const StoredSecret& secret) {
  std::set<std::string> groups = {std::string(kBootstrappersGroup)};
  std::string_view rest = DataOf(secret, "auth-extra-groups");
  // Runs once more behind a trailing comma, so that an empty group is refused and not skipped.
  bool more = !rest.empty();
  while (more) {
    const std::size_t comma = rest.find(',');
    const std::string_view group = rest.substr(0, comma);
    if (!IsGroupOfBootstrappers(group)) return std::nullopt;
    groups.emplace(group);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  return std::vector<std::string>(groups.begin(), groups.end());
}

// Returns why the Secret does not confirm the token; empty: it does.
std::string_view ProblemOf(const StoredSecret& secret, const BootstrapToken& token,
                           Clock::Wall now) {
  if (secret.deleted_at) return "is deleted and awaiting removal";
  if (secret.type != kBootstrapSecretType) return "has invalid type";
  if (!SameSecret(DataOf(secret, "token-secret"), token.secret)) {
    return "has invalid value for key token-secret";
  }
  if (DataOf(secret, "token-id") != token.id) return "has invalid value for key token-id";
  if (HasExpired(secret, now)) return "has expired";
  if (DataOf(secret, "usage-bootstrap-authentication") != "true") {
    return "not marked usage-bootstrap-authentication=true";
  }
  if (!BootstrapGroupsOf(secret)) return "has invalid value for key auth-extra-groups";
  return "";
}

class BootstrapTokens final : public auth::TokenAuthenticator {
 public:
  explicit BootstrapTokens(BootstrapTokenOptions options) : options_(std::move(options)) {}

  // Returns no user rather than an error, so that other authenticators may know the token.
  BootstrapAnswer AuthenticateToken(const Context& ctx, std::string_view token) const override {
    const std::optional<BootstrapToken> parts = ParseBootstrapToken(token);
    if (!parts) return std::optional<AuthenticateResponse>();
    const std::string name = "bootstrap-token-" + std::string(parts->id);
    const auto secret = options_.secrets->GetSecret(ctx, kBootstrapNamespace, name);
    if (secret.status().reason() == Reason::kNotFound) {
      return std::optional<AuthenticateResponse>();
    }
    if (!secret.ok()) return secret.status();
    const std::string_view problem = ProblemOf(*secret, *parts, options_.clock->WallNow());
    if (!problem.empty()) {
      Log(*options_.log, LogLevel::kInfo, "A bootstrap token was refused",
          {{"secret", name}, {"why", std::string(problem)}});
      return std::optional<AuthenticateResponse>();
    }
    auth::UserInfo user{.name = "system:bootstrap:" + std::string(parts->id),
                        .groups = *BootstrapGroupsOf(*secret)};
    return std::optional(
        AuthenticateResponse{std::make_shared<const auth::UserInfo>(std::move(user))});
  }

 private:
  const BootstrapTokenOptions options_;
};

}  // namespace

std::unique_ptr<auth::TokenAuthenticator> NewBootstrapTokens(BootstrapTokenOptions options) {
  return std::make_unique<BootstrapTokens>(std::move(options));
}

}  // namespace apiserver::v0::authn
