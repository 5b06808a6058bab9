#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/webhook/matcher.h"
#include "apiserver/admission/admission.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"

// AdmissionReview of admission.k8s.io, v1 and v1beta1: what a webhook is told, and what it answers.
namespace apiserver::inline v0::admission {

// What is sent.
struct ReviewRequest {
  std::string uid = {};
  std::string version = {};  // "v1" or "v1beta1".
  std::string json = {};
};

// The states of the object in the version that the webhook wants; null: none.
struct ReviewObjects {
  const runtime::Object* object = nullptr;
  const runtime::Object* old_object = nullptr;
};

// kBadRequest: the webhook accepts no version that is known here.
Result<ReviewRequest> NewReview(const Attributes& attributes, const Invocation& invocation,
                                const ReviewObjects& objects, Random& random);

// What came back, with the types it must have.
struct ReviewAnswer {
  std::string api_version = {};
  std::string kind = {};
  bool has_response = false;
  std::string uid = {};
  bool allowed = false;
  std::optional<Status> result = {};  // As sent; a code below 400 is no code.
  std::string result_reason = {};     // Also one that Status cannot hold.
  std::string patch = {};
  std::optional<std::string> patch_type = {};
  std::map<std::string, std::string> audit_annotations = {};
  std::vector<std::string> warnings = {};
};

// kBadRequest: no JSON, or a member has another type, in the words of Go's decoder. A Status of a
// failure is returned as that error.
Result<ReviewAnswer> DecodeReview(std::string_view body);

// kInvalid: the answer is to another question, or says what its kind of webhook may not. Afterwards
// patch_type is set if there is a patch.
Status VerifyReview(const ReviewRequest& request, bool mutating, ReviewAnswer& answer);

// The refusal that an answer stands for: `admission webhook "x" denied the request…`.
Status RefusalOf(std::string_view webhook, const ReviewAnswer& answer);

}  // namespace apiserver::inline v0::admission
