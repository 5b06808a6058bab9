#pragma once

#include <string>
#include <vector>

namespace apiserver::inline v0::authz {

// Joins distinct messages: a single one as it is, else "[a, b]"; empty for none. As
// utilerrors.NewAggregate prints them.
std::string Aggregate(const std::vector<std::string>& messages);

}  // namespace apiserver::inline v0::authz
