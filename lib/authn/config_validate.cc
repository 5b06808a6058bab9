#include <algorithm>
#include <set>
#include <utility>

#include "apiserver/authn/config.h"
#include "apiserver/authn/x509.h"
#include "apiserver/codec/json.h"
#include "apiserver/meta/validation.h"
#include "text/go_url.h"

namespace apiserver::v0::authn {
namespace {

using field::ErrorList;
using field::Path;

// There is no evaluator of expressions in this server.
constexpr std::string_view kNoExpressions =
    "expressions are not supported by this server; use claim, prefix and requiredValue";

// Expressions are valid upstream, so the error is Forbidden rather than Invalid.
void RefuseExpression(const Path& path, ErrorList& errors) {
  errors.Forbidden(path, std::string(kNoExpressions));
}

// Go's %s of a sorted list: [a b].
std::string SortedList(std::vector<std::string> texts) {
  std::ranges::sort(texts);
  std::string list = "[";
  for (const std::string& text : texts) {
    if (list.size() > 1) list += ' ';
    list += text;
  }
  return list + "]";
}

// Follows validateURL of apiserver/validation; `disallowed` are the issuers of service account
// tokens.
void ValidateUrl(const std::string& url, const std::vector<std::string>& disallowed,
                 const Path& path, ErrorList& errors) {
  if (std::ranges::find(disallowed, url) != disallowed.end()) {
    errors.Invalid(path, url,
                   "URL must not overlap with disallowed issuers: " + SortedList(disallowed));
  }
  const text::Read<text::GoUrl> parsed = text::ParseGoUrl(url);
  if (!parsed.ok()) {
    errors.Invalid(path, url, parsed.error().message());
    return;
  }
  if (parsed->scheme != "https") errors.Invalid(path, url, "URL scheme must be https");
  if (parsed->user) {
    errors.Invalid(path, url, "URL must not contain a username or password");
  }
  if (!parsed->raw_query.empty()) errors.Invalid(path, url, "URL must not contain a query");
  if (!parsed->fragment.empty()) errors.Invalid(path, url, "URL must not contain a fragment");
}

// Go's validateIssuerDiscoveryURL compares the URLs without these, too.
std::string_view WithoutSlashes(std::string_view url) {
  while (url.ends_with('/')) url.remove_suffix(1);
  return url;
}

void ValidateDiscoveryUrl(const Issuer& issuer, const Path& path, ErrorList& errors) {
  if (issuer.discovery_url.empty()) return;
  if (!issuer.url.empty() && WithoutSlashes(issuer.url) == WithoutSlashes(issuer.discovery_url)) {
    errors.Invalid(path, issuer.discovery_url, "discoveryURL must be different from URL");
  }
  ValidateUrl(issuer.discovery_url, {}, path, errors);
}

void ValidateAudiences(const Issuer& issuer, const Path& path, ErrorList& errors) {
  const Path audiences = path.Child("audiences");
  const Path policy = path.Child("audienceMatchPolicy");
  if (issuer.audiences.empty()) {
    errors.Required(audiences, "at least one " + audiences.text() + " is required");
    return;
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < issuer.audiences.size(); ++i) {
    const std::string& audience = issuer.audiences[i];
    if (audience.empty()) errors.Required(audiences.Index(i));
    if (!seen.insert(audience).second) errors.Duplicate(audiences.Index(i), audience);
  }
  if (issuer.audience_match_policy == "MatchAny") return;
  if (issuer.audiences.size() > 1) {
    errors.Invalid(policy, issuer.audience_match_policy,
                   "audienceMatchPolicy must be MatchAny for multiple audiences");
  } else if (!issuer.audience_match_policy.empty()) {
    errors.Invalid(policy, issuer.audience_match_policy,
                   "audienceMatchPolicy must be empty or MatchAny for single audience");
  }
}

// Both types exist upstream, but this server has no egress dialer to hand the connection to.
void ValidateEgress(const std::string& type, const Path& path, ErrorList& errors) {
  if (type.empty()) return;
  if (type != "controlplane" && type != "cluster") {
    errors.Invalid(path, type, "egress selector must be either controlplane or cluster");
    return;
  }
  errors.Forbidden(path, "egress selectors are not supported by this server; leave it out");
}

void ValidateIssuer(const Issuer& issuer, const std::vector<std::string>& disallowed,
                    const Path& path, ErrorList& errors) {
  if (issuer.url.empty()) {
    errors.Required(path.Child("url"));
  } else {
    ValidateUrl(issuer.url, disallowed, path.Child("url"), errors);
  }
  ValidateDiscoveryUrl(issuer, path.Child("discoveryURL"), errors);
  ValidateAudiences(issuer, path, errors);
  if (!issuer.certificate_authority.empty() &&
      !CheckCertificateBundle(issuer.certificate_authority).ok()) {
    // The data itself may be long, and is not repeated.
    errors.Invalid(path.Child("certificateAuthority"), "<omitted>",
                   "data does not contain any valid RSA or ECDSA certificates");
  }
  ValidateEgress(issuer.egress_selector_type, path.Child("egressSelectorType"), errors);
}

void ValidateClaimRules(const std::vector<ClaimValidationRule>& rules, const Path& path,
                        ErrorList& errors) {
  std::set<std::string> claims;
  std::set<std::string> expressions;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const ClaimValidationRule& rule = rules[i];
    const Path at = path.Index(i);
    if (!rule.claim.empty() && !rule.expression.empty()) {
      errors.Invalid(at, rule.claim, "claim and expression can't both be set");
    } else if (rule.claim.empty() && rule.expression.empty()) {
      errors.Required(at, "claim or expression is required");
    } else if (!rule.claim.empty()) {
      if (!rule.message.empty()) {
        errors.Invalid(at.Child("message"), rule.message, "may not be specified when claim is set");
      }
      if (!claims.insert(rule.claim).second) errors.Duplicate(at.Child("claim"), rule.claim);
    } else {
      if (!rule.required_value.empty()) {
        errors.Invalid(at.Child("requiredValue"), rule.required_value,
                       "may not be specified when expression is set");
      }
      if (!expressions.insert(rule.expression).second) {
        errors.Duplicate(at.Child("expression"), rule.expression);
        // One finding for each expression: a duplicate is not refused a second time.
      } else {
        RefuseExpression(at.Child("expression"), errors);
      }
    }
  }
}

void ValidateClaimMapping(const PrefixedClaimOrExpression& mapping, const Path& path, bool required,
                          ErrorList& errors) {
  if (!mapping.expression.empty() && !mapping.claim.empty()) {
    errors.Invalid(path, "", "claim and expression can't both be set");
  } else if (mapping.expression.empty() && mapping.claim.empty()) {
    if (required) errors.Required(path, "claim or expression is required");
  } else if (!mapping.expression.empty()) {
    if (mapping.prefix) {
      errors.Invalid(path.Child("prefix"), *mapping.prefix,
                     "may not be specified when expression is set");
    }
    RefuseExpression(path.Child("expression"), errors);
  } else if (!mapping.prefix) {
    errors.Required(path.Child("prefix"),
                    "prefix is required when claim is set. It can be set to an empty string to "
                    "disable prefixing");
  }
}

// True for keys whose domain, the part before the slash, belongs to Kubernetes.
bool IsReserved(std::string_view key) {
  const std::size_t slash = key.find('/');
  const std::string_view domain = key.substr(0, slash == std::string_view::npos ? 0 : slash);
  for (const std::string_view reserved : {"kubernetes.io", "k8s.io"}) {
    if (domain == reserved || domain.ends_with("." + std::string(reserved))) return true;
  }
  return false;
}

bool HasUpperCase(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

void ValidateExtra(const std::vector<ExtraMapping>& mappings, const Path& path, ErrorList& errors) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    const ExtraMapping& mapping = mappings[i];
    const Path key = path.Index(i).Child("key");
    errors.Append(meta::IsDomainPrefixedPath(key, mapping.key));
    if (HasUpperCase(mapping.key)) errors.Invalid(key, mapping.key, "must be lowercase");
    if (IsReserved(mapping.key)) {
      errors.Invalid(key, mapping.key,
                     "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use");
    }
    if (!seen.insert(mapping.key).second) {
      errors.Duplicate(key, mapping.key);
      continue;
    }
    const Path expression = path.Index(i).Child("valueExpression");
    if (mapping.value_expression.empty()) {
      errors.Required(expression);
    } else {
      RefuseExpression(expression, errors);
    }
  }
}

