#include "meta/conditions.h"

#include "apiserver/aggregator/api_service.h"

namespace apiserver::v0::aggregator {

Condition LocalAvailableCondition() {
  return {.type = std::string(kAvailable),
          .status = "True",
          .reason = "Local",
          .message = "Local APIServices are always available"};
}

runtime::Value FindCondition(const runtime::Object& api_service, std::string_view type) {
  return meta::FindCondition(api_service, type);
}

bool IsConditionTrue(const runtime::Object& api_service, std::string_view type) {
  return meta::IsConditionTrue(api_service, type);
}

void SetCondition(runtime::Object& api_service, const Condition& condition,
                  std::chrono::system_clock::time_point now) {
  meta::SetCondition(api_service,
                     {.type = condition.type,
                      .status = condition.status,
                      .reason = condition.reason,
                      .message = condition.message},
                     now);
}

}  // namespace apiserver::v0::aggregator
