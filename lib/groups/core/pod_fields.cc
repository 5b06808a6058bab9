#include "groups/core/pod_fields.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "groups/map_edit.h"

namespace apiserver::v0::groups::core {
namespace {

using runtime::Value;

// Each is off by its feature gate: ClusterTrustBundleProjection, PodCertificateRequest.
constexpr std::array<const char*, 2> kProjections = {"clusterTrustBundle", "podCertificate"};
constexpr std::array<const char*, 3> kStatusLists = {"initContainerStatuses", "containerStatuses",
                                                     "ephemeralContainerStatuses"};

bool ProjectionInUse(Value spec, const char* projection) {
  return std::ranges::any_of(spec["volumes"].items(), [&](const Value& volume) {
    return std::ranges::any_of(volume["projected"]["sources"].items(),
                               [&](const Value& source) { return !source[projection].is_null(); });
  });
}

bool StopSignalInUse(Value spec) {
  return std::ranges::any_of(
      std::array<const char*, 3>{"containers", "initContainers", "ephemeralContainers"},
      [&](const char* list) {
        return std::ranges::any_of(spec[list].items(), [](const Value& container) {
          return !container["lifecycle"]["stopSignal"].is_null();
        });
      });
}

void DropProjection(MapEdit& spec, const char* projection) {
  spec.Items("volumes", [&](MapEdit& volume) {
    volume.Member("projected", [&](MapEdit& projected) {
      projected.Items("sources", [&](MapEdit& source) {
        if (!source[projection].is_null()) source.Erase(projection);
      });
    });
  });
}

void DropStopSignal(MapEdit& container) {
  const Value lifecycle = container["lifecycle"];
  if (lifecycle["stopSignal"].is_null()) return;
  if (lifecycle.size() == 1) return container.Erase("lifecycle");
  container.Member("lifecycle", [](MapEdit& edit) { edit.Erase("stopSignal"); });
}

void DropFromSpec(MapEdit& spec, Value old) {
  for (const char* const projection : kProjections) {
    if (!ProjectionInUse(old, projection)) DropProjection(spec, projection);
  }
  if (!StopSignalInUse(old)) {
    spec.Items("containers", DropStopSignal);
    spec.Items("initContainers", DropStopSignal);
  }
  const bool keep = spec["workloadRef"].is_null() || !old["workloadRef"].is_null();
  if (!keep) spec.Erase("workloadRef");
}

void DropFromStatus(MapEdit& status, Value old) {
  const bool sized = !old["resources"].is_null() || old["allocatedResources"].size() != 0;
  if (!sized && !status["resources"].is_null()) status.Erase("resources");
  if (!sized && !status["allocatedResources"].is_null()) status.Erase("allocatedResources");
  constexpr const char* kExtended = "extendedResourceClaimStatus";
  if (!status[kExtended].is_null() && old[kExtended].is_null()) status.Erase(kExtended);
  for (const char* const list : kStatusLists) {
    status.Items(list, [](MapEdit& container) {
      constexpr const char* kHealth = "allocatedResourcesStatus";
      if (!container[kHealth].is_null()) container.Erase(kHealth);
    });
  }
}

// Adds `<key> <op> [<the pod's value>]` for each of the keys that the pod has.
void AddKeys(MapEdit& owner, const char* keys, const char* op, Value labels,
             runtime::ListBuilder& expressions) {
  for (const Value& key : owner[keys].items()) {
    const Value* const label = labels.Find(key.AsString());
    if (label == nullptr) continue;
    runtime::ListBuilder values(owner.arena());
    values.Add(*label);
    runtime::MapBuilder expression(owner.arena());
    expression.Add("key", key);
    expression.Add("operator", Value::String(op));
    expression.Add("values", values.Build());
    expressions.Add(expression.Build());
  }
}

// Does nothing without a selector, which then selects nothing.
void ApplyKeys(MapEdit& owner, Value labels) {
  const Value selector = owner["labelSelector"];
  if (selector.is_null()) return;
  runtime::ListBuilder expressions(owner.arena());
  for (const Value& present : selector["matchExpressions"].items()) expressions.Add(present);
  const std::size_t before = expressions.size();
  AddKeys(owner, "matchLabelKeys", "In", labels, expressions);
  AddKeys(owner, "mismatchLabelKeys", "NotIn", labels, expressions);
  if (expressions.size() == before) return;
  MapEdit edit(selector, owner.arena());
  edit.Set("matchExpressions", expressions.Build());
  owner.Set("labelSelector", edit.Build());
}

}  // namespace

void DropDisabledPodFields(runtime::Object& pod, const runtime::Object* old) {
  MapEdit root(pod.root(), pod.arena());
  root.Member("spec", [&](MapEdit& spec) {
    DropFromSpec(spec, old != nullptr ? (*old)["spec"] : Value());
  });
  root.Member("status", [&](MapEdit& status) {
    DropFromStatus(status, old != nullptr ? (*old)["status"] : Value());
  });
  if (root.changed()) pod.SetRoot(root.Build());
}

void ApplyLabelKeys(runtime::Object& pod) {
  const Value labels = pod.labels();
  const auto apply = [&](MapEdit& owner) { ApplyKeys(owner, labels); };
  const auto apply_to_terms = [&](MapEdit& terms) {
    terms.Items("preferredDuringSchedulingIgnoredDuringExecution",
                [&](MapEdit& term) { term.Member("podAffinityTerm", apply); });
    terms.Items("requiredDuringSchedulingIgnoredDuringExecution", apply);
  };
  MapEdit root(pod.root(), pod.arena());
  root.Member("spec", [&](MapEdit& spec) {
    spec.Member("affinity", [&](MapEdit& affinity) {
      affinity.Member("podAffinity", apply_to_terms);
      affinity.Member("podAntiAffinity", apply_to_terms);
    });
    spec.Items("topologySpreadConstraints", apply);
  });
  if (root.changed()) pod.SetRoot(root.Build());
}

}  // namespace apiserver::v0::groups::core
