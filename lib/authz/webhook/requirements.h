#pragma once

#include <string>
#include <string_view>
#include <vector>

// The requirements of a request's selectors as a SubjectAccessReview writes them.
namespace apiserver::inline v0::authz {

// One requirement of a field or label selector.
struct ReviewRequirement {
  std::string key;
  std::string_view op;  // "In", "NotIn", "Exists" or "DoesNotExist".
  std::vector<std::string> values;
};

// Return the requirements of a selector as it was sent. A selector that cannot be parsed has none,
// and requirements that a review has no operator for are left out: selectors only narrow.
std::vector<ReviewRequirement> FieldRequirements(std::string_view selector);
std::vector<ReviewRequirement> LabelRequirements(std::string_view selector);

}  // namespace apiserver::inline v0::authz
