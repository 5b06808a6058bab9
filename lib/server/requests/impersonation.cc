#include "server/requests/impersonation.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "apiserver/auth/service_account.h"
#include "apiserver/base/field_path.h"
#include "apiserver/meta/validation.h"
#include "base/status_macros.h"
#include "endpoints/handlers/forbidden.h"

namespace apiserver::v0::server {
namespace {

using auth::Attributes;
using auth::UserInfo;

constexpr std::string_view kAuthenticationGroup = "authentication.k8s.io";
constexpr std::string_view kNodeUsernamePrefix = "system:node:";
constexpr std::string_view kNodesGroup = "system:nodes";
constexpr std::string_view kAssociatedNodeKeys =
    "authentication.kubernetes.io/associated-node-keys";
constexpr std::string_view kAssociatedNode = "associated-node";
constexpr std::string_view kArbitraryNode = "arbitrary-node";
constexpr std::string_view kServiceAccount = "serviceaccount";
constexpr std::string_view kUserInfo = "user-info";
// The number of groups or extras from which on one question for all of them comes first.
constexpr std::size_t kManyChecks = 4;

// Returns the node of a node's username.
std::optional<std::string_view> NodeOf(std::string_view username) {
  if (!username.starts_with(kNodeUsernamePrefix)) return std::nullopt;
  username.remove_prefix(kNodeUsernamePrefix.size());
  if (!meta::NameIsDNSSubdomain(username, false).empty()) return std::nullopt;
  return username;
}

bool OnlyNamed(const UserInfo& user) {
  return user.uid.empty() && user.groups.empty() && user.extra.empty();
}

// True if `requestor` is a service account whose pod runs on the node.
bool RunsOn(const UserInfo& requestor, std::string_view node) {
  if (!auth::serviceaccount::SplitUsername(requestor.name)) return false;
  const auto found = requestor.extra.find(std::string(auth::serviceaccount::kNodeNameKey));
  return found != requestor.extra.end() && found->second.size() == 1 &&
         found->second.front() == node;
}

// True if `mode` is a way to impersonate `wanted`.
bool Applies(std::string_view mode, const UserInfo& wanted, const UserInfo& requestor) {
  const auto node = NodeOf(wanted.name);
  const bool account = auth::serviceaccount::SplitUsername(wanted.name).has_value();
  if (mode == kUserInfo) return !node && !account;
  if (!OnlyNamed(wanted)) return false;
  if (mode == kServiceAccount) return account;
  if (mode == kArbitraryNode) return node.has_value();
  return node && RunsOn(requestor, *node);
}

// Returns the reason why an extra is refused under constrained impersonation. Empty: none.
std::string ExtraProblem(const UserInfo& wanted) {
  const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  for (const auto& [key, values] : wanted.extra) {
    if (key.empty()) return "impersonating the empty string key in extra is not allowed";
    const auto errors = meta::IsDomainPrefixedPath(field::Path("extra").Child("key"), key);
    if (!errors.empty()) {
      return "impersonating an invalid key in extra is not allowed: " + errors.Aggregate();
    }
    if (std::ranges::any_of(key, upper)) {
      return "impersonating a non-lowercase key in extra is not allowed: " + field::Quote(key);
    }
    if (std::ranges::find(values, "") != values.end()) {
      return "impersonating the empty string value in extra is not allowed";
    }
  }
  return "";
}

bool HasManyExtras(const UserInfo& wanted) {
  std::size_t values = 0;
  for (const auto& [key, each] : wanted.extra) values += each.size();
  return wanted.extra.size() >= kManyChecks || values >= kManyChecks;
}

void EnsureGroup(UserInfo& user, std::string_view group) {
  if (!user.InGroup(group)) user.groups.emplace_back(group);
}

std::string_view ModeOf(std::string_view constraint) {
  constexpr std::string_view kPrefix = "impersonate:";
  return constraint.empty() ? "legacy" : constraint.substr(kPrefix.size());
}

// A question that the authorizer has answered.
struct Asked {
  std::string_view mode;
  bool allowed;
  std::chrono::nanoseconds took;
};

// One request's attempt to impersonate `wanted`.
class Attempt {
 public:
  Attempt(const ImpersonationOptions& options, const Context& ctx, const UserInfo& wanted,
          const Attributes& request)
      : options_(options), ctx_(ctx), wanted_(wanted), request_(request) {}

