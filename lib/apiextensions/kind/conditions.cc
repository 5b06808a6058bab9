#include "meta/conditions.h"

#include "apiserver/apiextensions/definition.h"

namespace apiserver::v0::apiextensions {

runtime::Value FindCondition(const runtime::Object& definition, std::string_view type) {
  return meta::FindCondition(definition, type);
}

bool IsConditionTrue(const runtime::Object& definition, std::string_view type) {
  return meta::IsConditionTrue(definition, type);
}

void SetCondition(runtime::Object& definition, const Condition& condition,
                  std::chrono::system_clock::time_point now) {
  meta::SetCondition(definition,
                     {.type = condition.type,
                      .status = condition.status_text(),
                      .reason = condition.reason,
                      .message = condition.message},
                     now);
}

void RemoveCondition(runtime::Object& definition, std::string_view type) {
  meta::RemoveCondition(definition, type);
}

}  // namespace apiserver::v0::apiextensions