void ValidateClaimMappings(const ClaimMappings& mappings, const Path& path, ErrorList& errors) {
  ValidateClaimMapping(mappings.username, path.Child("username"), true, errors);
  ValidateClaimMapping(mappings.groups, path.Child("groups"), false, errors);
  if (!mappings.uid.claim.empty() && !mappings.uid.expression.empty()) {
    errors.Invalid(path.Child("uid"), "", "claim and expression can't both be set");
  } else if (!mappings.uid.expression.empty()) {
    RefuseExpression(path.Child("uid").Child("expression"), errors);
  }
  ValidateExtra(mappings.extra, path.Child("extra"), errors);
}

void ValidateUserRules(const std::vector<UserValidationRule>& rules, const Path& path,
                       ErrorList& errors) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Path expression = path.Index(i).Child("expression");
    if (rules[i].expression.empty()) {
      errors.Required(expression);
    } else if (!seen.insert(rules[i].expression).second) {
      errors.Duplicate(expression, rules[i].expression);
    } else {
      RefuseExpression(expression, errors);
    }
  }
}

// Go's JSON of []AnonymousAuthCondition.
std::string PrintConditions(const std::vector<std::string>& paths) {
  std::string json = "[";
  for (const std::string& path : paths) {
    if (json.size() > 1) json += ',';
    json += "{\"Path\":";
    codec::AppendJsonString(path, json);
    json += '}';
  }
  return json + "]";
}

}  // namespace

