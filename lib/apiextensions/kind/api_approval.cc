#include "apiserver/apiextensions/definition.h"
#include "text/go_url.h"

namespace apiserver::v0::apiextensions {
namespace {

constexpr std::string_view kAnnotation = "api-approved.kubernetes.io";
constexpr std::string_view kSee = "see https://github.com/kubernetes/enhancements/pull/1111";

bool IsUrlWithHost(std::string_view text) {
  const text::Read<text::GoUrl> url = text::ParseGoRequestUri(text);
  return url.ok() && !url->host.empty() && !url->scheme.empty();
}

}  // namespace

bool IsProtectedGroup(std::string_view group) {
  return group == "k8s.io" || group.ends_with(".k8s.io") || group == "kubernetes.io" ||
         group.ends_with(".kubernetes.io");
}

// Follows GetAPIApprovalState of pkg/apihelpers.
ApiApproval ApiApprovalOf(const runtime::Object& definition, std::string& reason) {
  const std::string_view text = definition.annotations()[kAnnotation].AsString();
  const std::string must =
      "protected groups must have approval annotation " + field::Quote(kAnnotation);
  if (text.empty()) {
    reason = must + ", " + std::string(kSee);
    return ApiApproval::kMissing;
  }
  if (text.starts_with("unapproved")) {
    reason = "not approved: " + field::QuoteShort(text);
    return ApiApproval::kBypassed;
  }
  if (IsUrlWithHost(text)) {
    reason = "approved in " + field::Shorten(text);
    return ApiApproval::kApproved;
  }
  reason = must + " with either a URL or a reason starting with \"unapproved\", ";
  reason += kSee;
  return ApiApproval::kInvalid;
}

}  // namespace apiserver::v0::apiextensions
