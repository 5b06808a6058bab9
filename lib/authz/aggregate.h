#pragma once

#include <string>
#include <vector>

namespace apiserver::inline v0::authz {

// Distinct messages as one: the only one as it is, else "[a, b]"; empty for none. As
// utilerrors.NewAggregate prints them.
std::string Aggregate(const std::vector<std::string>& messages);

}  // namespace apiserver::inline v0::authz
