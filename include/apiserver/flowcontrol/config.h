#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What API Priority and Fairness is configured with: the FlowSchemas and
// PriorityLevelConfigurations of flowcontrol.apiserver.k8s.io/v1, as plain structures.
namespace apiserver::inline v0::flowcontrol {

// How requests of one level wait for a seat.
struct QueuingConfiguration {
  int queues = 64;
  int hand_size = 8;            // Queues that a flow is dealt; its requests go to the emptiest.
  int queue_length_limit = 50;  // A request that would make a queue longer is refused.

  friend bool operator==(const QueuingConfiguration&, const QueuingConfiguration&) = default;
};

// One class of requests and its share of the server's seats.
struct PriorityLevelConfiguration {
  std::string name;
  std::string uid;  // Empty: there is no object.
  // Exempt: its requests never wait. Only the level "exempt" is.
  bool exempt = false;
  int nominal_concurrency_shares = 30;
  int lendable_percent = 0;                     // Of its nominal seats, to other levels.
  std::optional<int> borrowing_limit_percent;   // Of its nominal seats; absent: no limit.
  std::optional<QueuingConfiguration> queuing;  // Absent: what finds no seat is refused.

  friend bool operator==(const PriorityLevelConfiguration&,
                         const PriorityLevelConfiguration&) = default;
};

struct Subject {
  enum class Kind : std::uint8_t { kUser, kGroup, kServiceAccount };
  Kind kind = Kind::kUser;
  std::string name;  // "*": any.
  std::string namespace_ = {};

  friend bool operator==(const Subject&, const Subject&) = default;
};

// Everywhere below a list of just "*" means any.
struct ResourcePolicyRule {
  std::vector<std::string> verbs;
  std::vector<std::string> api_groups;
  std::vector<std::string> resources;
  bool cluster_scope = false;  // Matches requests without a namespace too.
  std::vector<std::string> namespaces;

  friend bool operator==(const ResourcePolicyRule&, const ResourcePolicyRule&) = default;
};

struct NonResourcePolicyRule {
  std::vector<std::string> verbs;
  std::vector<std::string> non_resource_urls;  // "/healthz", "/metrics/*", "*".

  friend bool operator==(const NonResourcePolicyRule&, const NonResourcePolicyRule&) = default;
};

struct PolicyRulesWithSubjects {
  std::vector<Subject> subjects;
  std::vector<ResourcePolicyRule> resource_rules;
  std::vector<NonResourcePolicyRule> non_resource_rules;

  friend bool operator==(const PolicyRulesWithSubjects&, const PolicyRulesWithSubjects&) = default;
};

// Which requests belong to which level, and which of them are one flow.
struct FlowSchema {
  enum class Distinguisher : std::uint8_t { kNone, kByUser, kByNamespace };

  std::string name;
  std::string uid;
  std::string priority_level;
  int matching_precedence = 1000;  // Lowest first; equal ones by name.
  Distinguisher distinguisher = Distinguisher::kNone;
  std::vector<PolicyRulesWithSubjects> rules;

  friend bool operator==(const FlowSchema&, const FlowSchema&) = default;
};

struct Configuration {
  std::vector<PriorityLevelConfiguration> priority_levels;
  std::vector<FlowSchema> flow_schemas;
};

// Always there: exempt and catch-all. k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap.
Configuration MandatoryConfiguration();
// What a server has beside the mandatory ones unless its objects say otherwise.
Configuration SuggestedConfiguration();
// Both: what a server without the API group runs with.
Configuration BuiltInConfiguration();

inline constexpr std::string_view kExempt = "exempt";
inline constexpr std::string_view kCatchAll = "catch-all";

}  // namespace apiserver::inline v0::flowcontrol
