#include "apiserver/authz/builtin.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "apiserver/base/field_path.h"

namespace apiserver::v0::authz {
namespace {

using auth::Attributes;
using auth::Decision;
using auth::Verdict;

class AlwaysAllow final : public auth::Authorizer {
 public:
  Result<Verdict> Authorize(const Context& /*ctx*/, const Attributes& /*asked*/) const override {
    return Verdict{.decision = Decision::kAllow};
  }
};

class AlwaysAllowRules final : public auth::RuleResolver {
 public:
  auth::Rules RulesFor(const Context& /*ctx*/, const auth::UserInfoPtr& /*user*/,
                       std::string_view /*namespace_*/) const override {
    return {.resource_rules = {{.verbs = {"*"}, .groups = {"*"}, .resources = {"*"}}},
            .non_resource_rules = {{.verbs = {"*"}, .paths = {"*"}}}};
  }
};

// No opinion rather than a denial, so that an authorizer behind it may still allow; as upstream.
class AlwaysDeny final : public auth::Authorizer {
 public:
  Result<Verdict> Authorize(const Context& /*ctx*/, const Attributes& /*asked*/) const override {
    return Verdict{.reason = "Everything is forbidden."};
  }
};

// Used for system:masters, which stays allowed if all roles are lost.
class PrivilegedGroups final : public auth::Authorizer {
 public:
  explicit PrivilegedGroups(std::vector<std::string> groups) : groups_(std::move(groups)) {}

  Result<Verdict> Authorize(const Context& /*ctx*/, const Attributes& asked) const override {
    const bool privileged = std::ranges::any_of(
        groups_, [&](const std::string& group) { return asked.user->InGroup(group); });
    return Verdict{.decision = privileged ? Decision::kAllow : Decision::kNoOpinion};
  }

 private:
  const std::vector<std::string> groups_;
};

// Go's path authorizer strips one slash from both sides of the comparison.
std::string_view WithoutSlash(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

class AlwaysAllowPaths final : public auth::Authorizer {
 public:
  // `path` without its slash; its stars are checked.
  void Add(std::string_view path) {
    if (path.ends_with('*')) {
      prefixes_.emplace_back(path.substr(0, path.size() - 1));
    } else {
      paths_.emplace(path);
    }
  }

  Result<Verdict> Authorize(const Context& /*ctx*/, const Attributes& asked) const override {
    const bool allowed = !asked.resource_request && Allows(WithoutSlash(asked.path));
    return Verdict{.decision = allowed ? Decision::kAllow : Decision::kNoOpinion};
  }

 private:
  bool Allows(std::string_view path) const {
    return paths_.contains(path) || std::ranges::any_of(prefixes_, [&](const std::string& prefix) {
             return path.starts_with(prefix);
           });
  }

  std::set<std::string, std::less<>> paths_;
  std::vector<std::string> prefixes_;
};

}  // namespace

std::unique_ptr<auth::Authorizer> NewAlwaysAllow() { return std::make_unique<AlwaysAllow>(); }

std::unique_ptr<auth::RuleResolver> NewAlwaysAllowRules() {
  return std::make_unique<AlwaysAllowRules>();
}

std::unique_ptr<auth::Authorizer> NewAlwaysDeny() { return std::make_unique<AlwaysDeny>(); }

std::unique_ptr<auth::Authorizer> NewPrivilegedGroups(std::vector<std::string> groups) {
  return std::make_unique<PrivilegedGroups>(std::move(groups));
}

Result<std::unique_ptr<auth::Authorizer>> NewAlwaysAllowPaths(
    const std::vector<std::string>& paths) {
  auto authorizer = std::make_unique<AlwaysAllowPaths>();
  for (const std::string& path : paths) {
    const std::string_view text = WithoutSlash(path);
    // A star elsewhere would be taken for itself.
    if (!text.empty() && text.substr(0, text.size() - 1).find('*') != std::string_view::npos) {
      return Status(Reason::kInvalid, "only trailing * allowed in " + field::Quote(text));
    }
    authorizer->Add(text);
  }
  return authorizer;
}

}  // namespace apiserver::v0::authz
