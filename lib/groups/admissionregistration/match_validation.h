#pragma once

#include <set>
#include <string_view>

#include "admission/policy/expression.h"
#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

// The parts that the policies and their bindings share, as of
// kubernetes/pkg/apis/admissionregistration/validation.
namespace apiserver::inline v0::groups::admissionregistration {

// Validates the MatchResources of a policy or binding. Null: it is absent, and has no errors.
void ValidateMatchResources(const runtime::Value& match, const field::Path& path,
                            field::ErrorList& errors);
// Validates that no resource rule of `match` names DELETE, which has no object to change.
void ValidateMutatingOperations(const runtime::Value& match, const field::Path& path,
                                field::ErrorList& errors);
// The matchConditions of a policy or webhook.
struct MatchConditionList {
  runtime::Value conditions = {};
  bool has_params = false;  // They may read `params`.
  // The expressions that the stored object has, which may use what new ones may not.
  const std::set<std::string_view>& stored;
};
// Validates match conditions.
void ValidateMatchConditions(const MatchConditionList& list, const field::Path& path,
                             admission::policy::ExpressionChecker& checker,
                             field::ErrorList& errors);
// Validates the paramKind of a policy.
void ValidateParamKind(const runtime::Value& kind, const field::Path& path,
                       field::ErrorList& errors);
// Validates the paramRef of a binding. Null: it is absent, and has no errors.
void ValidateParamRef(const runtime::Value& ref, const field::Path& path, field::ErrorList& errors);

}  // namespace apiserver::inline v0::groups::admissionregistration
