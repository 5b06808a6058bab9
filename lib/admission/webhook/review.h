#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/versions.h"
#include "admission/webhook/matcher.h"
#include "apiserver/admission/admission.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"

// The AdmissionReview of admission.k8s.io, v1 and v1beta1: the request to a webhook and its answer.
namespace apiserver::inline v0::admission {

// The review to send.
struct ReviewRequest {
  std::string uid = {};
  std::string version = {};  // "v1" or "v1beta1".
  std::string json = {};
};

// Makes a review. kBadRequest: the webhook accepts no version that is known here.
Result<ReviewRequest> NewReview(const Attributes& attributes, const Invocation& invocation,
                                const ReviewObjects& objects, Random& random);

// The answer, with members of the right types.
struct ReviewAnswer {
  std::string api_version = {};
  std::string kind = {};
  bool has_response = false;
  std::string uid = {};
  bool allowed = false;
  std::optional<Status> result = {};  // As sent; a code below 400 is no code.
  std::string result_reason = {};     // Also a reason that Status cannot hold.
  std::string patch = {};
  std::optional<std::string> patch_type = {};
  std::map<std::string, std::string> audit_annotations = {};
  std::vector<std::string> warnings = {};
};

// Reads an answer. kBadRequest: it is no JSON, or a member has another type, in the words of Go's
// decoder. A Status of a failure is returned as that error.
Result<ReviewAnswer> DecodeReview(std::string_view body);

// Checks the answer. kInvalid: it answers another request, or has members that its kind of webhook
// may not have. Afterwards patch_type is set if there is a patch.
Status VerifyReview(const ReviewRequest& request, bool mutating, ReviewAnswer& answer);

// Returns the refusal of an answer: `admission webhook "x" denied the request…`.
Status RefusalOf(std::string_view webhook, const ReviewAnswer& answer);

}  // namespace apiserver::inline v0::admission