ErrorList ValidateAuthenticationConfiguration(const AuthenticationConfiguration& config,
                                              const std::vector<std::string>& disallowed_issuers) {
  ErrorList errors;
  const Path root("jwt");
  if (config.jwt.size() > kJwtAuthenticatorsMax) {
    errors.TooMany(root, config.jwt.size(), kJwtAuthenticatorsMax);
    return errors;
  }
  // Both sets are across issuers: a token names one URL, which must lead to one authenticator.
  std::set<std::string> urls;
  std::set<std::string> discovery_urls;
  for (std::size_t i = 0; i < config.jwt.size(); ++i) {
    const JwtAuthenticator& one = config.jwt[i];
    const Path path = root.Index(i);
    const Path issuer = path.Child("issuer");
    ValidateIssuer(one.issuer, disallowed_issuers, issuer, errors);
    ValidateClaimRules(one.claim_validation_rules, path.Child("claimValidationRules"), errors);
    ValidateClaimMappings(one.claim_mappings, path.Child("claimMappings"), errors);
    ValidateUserRules(one.user_validation_rules, path.Child("userValidationRules"), errors);
    if (!urls.insert(one.issuer.url).second) errors.Duplicate(issuer.Child("url"), one.issuer.url);
    if (one.issuer.discovery_url.empty()) continue;
    if (!discovery_urls.insert(one.issuer.discovery_url).second) {
      errors.Duplicate(issuer.Child("discoveryURL"), one.issuer.discovery_url);
    }
  }
  if (config.anonymous && !config.anonymous->enabled && !config.anonymous->paths.empty()) {
    errors.InvalidPrinted(Path("anonymous").Child("conditions"),
                          PrintConditions(config.anonymous->paths),
                          "enabled should be set to true when conditions are defined");
  }
  return errors;
}

}  // namespace apiserver::v0::authn
