#include "authn/claims.h"

#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/time.h"
#include "base/status_macros.h"
#include "runtime/json_type.h"

namespace apiserver::v0::authn {
namespace {

using runtime::Value;

Status BadClaim(std::string why) { return Status(Reason::kUnauthorized, std::move(why)); }

Status OtherType(Value value, std::string_view wanted) {
  return BadClaim("json: cannot unmarshal " + std::string(runtime::JsonTypeName(value)) +
                  " into Go value of type " + std::string(wanted));
}

Result<Value> ClaimOf(Value claims, const std::string& name) {
  const Value* const claim = claims.Find(name);
  if (claim == nullptr) return BadClaim("claim not present");
  return *claim;
}

Status Because(const std::string& before, const Status& why) {
  return BadClaim(before + ": " + std::string(why.message()));
}

// As upstream, an absent claim counts as verified.
Status CheckEmailVerified(Value claims) {
  if (claims.Find("email_verified") == nullptr) return {};
  const Result<bool> verified = BoolClaim(claims, "email_verified");
  if (!verified.ok()) return Because("oidc: parse 'email_verified' claim", verified.status());
  return *verified ? Status() : BadClaim("oidc: email not verified");
}

Result<std::string> UsernameOf(const PrefixedClaimOrExpression& rule, Value claims) {
  const Result<std::string> name = TextClaim(claims, rule.claim);
  if (!name.ok()) {
    return Because("oidc: parse username claims " + field::Quote(rule.claim), name.status());
  }
  // An address that the issuer has not verified could be that of another user.
  if (rule.claim == "email") RETURN_IF_ERROR(CheckEmailVerified(claims));
  return rule.prefix.value_or("") + *name;
}

Result<std::vector<std::string>> GroupsOf(const PrefixedClaimOrExpression& rule, Value claims) {
  if (rule.claim.empty()) return std::vector<std::string>();
  // As upstream: a user without the claim is in no groups.
  if (claims.Find(rule.claim) == nullptr) return std::vector<std::string>();
  Result<std::vector<std::string>> groups = TextsClaim(claims, rule.claim);
  if (!groups.ok()) {
    return Because("oidc: parse groups claim " + field::Quote(rule.claim), groups.status());
  }
  for (std::string& group : *groups) group.insert(0, rule.prefix.value_or(""));
  return groups;
}

Status CheckRequired(const ClaimValidationRule& rule, Value claims) {
  if (claims.Find(rule.claim) == nullptr) {
    return BadClaim("oidc: required claim " + rule.claim + " not present in ID token");
  }
  const Result<std::string> value = TextClaim(claims, rule.claim);
  if (!value.ok()) return Because("oidc: parse claim " + rule.claim, value.status());
  if (*value == rule.required_value) return {};
  return BadClaim("oidc: required claim " + rule.claim + " value does not match. Got = " + *value +
                  ", want = " + rule.required_value);
}

}  // namespace

Result<std::string> TextClaim(Value claims, const std::string& name) {
  ASSIGN_OR_RETURN(const Value claim, ClaimOf(claims, name));
  if (claim.is_string() || claim.is_null()) return std::string(claim.AsString());
  return OtherType(claim, "string");
}

Result<bool> BoolClaim(Value claims, const std::string& name) {
  ASSIGN_OR_RETURN(const Value claim, ClaimOf(claims, name));
  if (claim.type() == Value::Type::kBool || claim.is_null()) return claim.AsBool();
  return OtherType(claim, "bool");
}

Result<std::vector<std::string>> TextsClaim(Value claims, const std::string& name) {
  ASSIGN_OR_RETURN(const Value claim, ClaimOf(claims, name));
  std::vector<std::string> texts;
  if (claim.is_null()) return texts;
  if (claim.is_string()) {
    texts.emplace_back(claim.AsString());
    return texts;
  }
  if (!claim.is_list()) return OtherType(claim, "string");
  for (const Value item : claim.items()) {
    if (!item.is_string() && !item.is_null()) return OtherType(claim, "string");
    texts.emplace_back(item.AsString());
  }
  return texts;
}

Result<auth::UserInfo> UserOfClaims(const JwtAuthenticator& rules, Value claims) {
  auth::UserInfo user;
  ASSIGN_OR_RETURN(user.name, UsernameOf(rules.claim_mappings.username, claims));
  ASSIGN_OR_RETURN(user.groups, GroupsOf(rules.claim_mappings.groups, claims));
  const std::string& uid_claim = rules.claim_mappings.uid.claim;
  if (!uid_claim.empty()) {
    Result<std::string> uid = TextClaim(claims, uid_claim);
    if (!uid.ok()) {
      return Because("oidc: parse uid claim " + field::Quote(uid_claim), uid.status());
    }
    user.uid = *std::move(uid);
  }
  const std::string_view id = claims["jti"].AsString();
  if (!id.empty()) {
    user.extra[std::string(auth::kCredentialIDKey)] = {"JTI=" + std::string(id)};
  }
  for (const ClaimValidationRule& rule : rules.claim_validation_rules) {
    RETURN_IF_ERROR(CheckRequired(rule, claims));
  }
  return user;
}

// Prints a time as Go's time.Time.String, which upstream's errors contain.
std::string GoTimeText(std::int64_t unix_seconds) {
  std::string text = runtime::FormatTime({.seconds = unix_seconds});
  // "2006-01-02T15:04:05Z".
  if (text.size() > 11 && text.ends_with('Z')) {
    text.pop_back();
    text[text.size() - 9] = ' ';
    text += " +0000 UTC";
  }
  return text;
}

}  // namespace apiserver::v0::authn
