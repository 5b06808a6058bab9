#pragma once

#include <string>
#include <string_view>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/status.h"

// SubjectAccessReview in JSON, as Go writes and reads it.
namespace apiserver::inline v0::authz {

// `spec` of a review; `version` "v1" or "v1beta1". A selector that cannot be parsed, and
// requirements that a review cannot say, are left out: selectors only narrow.
std::string ReviewSpec(const auth::Attributes& asked, std::string_view version);
// The review with this spec.
std::string ReviewOf(std::string_view spec, std::string_view version);

struct ReviewStatus {
  bool allowed = false;
  bool denied = false;
  std::string reason;
};
// kInternalError: no review, or one of another version.
Result<ReviewStatus> ReadReview(std::string_view body, std::string_view version);

}  // namespace apiserver::inline v0::authz
