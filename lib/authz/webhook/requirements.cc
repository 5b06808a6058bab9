#include "authz/webhook/requirements.h"

#include "apiserver/meta/selector.h"

namespace apiserver::v0::authz {

// Follows fieldSelectorToAuthorizationAPI of the Go plugin webhook.
std::vector<ReviewRequirement> FieldRequirements(std::string_view text) {
  std::vector<ReviewRequirement> found;
  const auto selector = meta::FieldSelector::Parse(text);
  // As upstream: a selector that cannot be parsed restricts nothing, so the webhook sees a broader
  // request.
  if (!selector.ok()) return found;
  for (const auto& each : selector->requirements()) {
    found.push_back({each.field, each.equals ? "In" : "NotIn", {each.value}});
  }
  return found;
}

// Follows labelSelectorToAuthorizationAPI; a selector that cannot be parsed restricts nothing here,
// too.
std::vector<ReviewRequirement> LabelRequirements(std::string_view text) {
  using Operator = meta::LabelSelector::Operator;
  std::vector<ReviewRequirement> found;
  const auto selector = meta::LabelSelector::Parse(text);
  if (!selector.ok()) return found;
  for (const auto& each : selector->requirements()) {
    switch (each.op) {
      case Operator::kEquals:
      case Operator::kIn:
        found.push_back({each.key, "In", each.values});
        break;
      case Operator::kNotEquals:
      case Operator::kNotIn:
        found.push_back({each.key, "NotIn", each.values});
        break;
      case Operator::kExists:
        found.push_back({each.key, "Exists", {}});
        break;
      case Operator::kDoesNotExist:
        found.push_back({each.key, "DoesNotExist", {}});
        break;
      case Operator::kGreaterThan:
      case Operator::kLessThan:
        // SubjectAccessReview has no such operators; without them the request is broader.
        break;
    }
  }
  return found;
}

}  // namespace apiserver::v0::authz
