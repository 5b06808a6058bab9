#include "groups/authorization/validation.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "apiserver/codec/json.h"

namespace apiserver::v0::groups::authorization {

namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

// Prints Go's internal type, whose fields have no JSON names.
std::string PrintedNonResource(const Value& attributes) {
  if (attributes.is_null()) return "null";
  std::string text = R"({"Path":)";
  codec::AppendJsonString(attributes["path"].AsString(), text);
  text += R"(,"Verb":)";
  codec::AppendJsonString(attributes["verb"].AsString(), text);
  return text + "}";
}

void CheckAttributes(const Value& spec, ErrorList& errors) {
  const Value other = spec["nonResourceAttributes"];
  const bool resource = !spec["resourceAttributes"].is_null();
  if (resource && !other.is_null()) {
    errors.InvalidPrinted(Path("spec.nonResourceAttributes"), PrintedNonResource(other),
                          "cannot be specified in combination with resourceAttributes");
  }
  if (!resource && other.is_null()) {
    errors.InvalidPrinted(
        Path("spec.resourceAttributes"), "null",
        "exactly one of nonResourceAttributes or resourceAttributes must be specified");
  }
}

void CheckSubject(const Value& spec, ErrorList& errors) {
  if (spec["user"].size() == 0 && spec["groups"].size() == 0) {
    errors.Invalid(Path("spec.user"), "", "at least one of user or group must be specified");
  }
}

// Checks that there is no other metadata than admission and field management add.
void CheckMetadata(const runtime::Object& review, std::string_view allowed, std::string detail,
                   ErrorList& errors) {
  // managedFields come from the server itself, not from the client.
  const auto fine = [&](const runtime::Member& member) {
    return member.key == "managedFields" || member.key == allowed;
  };
  if (std::ranges::all_of(review.metadata().members(), fine)) return;
  std::string printed;
  codec::AppendJson(review.metadata(), printed);
  errors.InvalidPrinted(Path("metadata"), std::move(printed), std::move(detail));
}

}  // namespace

ErrorList ValidateSelfSubjectAccessReview(const runtime::Object& review) {
  ErrorList errors;
  CheckAttributes(review["spec"], errors);
  CheckMetadata(review, "", "must be empty", errors);
  return errors;
}

ErrorList ValidateSubjectAccessReview(const runtime::Object& review) {
  ErrorList errors;
  CheckAttributes(review["spec"], errors);
  CheckSubject(review["spec"], errors);
  CheckMetadata(review, "", "must be empty", errors);
  return errors;
}

ErrorList ValidateLocalSubjectAccessReview(const runtime::Object& review) {
  const Value spec = review["spec"];
  ErrorList errors;
  CheckAttributes(spec, errors);
  CheckSubject(spec, errors);
  CheckMetadata(review, "namespace", "must be empty except for namespace", errors);
  const Value resource = spec["resourceAttributes"];
  // The right to create a local review in one namespace must not tell of others.
  if (!resource.is_null() && resource["namespace"].AsString() != review.namespace_()) {
    errors.Invalid(Path("spec.resourceAttributes.namespace"), resource["namespace"].AsString(),
                   "must match metadata.namespace");
  }
  const Value other = spec["nonResourceAttributes"];
  if (!other.is_null()) {
    errors.InvalidPrinted(Path("spec.nonResourceAttributes"), PrintedNonResource(other),
                          "disallowed on this kind of request");
  }
  return errors;
}

}  // namespace apiserver::v0::groups::authorization