  // Tries one constrained mode. nullopt: it does not apply.
  Result<std::optional<ImpersonatedUser>> Constrained(std::string_view mode) {
    if (!Applies(mode, wanted_, *request_.user)) return std::optional<ImpersonatedUser>();
    mode_ = mode;
    verb_ = "impersonate:" + std::string(mode);
    constrained_ = true;
    requestor_ = mode == kAssociatedNode ? WithoutNode(*request_.user) : request_.user;
    Attributes action = request_;
    const std::string verb =
        "impersonate-on:" + std::string(mode) + ":" + std::string(request_.verb);
    action.verb = verb;
    action.user = requestor_;
    RETURN_IF_ERROR(Ask(action));
    return Become();
  }

  Result<std::optional<ImpersonatedUser>> Legacy() {
    mode_ = "legacy";
    verb_ = "impersonate";
    constrained_ = false;
    requestor_ = request_.user;
    return Become();
  }

  std::span<const Asked> asked() const { return asked_; }

 private:
  // Returns the same user for all pods of the account, whatever node they run on: RunsOn() has
  // already checked that this one runs on the wanted node.
  static auth::UserInfoPtr WithoutNode(const UserInfo& user) {
    UserInfo copy = user;
    copy.extra.clear();
    std::vector<std::string>& keys = copy.extra[std::string(kAssociatedNodeKeys)];
    for (const auto& [key, values] : user.extra) keys.push_back(key);
    return std::make_shared<const UserInfo>(std::move(copy));
  }

  Result<std::optional<ImpersonatedUser>> Become() {
    UserInfo actual = wanted_;
    RETURN_IF_ERROR(AskForName(actual));
    if (!wanted_.uid.empty())
      RETURN_IF_ERROR(Ask(About(kAuthenticationGroup, "uids", wanted_.uid)));
    RETURN_IF_ERROR(AskForGroups());
    RETURN_IF_ERROR(AskForExtras());
    if (actual.name == auth::kAnonymous) {
      EnsureGroup(actual, auth::kAllUnauthenticated);
    } else if (!actual.InGroup(auth::kAllUnauthenticated)) {
      EnsureGroup(actual, auth::kAllAuthenticated);
    }
    return std::optional(ImpersonatedUser{std::make_shared<const UserInfo>(std::move(actual)),
                                          constrained_ ? verb_ : std::string()});
  }

  Attributes About(std::string_view group, std::string_view resource, std::string_view name) const {
    return {.user = requestor_,
            .verb = verb_,
            .resource_request = true,
            .group = group,
            .version = "v1",
            .resource = resource,
            .name = name};
  }
  std::string_view GroupOfUsers() const { return constrained_ ? kAuthenticationGroup : ""; }

  Status AskForName(UserInfo& actual) {
    Attributes attributes = About(GroupOfUsers(), "users", wanted_.name);
    const auto node = NodeOf(wanted_.name);
    if (constrained_ && node) {
      attributes.resource = "nodes";
      attributes.name = mode_ == kAssociatedNode ? "*" : *node;
      actual.groups = {std::string(kNodesGroup)};
    }
    if (const auto account = auth::serviceaccount::SplitUsername(wanted_.name)) {
      attributes.resource = "serviceaccounts";
      attributes.namespace_ = account->namespace_;
      attributes.name = account->name;
      if (wanted_.groups.empty()) {
        actual.groups = auth::serviceaccount::MakeGroupNames(account->namespace_);
      }
    }
    return Ask(attributes);
  }

  Status AskForGroups() {
    const std::vector<std::string>& groups = wanted_.groups;
    Attributes attributes = About(GroupOfUsers(), "groups", "");
    if (constrained_ && wanted_.InGroup("")) {
      return endpoints::ForbiddenStatusError(attributes,
                                             "impersonating the empty string group is not allowed");
    }
    // A member of this group is allowed everything, which no constraint could limit.
    if (constrained_ && wanted_.InGroup(auth::kSystemPrivilegedGroup)) {
      attributes.name = auth::kSystemPrivilegedGroup;
      return endpoints::ForbiddenStatusError(
          attributes, "impersonating the system:masters group is not allowed");
    }
    if (constrained_ && groups.size() >= kManyChecks) {
      attributes.name = "*";
      Status all = Ask(attributes);
      if (all.ok() || all.reason() == Reason::kWouldBlock) return all;
    }
    return AskForEach(attributes, groups);
  }

  Status AskForExtras() {
    if (wanted_.extra.empty()) return {};
    Attributes attributes = About(kAuthenticationGroup, "userextras", "");
    const std::string problem = constrained_ ? ExtraProblem(wanted_) : "";
    if (!problem.empty()) return endpoints::ForbiddenStatusError(attributes, problem);
    if (constrained_ && HasManyExtras(wanted_)) {
      attributes.subresource = attributes.name = "*";
      Status all = Ask(attributes);
      if (all.ok() || all.reason() == Reason::kWouldBlock) return all;
    }
    for (const auto& [key, values] : wanted_.extra) {
      attributes.subresource = key;
      RETURN_IF_ERROR(AskForEach(attributes, values));
    }
    return {};
  }

