#include "groups/core/pod_strategy.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/meta/time.h"
#include "apiserver/meta/validation.h"
#include "apiserver/rest/status.h"
#include "groups/core/pod_fields.h"
#include "groups/core/pod_validation.h"
#include "groups/core/resource_list.h"
#include "groups/map_edit.h"

namespace apiserver::v0::groups::core {
namespace {

using runtime::Object;
using runtime::Value;
using Warnings = std::vector<std::string>;

// Follows applySchedulingGatedCondition.
Value GatedCondition(runtime::Arena& arena, const Clock& clock) {
  runtime::MapBuilder condition(arena);
  condition.Add("type", Value::String("PodScheduled"));
  condition.Add("status", Value::String("False"));
  condition.Add("lastTransitionTime", Value::String(arena.Copy(meta::Timestamp(clock))));
  condition.Add("reason", Value::String("SchedulingGated"));
  condition.Add("message",
                Value::String("Scheduling is blocked due to non-empty scheduling gates"));
  runtime::ListBuilder conditions(arena);
  conditions.Add(condition.Build());
  return conditions.Build();
}

Value FirstStatus(Object& pod, const Clock& clock) {
  runtime::MapBuilder status(pod.arena());
  status.Add("phase", Value::String("Pending"));
  if (pod["spec"]["schedulingGates"].size() != 0) {
    status.Add("conditions", GatedCondition(pod.arena(), clock));
  }
  status.Add("qosClass", Value::String(QosClassOf(pod["spec"])));
  return status.Build();
}

// The common base of all strategies of pods.
class PodRules : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  field::ErrorList Validate(const Context& /*ctx*/, const Object& pod) const override {
    return ValidatePodCreate(pod);
  }
};

class PodStrategy final : public PodRules {
 public:
  explicit PodStrategy(const Clock& clock) : clock_(clock) {}

  void PrepareForCreate(const Context& /*ctx*/, Object& pod) const override {
    pod.Edit("metadata", "generation") = 1;
    pod.SetPath({"status"}, FirstStatus(pod, clock_));
    DropDisabledPodFields(pod, nullptr);
    ApplyLabelKeys(pod);
  }
  void PrepareForUpdate(const Context& /*ctx*/, Object& pod, const Object& old) const override {
    rest::KeepStatus(pod, old);
    DropDisabledPodFields(pod, &old);
    if (pod["spec"] == old["spec"]) return;
    pod.Edit("metadata", "generation") = old.generation() + 1;
  }
  field::ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& pod,
                                  const Object& old) const override {
    return ValidatePodUpdate(pod, old);
  }
  Warnings WarningsOnCreate(const Context& /*ctx*/, const Object& pod) const override {
    const meta::Complaints complaints = meta::IsDNS1123Label(pod.name());
    if (complaints.empty()) return {};
    std::string list;
    for (const std::string& complaint : complaints) list += (list.empty() ? "" : " ") + complaint;
    return {
        "metadata.name: this is used in the Pod's hostname, which can result in surprising "
        "behavior; a DNS label is recommended: [" +
        list + "]"};
  }
  rest::ResetFields GetResetFields() const override { return {{"v1", {{"status"}}}}; }

  bool CheckGracefulDelete(const Context& /*ctx*/, const Object& pod,
                           meta::DeleteOptions& options) const override {
    std::int64_t seconds =
        options.grace_period_seconds.value_or(pod["spec"]["terminationGracePeriodSeconds"].AsInt());
    const std::string_view phase = pod["status"]["phase"].AsString();
    // No kubelet would end a pod that is on no node, or that has ended.
    if (pod["spec"]["nodeName"].size() == 0 || phase == "Failed" || phase == "Succeeded") {
      seconds = 0;
    }
    options.grace_period_seconds = seconds < 0 ? 1 : seconds;
    return true;
  }

 private:
  const Clock& clock_;
};

// Keeps what was observed of a generation where a client leaves it out.
void KeepObservedGenerations(Object& pod, const Object& old) {
  std::map<std::string_view, std::vector<std::int64_t>> before;
  for (const Value& condition : old["status"]["conditions"].items()) {
    before[condition["type"].AsString()].push_back(condition["observedGeneration"].AsInt());
  }
  // A type may be there twice: the first of the new ones is compared with the first of the old.
  const auto next = [&](std::string_view type) -> std::int64_t {
    std::vector<std::int64_t>& left = before[type];
    if (left.empty()) return 0;
    const std::int64_t first = left.front();
    left.erase(left.begin());
    return first;
  };
  MapEdit root(pod.root(), pod.arena());
  root.Member("status", [&](MapEdit& status) {
    const std::int64_t observed = old["status"]["observedGeneration"].AsInt();
    if (observed != 0) status.DefaultNumber("observedGeneration", observed);
    status.Items("conditions", [&](MapEdit& condition) {
      const std::int64_t generation = next(condition["type"].AsString());
      if (generation != 0) condition.DefaultNumber("observedGeneration", generation);
    });
  });
  if (root.changed()) pod.SetRoot(root.Build());
}

// Sets a member to what it is in `old`.
template <class... Keys>
void Keep(Object& pod, Value old, const Keys&... keys) {
  if (old.is_null()) return pod.Erase(keys...);
  pod.Edit(keys...) = old;
}

class PodStatusStrategy final : public PodRules {
 public:
  void PrepareForUpdate(const Context& /*ctx*/, Object& pod, const Object& old) const override {
    if (!(pod["spec"] == old["spec"])) Keep(pod, old["spec"], "spec");
    // Old kubelets spoil references to owners.
    const Value owners = old.metadata()["ownerReferences"];
    if (!(pod.metadata()["ownerReferences"] == owners)) {
      Keep(pod, owners, "metadata", "ownerReferences");
    }
    if (pod["status"]["qosClass"].size() == 0 && old["status"]["qosClass"].size() != 0) {
      pod.Edit("status", "qosClass") = old["status"]["qosClass"];
    }
    KeepObservedGenerations(pod, old);
    DropDisabledPodFields(pod, &old);
  }
  field::ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& pod,
                                  const Object& old) const override {
    return ValidatePodStatusUpdate(pod, old);
  }
  rest::ResetFields GetResetFields() const override {
    return {{"v1", {{"spec"}, {"metadata", "deletionTimestamp"}, {"metadata", "ownerReferences"}}}};
  }
};

}  // namespace

std::shared_ptr<const rest::Strategy> NewPodStrategy(const Clock& clock) {
  return std::make_shared<PodStrategy>(clock);
}

std::shared_ptr<const rest::Strategy> NewPodStatusStrategy() {
  return std::make_shared<PodStatusStrategy>();
}

}  // namespace apiserver::v0::groups::core
