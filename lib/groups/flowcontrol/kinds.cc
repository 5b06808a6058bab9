#include <string>

#include "apiserver/groups/flowcontrol.h"
#include "groups/flowcontrol/names.h"
#include "groups/flowcontrol_api.h"
#include "groups/kinds.h"

namespace apiserver::v0::groups::flowcontrol {
namespace {

// Follows pkg/apis/flowcontrol/v1/defaults.go.
void SetSchemaDefaults(runtime::Object& schema) {
  if (schema["spec"]["matchingPrecedence"].AsInt() == 0) {
    schema.Edit("spec", "matchingPrecedence") = 1000;
  }
}

// An explicit zero is kept where zero has a meaning: hence null for shares, and zero for queues.
void SetLevelDefaults(runtime::Object& level) {
  for (const char* type : {"exempt", "limited"}) {
    if (level["spec"][type].is_null()) continue;
    if (level["spec"][type]["nominalConcurrencyShares"].is_null()) {
      level.Edit("spec", type, "nominalConcurrencyShares") =
          std::string_view(type) == "limited" ? 30 : 0;
    }
    if (level["spec"][type]["lendablePercent"].is_null()) {
      level.Edit("spec", type, "lendablePercent") = 0;
    }
  }
  const runtime::Value queuing = level["spec"]["limited"]["limitResponse"]["queuing"];
  if (queuing.is_null()) return;
  const auto set = [&level](const char* field, int value) {
    if (level["spec"]["limited"]["limitResponse"]["queuing"][field].AsInt() != 0) return;
    level.Edit("spec", "limited", "limitResponse", "queuing", field) = value;
  };
  set("handSize", 8);
  set("queues", 64);
  set("queueLengthLimit", 50);
}

}  // namespace

Result<std::vector<runtime::KindPtr>> Kinds() {
  const std::string group(kGroup);
  return KindsOfV1(flowcontrol_api::Descriptors(), "k8s.io.api.flowcontrol.v1",
                   {{.group = group,
                     .kind = "FlowSchema",
                     .plural = std::string(kFlowSchemas),
                     .namespaced = false,
                     .versions = {{.set_defaults = &SetSchemaDefaults}}},
                    {.group = group,
                     .kind = "PriorityLevelConfiguration",
                     .plural = std::string(kPriorityLevels),
                     .namespaced = false,
                     .versions = {{.set_defaults = &SetLevelDefaults}}}});
}

}  // namespace apiserver::v0::groups::flowcontrol
