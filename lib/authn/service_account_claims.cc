#include "authn/service_account_claims.h"

#include <openssl/crypto.h>

#include <chrono>
#include <string>
#include <utility>

#include "apiserver/audit/context.h"
#include "authn/jwt.h"
#include "base/status_macros.h"

namespace apiserver::v0::authn {
namespace {

using auth::serviceaccount::ServiceAccountInfo;
using runtime::Value;

// Tolerates other servers' clocks, and objects that were deleted a moment ago.
constexpr std::chrono::seconds kLeeway = std::chrono::minutes(1);

Status BadAccountToken(std::string why) { return Status(Reason::kUnauthorized, std::move(why)); }

Status Invalidated() { return BadAccountToken("service account token has been invalidated"); }

// A name and a uid in a claim.
struct ClaimedObject {
  std::string name;
  std::string uid;
};
ClaimedObject Claimed(Value reference) {
  return {std::string(reference["name"].AsString()), std::string(reference["uid"].AsString())};
}

// Returns `refusal` for an error of a look-up, except for kWouldBlock.
Status NotFoundAs(const Status& found, Status refusal) {
  if (found.reason() == Reason::kWouldBlock) return found;
  return refusal;
}

std::string UidMismatch(const std::string& what, const std::string& now, const std::string& claim,
                        const std::string& claimed) {
  return what + " UID (" + now + ") does not match " + claim + " (" + claimed + ")";
}

// Compares the objects of a token with the stored ones, as validator.Validate in
// pkg/serviceaccount.
class BoundCheck {
 public:
  BoundCheck(const Context& ctx, const ServiceAccountTokenOptions& options)
      : ctx_(ctx), getter_(*options.getter), deleted_before_(options.clock->WallNow() - kLeeway) {}

  Status Account(const std::string& namespace_, const ClaimedObject& account) const {
    const auto found = getter_.GetServiceAccount(ctx_, namespace_, account.name);
    if (!found.ok()) {
      return NotFoundAs(found.status(), BadAccountToken(std::string(found.status().message())));
    }
    if (IsGone(found->deleted_at)) {
      return BadAccountToken("service account " + namespace_ + "/" + account.name +
                             " has been deleted");
    }
    if (found->uid == account.uid) return {};
    return BadAccountToken(UidMismatch("service account", found->uid, "claim", account.uid));
  }

  // Checks the pod, secret or node that the token is bound to.
  template <class Found>
  Status Bound(const Result<Found>& found, const ClaimedObject& claimed,
               const std::string& what) const {
    if (!found.ok()) return NotFoundAs(found.status(), Invalidated());
    if (IsGone(found->deleted_at)) return Invalidated();
    if (found->uid == claimed.uid) return {};
    return BadAccountToken(
        UidMismatch(what, found->uid, "service account " + what + " ref claim", claimed.uid));
  }

  bool IsGone(const std::optional<Clock::Wall>& deleted_at) const {
    return deleted_at && *deleted_at < deleted_before_;
  }

