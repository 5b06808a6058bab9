#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/audit/context.h"
#include "apiserver/audit/event.h"
#include "apiserver/auth/authorizer.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"

// The audit policy, which decides how much of a request is recorded:
// k8s.io/apiserver/pkg/audit/policy.
namespace apiserver::inline v0::audit {

// Indexed by Stage.
using OmittedStages = std::array<bool, kStages>;

// Resources of a group.
struct GroupResources {
  std::string group = {};  // "*": every group.
  // "pods", "pods/log", "*", "pods/*", "*/scale"; empty: everything of the group.
  std::vector<std::string> resources = {};
  std::vector<std::string> resource_names = {};  // Empty: every name.

  friend bool operator==(const GroupResources&, const GroupResources&) = default;
};

// A rule and its conditions: every list that is not empty must match.
struct PolicyRule {
  Level level = Level::kNone;
  std::vector<std::string> users = {};
  std::vector<std::string> user_groups = {};
  std::vector<std::string> verbs = {};
  // Resources, or paths outside them ("/healthz*"), or neither.
  std::vector<GroupResources> resources = {};
  std::vector<std::string> namespaces = {};  // "": cluster-scoped.
  std::vector<std::string> non_resource_urls = {};
  OmittedStages omit_stages = {};
  std::optional<bool> omit_managed_fields = {};  // Overrides the policy's.

  friend bool operator==(const PolicyRule&, const PolicyRule&) = default;
};

// An audit policy.
struct Policy {
  std::vector<PolicyRule> rules;  // The first that matches counts. If none does: Level::kNone.
  OmittedStages omit_stages = {};
  bool omit_managed_fields = false;

  friend bool operator==(const Policy&, const Policy&) = default;
};

// Parses an audit.k8s.io/v1 Policy in YAML or JSON. kInvalid: all faults, each with its line and
// the correct form. Stricter than Go, which accepts unknown fields with a warning.
Result<Policy> ParsePolicy(std::string_view text);
// The same from a file; errors have its path.
Result<Policy> LoadPolicyFile(const FileSystem& files, const std::string& path);

// Evaluates the policy. Called from any thread, once a request, before it is authorized; must not
// block.
class PolicyRuleEvaluator {
 public:
  virtual ~PolicyRuleEvaluator() = default;
  // `attributes.user` is null if the request could not be authenticated.
  virtual RequestAuditConfig EvaluatePolicyRule(const auth::Attributes& attributes) const = 0;
};
// Evaluates the rules of `policy` in their order.
std::unique_ptr<const PolicyRuleEvaluator> NewPolicyRuleEvaluator(Policy policy);

}  // namespace apiserver::inline v0::audit
