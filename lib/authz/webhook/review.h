#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/status.h"

// Writes and reads SubjectAccessReview in JSON as Go does.
namespace apiserver::inline v0::authz {

// A requirement of a selector, in the words of a review.
struct ReviewRequirement {
  std::string key;
  std::string_view op;
  std::vector<std::string> values;
};
// Return the requirements of a selector. None: it is empty, or cannot be parsed, and restricts
// nothing; requirements that a review has no form for are left out.
std::vector<ReviewRequirement> FieldRequirements(std::string_view text);
std::vector<ReviewRequirement> LabelRequirements(std::string_view text);

// Returns the `spec` of a review; `version` is "v1" or "v1beta1". A selector that cannot be parsed,
// and requirements that a review has no form for, are left out: selectors only narrow.
std::string ReviewSpec(const auth::Attributes& asked, std::string_view version);
// Returns the review with this spec.
std::string ReviewOf(std::string_view spec, std::string_view version);

struct ReviewStatus {
  bool allowed = false;
  bool denied = false;
  std::string reason;
};
// Reads a response. kInternalError: no review, or one of another version.
Result<ReviewStatus> ReadReview(std::string_view body, std::string_view version);

}  // namespace apiserver::inline v0::authz
