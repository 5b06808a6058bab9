#pragma once

#include <string>
#include <string_view>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/status.h"

// Writes and reads SubjectAccessReview in JSON as Go does.
namespace apiserver::inline v0::authz {

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