 private:
  const Context& ctx_;
  const ServiceAccountTokenGetter& getter_;
  const Clock::Wall deleted_before_;
};

// As go-jose's Claims.Validate, with its default leeway of a minute to both sides.
Status CheckTimes(Value claims, const Clock& clock) {
  const std::int64_t now =
      std::chrono::floor<std::chrono::seconds>(clock.WallNow().time_since_epoch()).count();
  const auto expires = NumericDate(claims["exp"]);
  if (!expires) return BadAccountToken("service account token does not say when it expires");
  if (now - kLeeway.count() > *expires) {
    return BadAccountToken("service account token has expired");
  }
  for (const char* claim : {"nbf", "iat"}) {
    if (claims[claim].is_null()) continue;
    const auto begins = NumericDate(claims[claim]);
    if (!begins || now + kLeeway.count() < *begins) {
      return BadAccountToken("service account token is not valid yet");
    }
  }
  return {};
}

// The account is checked first, as upstream: its error is the one that an administrator can act on.
Status CheckBinding(const Context& ctx, const ServiceAccountTokenOptions& options, Value kubernetes,
                    const std::string& namespace_) {
  const BoundCheck check(ctx, options);
  const ServiceAccountTokenGetter& getter = *options.getter;
  const bool with_pod = kubernetes["pod"].is_map();
  const bool with_secret = kubernetes["secret"].is_map();
  RETURN_IF_ERROR(check.Account(namespace_, Claimed(kubernetes["serviceaccount"])));
  if (with_secret) {
    const ClaimedObject secret = Claimed(kubernetes["secret"]);
    RETURN_IF_ERROR(check.Bound(getter.GetSecret(ctx, namespace_, secret.name), secret, "secret"));
  }
  if (with_pod) {
    const ClaimedObject pod = Claimed(kubernetes["pod"]);
    RETURN_IF_ERROR(check.Bound(getter.GetPod(ctx, namespace_, pod.name), pod, "pod"));
  }
  // The node of a token for a pod or a secret is informative: the token is not bound to it.
  if (!kubernetes["node"].is_map() || with_pod || with_secret) return {};
  const ClaimedObject node = Claimed(kubernetes["node"]);
  return check.Bound(getter.GetNode(ctx, node.name), node, "node");
}

// Tells of a token whose holder ought to have read a newer one, without refusing it.
void NoteAge(const Context& ctx, const ServiceAccountTokenOptions& options, Value claims) {
  const auto warn_after = NumericDate(claims["kubernetes.io"]["warnafter"]);
  if (!warn_after || *warn_after == 0) return;
  const auto count = [&](const char* name, const char* help) {
    if (options.metrics) options.metrics->Counters({.name = name, .help = help}).With({}).Add();
  };
  const auto age = options.clock->WallNow() - Clock::Wall(std::chrono::seconds(*warn_after));
  if (age <= Clock::Wall::duration::zero()) {
    count("serviceaccount_valid_tokens_total",
          "[ALPHA] Cumulative valid projected service account tokens used");
    return;
  }
  count("serviceaccount_stale_tokens_total",
        "[ALPHA] Cumulative stale projected service account tokens used");
  const auto seconds = std::chrono::floor<std::chrono::seconds>(age).count();
  audit::AddAnnotation(ctx, "authentication.k8s.io/stale-token",
                       "subject: " + std::string(claims["sub"].AsString()) +
                           ", seconds after warning threshold: " + std::to_string(seconds));
}

std::string CredentialIdOf(Value claims) {
  const std::string_view id = claims["jti"].AsString();
  return id.empty() ? "" : "JTI=" + std::string(id);
}

constexpr std::string_view kLegacyNamespace = "kubernetes.io/serviceaccount/namespace";
constexpr std::string_view kLegacySecret = "kubernetes.io/serviceaccount/secret.name";
constexpr std::string_view kLegacyName = "kubernetes.io/serviceaccount/service-account.name";
constexpr const char* kInvalidSinceLabel = "kubernetes.io/legacy-token-invalid-since";
constexpr std::string_view kLegacyUid = "kubernetes.io/serviceaccount/service-account.uid";

// A legacy token never expires: it is revoked by deleting or changing the Secret that holds it.
Result<StoredSecret> CheckLegacySecret(const Context& ctx,
                                       const ServiceAccountTokenOptions& options,
                                       std::string_view token, Value claims) {
  auto secret = options.getter->GetSecret(ctx, claims[kLegacyNamespace].AsString(),
                                          claims[kLegacySecret].AsString());
  if (!secret.ok()) {
    return NotFoundAs(secret.status(), BadAccountToken("Token has been invalidated"));
  }
  if (secret->deleted_at) return BadAccountToken("Token has been invalidated");
  const auto kept = secret->data.find("token");
  // Compares in constant time, so that the response's delay tells nothing of the stored token.
  if (kept == secret->data.end() || kept->second.size() != token.size() ||
      CRYPTO_memcmp(kept->second.data(), token.data(), token.size()) != 0) {
    return BadAccountToken("Token does not match server's copy");
  }
  return secret;
}

// Refuses a token that the clean-up of unused tokens has marked.
Status CheckLegacyMark(const StoredSecret& secret, Value claims, const ServiceAccountInfo& info) {
  const auto since = secret.labels.find(kInvalidSinceLabel);
  if (since == secret.labels.end() || since->second.empty()) return {};
  const std::string in = info.namespace_ + "/";
  return BadAccountToken(
      "the token in secret " + in + std::string(claims[kLegacySecret].AsString()) +
      " for service account " + in + info.name +
      " has been marked invalid. Use tokens from the TokenRequest API or "
      "manually created secret-based tokens, or remove the '" +
      kInvalidSinceLabel + "' label from the secret to temporarily allow use of this token");
}

Status CheckLegacyAccount(const Context& ctx, const ServiceAccountTokenOptions& options,
                          const ServiceAccountInfo& info) {
  const auto account = options.getter->GetServiceAccount(ctx, info.namespace_, info.name);
  if (!account.ok()) {
    return NotFoundAs(account.status(), BadAccountToken(std::string(account.status().message())));
  }
  if (account->deleted_at) {
    return BadAccountToken("ServiceAccount " + info.namespace_ + "/" + info.name +
                           " has been deleted");
  }
  if (account->uid == info.uid) return {};
  return BadAccountToken(UidMismatch("ServiceAccount", account->uid, "claim", info.uid));
}

}  // namespace

// Follows validator.Validate in pkg/serviceaccount/claims.go; the signature is verified already.
Result<ServiceAccountInfo> ValidateBoundClaims(const Context& ctx,
                                               const ServiceAccountTokenOptions& options,
                                               Value claims) {
  RETURN_IF_ERROR(CheckTimes(claims, *options.clock));
  const Value kubernetes = claims["kubernetes.io"];
  ServiceAccountInfo info{.name = Claimed(kubernetes["serviceaccount"]).name,
                          .namespace_ = std::string(kubernetes["namespace"].AsString()),
                          .uid = Claimed(kubernetes["serviceaccount"]).uid,
                          .credential_id = CredentialIdOf(claims)};
  // A program that signs other claims with the same key must not create service accounts by it.
  const auto subject = auth::serviceaccount::SplitUsername(claims["sub"].AsString());
  if (!subject || subject->namespace_ != info.namespace_ || subject->name != info.name) {
    return BadAccountToken("sub claim is invalid");
  }
  if (options.getter != nullptr) {
    RETURN_IF_ERROR(CheckBinding(ctx, options, kubernetes, info.namespace_));
  }
  NoteAge(ctx, options, claims);
  const ClaimedObject pod = Claimed(kubernetes["pod"]);
  const ClaimedObject node = Claimed(kubernetes["node"]);
  info.pod_name = pod.name;
  info.pod_uid = pod.uid;
  info.node_name = node.name;
  info.node_uid = node.uid;
  return info;
}

// Follows legacyValidator.Validate in pkg/serviceaccount/legacy.go, with its order of checks.
Result<ServiceAccountInfo> ValidateLegacyClaims(const Context& ctx,
                                                const ServiceAccountTokenOptions& options,
                                                std::string_view token, Value claims) {
  const std::string_view subject = claims["sub"].AsString();
  ServiceAccountInfo info{.name = std::string(claims[kLegacyName].AsString()),
                          .namespace_ = std::string(claims[kLegacyNamespace].AsString()),
                          .uid = std::string(claims[kLegacyUid].AsString())};
  if (subject.empty()) return BadAccountToken("sub claim is missing");
  if (info.namespace_.empty()) return BadAccountToken("namespace claim is missing");
  if (claims[kLegacySecret].AsString().empty()) {
    return BadAccountToken("secretName claim is missing");
  }
  if (info.name.empty()) return BadAccountToken("serviceAccountName claim is missing");
  if (info.uid.empty()) return BadAccountToken("serviceAccountUID claim is missing");
  const auto account = auth::serviceaccount::SplitUsername(subject);
  if (!account || account->namespace_ != info.namespace_ || account->name != info.name) {
    return BadAccountToken("sub claim is invalid");
  }
  if (options.getter == nullptr) return info;
  ASSIGN_OR_RETURN(const StoredSecret secret, CheckLegacySecret(ctx, options, token, claims));
  RETURN_IF_ERROR(CheckLegacyAccount(ctx, options, info));
  RETURN_IF_ERROR(CheckLegacyMark(secret, claims, info));
  return info;
}

}  // namespace apiserver::v0::authn
