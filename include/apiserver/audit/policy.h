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

// Which requests are recorded, and how much of them: k8s.io/apiserver/pkg/audit/policy.
namespace apiserver::inline v0::audit {

// By Stage.
using OmittedStages = std::array<bool, kStages>;

struct GroupResources {
  std::string group = {};  // "*": every group.
  // "pods", "pods/log", "*", "pods/*", "*/scale"; empty: everything of the group.
  std::vector<std::string> resources = {};
  std::vector<std::string> resource_names = {};  // Empty: every name.

  friend bool operator==(const GroupResources&, const GroupResources&) = default;
};

// Every list that is not empty must match.
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
  std::optional<bool> omit_managed_fields = {};  // Over the policy's.

  friend bool operator==(const PolicyRule&, const PolicyRule&) = default;
};

struct Policy {
  std::vector<PolicyRule> rules;  // The first that matches counts; none: Level::kNone.
  OmittedStages omit_stages = {};
  bool omit_managed_fields = false;

  friend bool operator==(const Policy&, const Policy&) = default;
};

// An audit.k8s.io/v1 Policy in YAML or JSON. kInvalid: everything that is wrong with it, each with
// its line and what would be right. Stricter than Go, which takes unknown fields with a warning.
Result<Policy> ParsePolicy(std::string_view text);
// The same from a file, whose path stands in the error.
Result<Policy> LoadPolicyFile(const FileSystem& files, const std::string& path);

// What to record of a request. Any thread; asked once a request, before it is authorized.
class PolicyRuleEvaluator {
 public:
  virtual ~PolicyRuleEvaluator() = default;
  // `attributes.user` is null for who could not be authenticated.
  virtual RequestAuditConfig EvaluatePolicyRule(const auth::Attributes& attributes) const = 0;
};
std::unique_ptr<const PolicyRuleEvaluator> NewPolicyRuleEvaluator(Policy policy);

}  // namespace apiserver::inline v0::audit
