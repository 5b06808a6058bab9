#include <utility>

#include "apiserver/authn/config.h"
#include "base/status_macros.h"
#include "codec/config_members.h"

namespace apiserver::v0::authn {
namespace {

using codec::ConfigMembers;
using codec::ConfigReader;
using codec::MembersOf;
using field::Path;
using runtime::Value;

constexpr std::string_view kConfigKind = "AuthenticationConfiguration";

// Absent fields stay empty here; ValidateAuthenticationConfiguration says which are required.
Issuer ReadIssuer(ConfigReader& reader, const Path& path, Value value) {
  Issuer issuer;
  const auto fields = MembersOf(reader, path, value,
                                {"url", "discoveryURL", "certificateAuthority", "audiences",
                                 "audienceMatchPolicy", "egressSelectorType"});
  if (!fields) return issuer;
  issuer.url = fields->Text("url");
  issuer.discovery_url = fields->Text("discoveryURL");
  issuer.certificate_authority = fields->Text("certificateAuthority");
  issuer.audiences = fields->Texts("audiences");
  issuer.audience_match_policy = fields->Text("audienceMatchPolicy");
  issuer.egress_selector_type = fields->Text("egressSelectorType");
  return issuer;
}

ClaimValidationRule ReadClaimRule(ConfigReader& reader, const Path& path, Value value) {
  ClaimValidationRule rule;
  const auto fields =
      MembersOf(reader, path, value, {"claim", "requiredValue", "expression", "message"});
  if (!fields) return rule;
  rule.claim = fields->Text("claim");
  rule.required_value = fields->Text("requiredValue");
  rule.expression = fields->Text("expression");
  rule.message = fields->Text("message");
  return rule;
}

PrefixedClaimOrExpression ReadPrefixedClaim(ConfigReader& reader, const Path& path, Value value) {
  PrefixedClaimOrExpression claim;
  const auto fields = MembersOf(reader, path, value, {"claim", "prefix", "expression"});
  if (!fields) return claim;
  claim.claim = fields->Text("claim");
  // An empty prefix and none are different settings: none is refused for a claim.
  if (!value["prefix"].is_null()) claim.prefix = fields->Text("prefix");
  claim.expression = fields->Text("expression");
  return claim;
}

ClaimOrExpression ReadClaim(ConfigReader& reader, const Path& path, Value value) {
  ClaimOrExpression claim;
  const auto fields = MembersOf(reader, path, value, {"claim", "expression"});
  if (!fields) return claim;
  claim.claim = fields->Text("claim");
  claim.expression = fields->Text("expression");
  return claim;
}

ClaimMappings ReadClaimMappings(ConfigReader& reader, const Path& path, Value value) {
  ClaimMappings mappings;
  if (!reader.IsMap(path, value)) return mappings;
  reader.CheckFields(path, value, {"username", "groups", "uid", "extra"});
  mappings.username = ReadPrefixedClaim(reader, path.Child("username"), value["username"]);
  mappings.groups = ReadPrefixedClaim(reader, path.Child("groups"), value["groups"]);
  mappings.uid = ReadClaim(reader, path.Child("uid"), value["uid"]);
  for (const auto& [at, item] : reader.Items(path.Child("extra"), value["extra"])) {
    ExtraMapping extra;
    if (reader.IsMap(at, item)) {
      reader.CheckFields(at, item, {"key", "valueExpression"});
      extra.key = ConfigMembers(reader, at, item).Text("key");
      extra.value_expression = ConfigMembers(reader, at, item).Text("valueExpression");
    }
    mappings.extra.push_back(std::move(extra));
  }
  return mappings;
}

JwtAuthenticator ReadAuthenticator(ConfigReader& reader, const Path& path, Value value) {
  JwtAuthenticator authenticator;
  const auto fields =
      MembersOf(reader, path, value,
                {"issuer", "claimValidationRules", "claimMappings", "userValidationRules"});
  if (!fields) return authenticator;
  authenticator.issuer = ReadIssuer(reader, path.Child("issuer"), value["issuer"]);
  for (const auto& [at, item] : fields->Items("claimValidationRules")) {
    authenticator.claim_validation_rules.push_back(ReadClaimRule(reader, at, item));
  }
  authenticator.claim_mappings =
      ReadClaimMappings(reader, path.Child("claimMappings"), value["claimMappings"]);
  for (const auto& [at, item] : fields->Items("userValidationRules")) {
    UserValidationRule rule;
    if (reader.IsMap(at, item)) {
      reader.CheckFields(at, item, {"expression", "message"});
      rule.expression = ConfigMembers(reader, at, item).Text("expression");
      rule.message = ConfigMembers(reader, at, item).Text("message");
    }
    authenticator.user_validation_rules.push_back(std::move(rule));
  }
  return authenticator;
}

std::optional<AnonymousAuthConfig> ReadAnonymous(ConfigReader& reader, Value value) {
  const Path path("anonymous");
  if (!reader.IsMap(path, value)) return std::nullopt;
  reader.CheckFields(path, value, {"enabled", "conditions"});
  AnonymousAuthConfig anonymous;
  const ConfigMembers fields(reader, path, value);
  anonymous.enabled = fields.Bool("enabled");
  for (const auto& [at, item] : fields.Items("conditions")) {
    if (!reader.IsMap(at, item)) continue;
    reader.CheckFields(at, item, {"path"});
    anonymous.paths.push_back(ConfigMembers(reader, at, item).Text("path"));
  }
  return anonymous;
}

}  // namespace

Result<AuthenticationConfiguration> ParseAuthenticationConfiguration(
    std::string_view text, const std::vector<std::string>& disallowed_issuers) {
  ConfigReader reader(text);
  ASSIGN_OR_RETURN(
      const Value root,
      reader.Parse(kConfigKind, {"apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1",
                                 "apiserver.config.k8s.io/v1alpha1"}));
  reader.CheckFields(Path(), root, {"apiVersion", "kind", "jwt", "anonymous"});
  AuthenticationConfiguration config;
  for (const auto& [at, item] : reader.Items(Path("jwt"), root["jwt"])) {
    config.jwt.push_back(ReadAuthenticator(reader, at, item));
  }
  config.anonymous = ReadAnonymous(reader, root["anonymous"]);
  // A value that could not be read would only be reported once more, as missing.
  RETURN_IF_ERROR(reader.Outcome());
  reader.Wrong(ValidateAuthenticationConfiguration(config, disallowed_issuers));
  RETURN_IF_ERROR(reader.Outcome());
  return config;
}

}  // namespace apiserver::v0::authn
