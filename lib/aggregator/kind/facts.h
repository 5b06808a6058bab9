#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/aggregator/proxy_handler.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::aggregator {

// The port of a service that names none.
inline constexpr int kHttpsPort = 443;

// The fields of an APIService by which requests are routed.
struct Facts {
  std::string name;
  std::string group;
  std::string version;
  std::int64_t group_priority = 0;
  std::int64_t version_priority = 0;
  std::optional<ProxiedAPIService> remote = std::nullopt;  // nullopt: it is local.

  friend bool operator==(const Facts&, const Facts&) = default;
};

// Reads an APIService, of whatever kind the object is.
Facts FactsOf(const runtime::Object& api_service);

// Returns "<namespace>/<name>:<port>" of its service.
std::string ServiceKeyOf(const ProxiedAPIService& service);

// Return the paths of OpenAPI v3 for its group version and for its group: "apis/<group>/<version>",
// "apis/<group>".
std::string V3PathOf(const Facts& facts);
std::string V3PathOfGroup(const Facts& facts);

// Sorts by the priority of groups, the highest first, then by name, and gathers groups where the
// first of each stands; the versions of a group by their priority, then as Kubernetes sorts
// versions. Follows SortedByGroupAndVersion of pkg/apis/apiregistration/v1/helper.
std::vector<std::vector<const Facts*>> SortedByGroupAndVersion(std::vector<const Facts*> all);

// Sorts by the highest priority of each group, then by name, as the documents of OpenAPI v2 are
// merged. Follows sortByPriority of pkg/controllers/openapi/aggregator.
std::vector<const Facts*> SortedByGroupPriority(std::vector<const Facts*> all);

}  // namespace apiserver::inline v0::aggregator
