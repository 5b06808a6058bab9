#include "admission/webhook/review.h"

#include <algorithm>
#include <utility>

#include "admission/request_value.h"
#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"

namespace apiserver::v0::admission {

namespace {

using runtime::Arena;
using runtime::MapBuilder;
using runtime::Value;

constexpr std::string_view kGroup = "admission.k8s.io";

// The members of admission/v1.AdmissionRequest in Go's order.
Value RequestValue(const Attributes& attributes, const Invocation& invocation,
                   const ReviewObjects& objects, std::string_view uid, Arena& arena) {
  MapBuilder map(arena);
  map.Add("uid", Value::String(uid));
  AddRequestHead(map, attributes, invocation.resource, invocation.kind, arena);
  map.Add("object", ObjectValue(objects.object, arena));
  map.Add("oldObject", ObjectValue(objects.old_object, arena));
  AddRequestTail(map, attributes, arena);
  return map.Build();
}

// Prints as GroupVersionKind.String() does.
std::string GvkText(std::string_view api_version, std::string_view kind) {
  std::string text(api_version);
  if (text.find('/') == std::string::npos) text.insert(0, 1, '/');
  return text + ", Kind=" + std::string(kind);
}

}  // namespace

// The JSON is made here, so the result depends on no object of the request.
Result<ReviewRequest> NewReview(const Attributes& attributes, const Invocation& invocation,
                                const ReviewObjects& objects, Random& random) {
  const std::vector<std::string>& versions = invocation.webhook->review_versions;
  // The first version that both know, in the webhook's order of preference.
  const auto known = std::ranges::find_if(
      versions, [](const std::string& version) { return version == "v1" || version == "v1beta1"; });
  if (known == versions.end()) {
    return Status(Reason::kBadRequest,
                  "webhook does not accept known AdmissionReview versions (v1, v1beta1)");
  }
  ReviewRequest request{.uid = NewUuid(random), .version = *known};
  Arena arena;
  const std::string api_version = std::string(kGroup) + "/" + request.version;
  MapBuilder review(arena);
  review.Add("kind", Value::String("AdmissionReview"));
  review.Add("apiVersion", Value::String(api_version));
  review.Add("request", RequestValue(attributes, invocation, objects, request.uid, arena));
  codec::AppendJson(review.Build(), request.json);
  return request;
}

// Follows VerifyAdmissionResponse of webhook/request.
Status VerifyReview(const ReviewRequest& request, bool mutating, ReviewAnswer& answer) {
  const auto refuse = [](std::string why) { return Status(Reason::kInvalid, std::move(why)); };
  if (!answer.has_response) return refuse("webhook response was absent");
  if (request.version == "v1beta1") {
    // v1beta1 checks neither uid nor kind nor patchType.
    if (!mutating) answer.patch.clear();
    answer.patch_type.reset();
    if (!answer.patch.empty()) answer.patch_type = "JSONPatch";
    return {};
  }
  if (answer.uid != request.uid) {
    return refuse("expected response.uid=" + field::Quote(request.uid) + ", got " +
                  field::Quote(answer.uid));
  }
  const std::string expected = GvkText("admission.k8s.io/v1", "AdmissionReview");
  const std::string got = GvkText(answer.api_version, answer.kind);
  if (got != expected) return refuse("expected webhook response of " + expected + ", got " + got);
  // A validating webhook that returns a patch was written for the other kind: that is an error, not
  // ignored.
  if (!mutating) {
    if (!answer.patch.empty()) return refuse("validating webhook may not return response.patch");
    if (answer.patch_type) return refuse("validating webhook may not return response.patchType");
    return {};
  }
  if (!answer.patch.empty() && !answer.patch_type) {
    return refuse("webhook returned response.patch but not response.patchType");
  }
  if (answer.patch.empty() && answer.patch_type) {
    return refuse("webhook returned response.patchType but not response.patch");
  }
  if (answer.patch_type && answer.patch_type->empty()) {
    return refuse("webhook returned invalid response.patchType of \"\"");
  }
  return {};
}

// Follows ToStatusErr of webhook/errors.
Status RefusalOf(std::string_view webhook, const ReviewAnswer& answer) {
  // An answer without a result still needs a code that is an error.
  const Status result = answer.result.value_or(Status(Reason::kUnknown, "").WithCode(400));
  std::string message = "admission webhook " + field::Quote(webhook) + " denied the request";
  if (!result.message().empty()) {
    message.append(": ").append(result.message());
  } else if (!answer.result_reason.empty()) {
    message += ": " + answer.result_reason;
  } else {
    message += " without explanation";
  }
  return result.WithMessage(std::move(message));
}

}  // namespace apiserver::v0::admission
