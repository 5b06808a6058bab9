#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"

// The file of --authentication-config: AuthenticationConfiguration of apiserver.config.k8s.io,
// versions v1, v1beta1 and v1alpha1, which are equal. k8s.io/apiserver/pkg/apis/apiserver.
namespace apiserver::inline v0::authn {

// A claim or a CEL expression over `claims`, the token's claims: "claims.sub". Claims whose names
// are no identifiers are selected by an index or by their escaped name:
// claims["kubernetes.io"].namespace, claims.kubernetes__dot__io.namespace. All numbers are doubles,
// as in Go. The expression of a username returns a string that is not empty, that of groups a
// string or a list of strings, of which empty ones count as nothing.
struct PrefixedClaimOrExpression {
  std::string claim = {};
  std::optional<std::string> prefix = {};  // Required with `claim`; may be empty.
  std::string expression = {};

  friend bool operator==(const PrefixedClaimOrExpression&,
                         const PrefixedClaimOrExpression&) = default;
};

// The same without a prefix; the expression returns a string.
struct ClaimOrExpression {
  std::string claim = {};
  std::string expression = {};

  friend bool operator==(const ClaimOrExpression&, const ClaimOrExpression&) = default;
};

// An entry of UserInfo::extra. Its value is an expression over `claims` that returns a string or a
// list of strings; without one that is not empty the user has no such entry.
struct ExtraMapping {
  std::string key;
  std::string value_expression;

  friend bool operator==(const ExtraMapping&, const ExtraMapping&) = default;
};

// The claims that become the user.
struct ClaimMappings {
  PrefixedClaimOrExpression username = {};  // Required.
  PrefixedClaimOrExpression groups = {};
  ClaimOrExpression uid = {};
  std::vector<ExtraMapping> extra = {};

  friend bool operator==(const ClaimMappings&, const ClaimMappings&) = default;
};

// An OpenID Connect issuer.
struct Issuer {
  std::string url;                          // Required; https.
  std::string discovery_url = {};           // Empty: at the well-known path of `url`.
  std::string certificate_authority = {};   // PEM; empty: the machine's.
  std::vector<std::string> audiences = {};  // Required.
  std::string audience_match_policy = {};   // "MatchAny", or empty with one audience.
  std::string egress_selector_type = {};

  friend bool operator==(const Issuer&, const Issuer&) = default;
};

// A claim and its only valid value, or an expression over `claims` that must be true.
struct ClaimValidationRule {
  std::string claim = {};
  std::string required_value = {};
  std::string expression = {};
  std::string message = {};  // Ends the error of a token that fails the expression.

  friend bool operator==(const ClaimValidationRule&, const ClaimValidationRule&) = default;
};

// An expression over `user` that must be true. `user` has username, uid, groups and extra as the
// mappings made them.
struct UserValidationRule {
  std::string expression;
  std::string message = {};

  friend bool operator==(const UserValidationRule&, const UserValidationRule&) = default;
};

// An issuer and the rules for its tokens.
struct JwtAuthenticator {
  Issuer issuer;
  std::vector<ClaimValidationRule> claim_validation_rules = {};
  ClaimMappings claim_mappings = {};
  std::vector<UserValidationRule> user_validation_rules = {};

  friend bool operator==(const JwtAuthenticator&, const JwtAuthenticator&) = default;
};

// The anonymous requests that are allowed.
struct AnonymousAuthConfig {
  bool enabled = false;
  std::vector<std::string> paths = {};  // Only these; empty: all.

  friend bool operator==(const AnonymousAuthConfig&, const AnonymousAuthConfig&) = default;
};

// The whole file.
struct AuthenticationConfiguration {
  std::vector<JwtAuthenticator> jwt = {};  // May be empty: some may be added later.
  std::optional<AnonymousAuthConfig> anonymous = {};

  friend bool operator==(const AuthenticationConfiguration&,
                         const AuthenticationConfiguration&) = default;
};

// The most issuers of a file.
inline constexpr std::size_t kJwtAuthenticatorsMax = 64;

// As validation.ValidateAuthenticationConfiguration, but egress selectors are refused. Expressions
// are compiled. `disallowed_issuers`: the issuers of the server's own tokens.
field::ErrorList ValidateAuthenticationConfiguration(
    const AuthenticationConfiguration& config,
    const std::vector<std::string>& disallowed_issuers = {});

// Parses YAML or JSON strictly and validates it. kInvalid: all faults, each with its line and
// field.
Result<AuthenticationConfiguration> ParseAuthenticationConfiguration(
    std::string_view text, const std::vector<std::string>& disallowed_issuers = {});

}  // namespace apiserver::inline v0::authn
