#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The configuration of API Priority and Fairness: the FlowSchemas and PriorityLevelConfigurations
// of flowcontrol.apiserver.k8s.io/v1, as plain structures.
namespace apiserver::inline v0::flowcontrol {

// The queues of one level, in which requests wait for a seat.
struct QueuingConfiguration {
  int queues = 64;
  int hand_size = 8;  // The number of queues that a flow is dealt; its requests go to the emptiest.
  int queue_length_limit = 50;  // A request that would make a queue longer is rejected.

  friend bool operator==(const QueuingConfiguration&, const QueuingConfiguration&) = default;
};

// One class of requests and its share of the server's seats.
struct PriorityLevelConfiguration {
  std::string name;
  std::string uid;  // Empty: there is no object.
  // If set, its requests never wait. Only the level "exempt" is exempt.
  bool exempt = false;
  // The weight of its share of the server's seats.
  int nominal_concurrency_shares = 30;
  int lendable_percent = 0;  // The part of its nominal seats that it lends to other levels.
  // The part of its nominal seats that it borrows at most. Absent: no limit.
  std::optional<int> borrowing_limit_percent;
  std::optional<QueuingConfiguration> queuing;  // Absent: a request that finds no seat is rejected.

  friend bool operator==(const PriorityLevelConfiguration&,
                         const PriorityLevelConfiguration&) = default;
};

// The users, groups or service accounts that a rule applies to.
struct Subject {
  // The kinds of Kubernetes' flowcontrol.apiserver.k8s.io.
  enum class Kind : std::uint8_t { kUser, kGroup, kServiceAccount };
  Kind kind = Kind::kUser;
  std::string name;  // "*": any.
  std::string namespace_ = {};

  friend bool operator==(const Subject&, const Subject&) = default;
};

// The resource requests that a rule applies to. In this and the next rule a list of just "*" means
// any.
struct ResourcePolicyRule {
  std::vector<std::string> verbs;
  std::vector<std::string> api_groups;
  std::vector<std::string> resources;
  bool cluster_scope = false;  // If set, requests without a namespace match too.
  // Requests with a namespace match only if it is listed.
  std::vector<std::string> namespaces;

  friend bool operator==(const ResourcePolicyRule&, const ResourcePolicyRule&) = default;
};

// The non-resource requests that a rule applies to.
struct NonResourcePolicyRule {
  std::vector<std::string> verbs;
  std::vector<std::string> non_resource_urls;  // "/healthz", "/metrics/*", "*".

  friend bool operator==(const NonResourcePolicyRule&, const NonResourcePolicyRule&) = default;
};

// A rule: requests of the subjects that match one of the resource or non-resource rules.
struct PolicyRulesWithSubjects {
  std::vector<Subject> subjects;
  std::vector<ResourcePolicyRule> resource_rules;
  std::vector<NonResourcePolicyRule> non_resource_rules;

  friend bool operator==(const PolicyRulesWithSubjects&, const PolicyRulesWithSubjects&) = default;
};

// Assigns matching requests to a priority level, and groups them into flows.
struct FlowSchema {
  // The attribute that separates flows. kNone: all matching requests are one flow.
  enum class Distinguisher : std::uint8_t { kNone, kByUser, kByNamespace };

  std::string name;
  // The uid of the object. Empty: there is none.
  std::string uid;
  // The name of the level, which need not exist: then the schema is not used.
  std::string priority_level;
  int matching_precedence = 1000;  // The lowest is tried first; equal ones by name.
  Distinguisher distinguisher = Distinguisher::kNone;
  // A request matches the schema if it matches one of its rules.
  std::vector<PolicyRulesWithSubjects> rules;

  friend bool operator==(const FlowSchema&, const FlowSchema&) = default;
};

// A whole configuration.
struct Configuration {
  std::vector<PriorityLevelConfiguration> priority_levels;
  std::vector<FlowSchema> flow_schemas;
};

// Returns the parts that always exist: exempt and catch-all.
// k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap.
Configuration MandatoryConfiguration();
// Returns the parts that a server has beside the mandatory ones unless its objects say otherwise.
Configuration SuggestedConfiguration();
// Returns both: the configuration of a server without the API group.
Configuration BuiltInConfiguration();

// The names of the mandatory objects, each of which is a level and a schema.
inline constexpr std::string_view kExempt = "exempt";
inline constexpr std::string_view kCatchAll = "catch-all";

}  // namespace apiserver::inline v0::flowcontrol