  Status AskForEach(Attributes attributes, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      attributes.name = name;
      RETURN_IF_ERROR(Ask(attributes));
    }
    return {};
  }

  // Asks the authorizer. OK: allowed.
  Status Ask(const Attributes& attributes) {
    if (options_.authorizer == nullptr) return {};
    const Clock::Monotonic begun = options_.clock->Now();
    const Result<auth::Verdict> verdict = options_.authorizer->Authorize(ctx_, attributes);
    if (verdict.status().reason() == Reason::kWouldBlock) return verdict.status();
    const bool allowed = verdict.ok() && verdict->decision == auth::Decision::kAllow;
    asked_.push_back({mode_, allowed, options_.clock->Now() - begun});
    if (allowed) return {};
    if (verdict.ok()) return endpoints::ForbiddenStatusError(attributes, verdict->reason);
    if (verdict.status().reason() == Reason::kForbidden) return verdict.status();
    return endpoints::ForbiddenStatusError(attributes, verdict.status().message());
  }

  const ImpersonationOptions& options_;
  const Context& ctx_;
  const UserInfo& wanted_;
  const Attributes& request_;
  // The fields of the mode that is tried.
  std::string_view mode_;
  std::string verb_;
  bool constrained_ = false;
  auth::UserInfoPtr requestor_;
  std::vector<Asked> asked_;
};

// Returns the first mode that allows it, or the refusal of the first that applies.
Result<ImpersonatedUser> TryAll(Attempt& attempt, bool constrained) {
  Status refused;
  constexpr std::string_view kModes[] = {kAssociatedNode, kArbitraryNode, kServiceAccount,
                                         kUserInfo};
  for (const std::string_view mode : kModes) {
    if (!constrained) break;
    Result<std::optional<ImpersonatedUser>> found = attempt.Constrained(mode);
    if (found.ok() && found->has_value()) return **std::move(found);
    if (found.status().reason() == Reason::kWouldBlock) return found.status();
    if (refused.ok()) refused = found.status();
  }
  Result<std::optional<ImpersonatedUser>> found = attempt.Legacy();
  if (found.ok() && found->has_value()) return **std::move(found);
  if (found.status().reason() == Reason::kWouldBlock || refused.ok()) return found.status();
  return refused;
}

}  // namespace

Impersonation::Impersonation(const ImpersonationOptions& options) : options_(options) {
  if (options_.metrics == nullptr) return;
  const auto counters = [this](const std::string& name, const std::string& of_what) {
    const std::vector<std::string> labels = {"mode", "decision"};
    return Counters{
        &options_.metrics->Counters(
            {.name = "apiserver_impersonation_" + name + "_total",
             .help = "[ALPHA] Total number of " + of_what + " split by mode and decision.",
             .labels = labels}),
        &options_.metrics->Histograms(
            {.name = "apiserver_impersonation_" + name + "_duration_seconds",
             .help = "[ALPHA] Latency of " + of_what + " in seconds split by mode and decision.",
             .labels = labels},
            metrics::ExponentialBuckets(0.001, 2, 15))};
  };
  attempts_ = counters("attempts", "impersonation attempts");
  authorizations_ =
      counters("authorization_attempts", "authorization checks made by the impersonation handler");
}

Result<ImpersonatedUser> Impersonation::Check(const Context& ctx, const UserInfo& wanted,
                                              const Attributes& attributes) const {
  const Clock::Monotonic begun = options_.clock->Now();
  Attempt attempt(options_, ctx, wanted, attributes);
  Result<ImpersonatedUser> found = TryAll(attempt, options_.constrained);
  // The attempt will be repeated, and counted then.
  if (found.status().reason() == Reason::kWouldBlock) return found;
  for (const Asked& each : attempt.asked()) {
    Count(authorizations_, each.mode, each.allowed, each.took);
  }
  Count(attempts_, found.ok() ? ModeOf(found->constraint) : "", found.ok(),
        options_.clock->Now() - begun);
  return found;
}

void Impersonation::Count(const std::optional<Counters>& counters, std::string_view mode,
                          bool allowed, std::chrono::nanoseconds took) const {
  if (!counters) return;
  const std::string_view decision = allowed ? "allowed" : "denied";
  counters->total->With({mode, decision}).Add();
  counters->seconds->With({mode, decision}).Observe(std::chrono::duration<double>(took).count());
}

}  // namespace apiserver::v0::server
