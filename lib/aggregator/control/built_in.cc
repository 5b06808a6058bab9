#include <algorithm>
#include <array>

#include "aggregator/control/auto_register.h"

namespace apiserver::v0::aggregator {
namespace {

// A group version and its priorities.
struct Row {
  std::string_view group;
  std::string_view version;
  std::int64_t group_priority;
  std::int64_t version_priority;
};

// apiVersionPriorities of kubernetes/pkg/controlplane/apiserver/aggregator.go, 1.35.
constexpr std::array kRows = {
    Row{"", "v1", 18'000, 1},
    Row{"apps", "v1", 17'800, 15},
    Row{"events.k8s.io", "v1", 17'750, 15},
    Row{"events.k8s.io", "v1beta1", 17'750, 5},
    Row{"authentication.k8s.io", "v1", 17'700, 15},
    Row{"authentication.k8s.io", "v1beta1", 17'700, 9},
    Row{"authentication.k8s.io", "v1alpha1", 17'700, 1},
    Row{"authorization.k8s.io", "v1", 17'600, 15},
    Row{"autoscaling", "v2", 17'500, 30},
    Row{"autoscaling", "v1", 17'500, 15},
    Row{"autoscaling", "v2beta1", 17'500, 9},
    Row{"autoscaling", "v2beta2", 17'500, 1},
    Row{"batch", "v1", 17'400, 15},
    Row{"batch", "v1beta1", 17'400, 9},
    Row{"batch", "v2alpha1", 17'400, 9},
    Row{"certificates.k8s.io", "v1", 17'300, 15},
    Row{"certificates.k8s.io", "v1beta1", 17'300, 9},
    Row{"certificates.k8s.io", "v1alpha1", 17'300, 1},
    Row{"networking.k8s.io", "v1", 17'200, 15},
    Row{"networking.k8s.io", "v1beta1", 17'200, 9},
    Row{"policy", "v1", 17'100, 15},
    Row{"policy", "v1beta1", 17'100, 9},
    Row{"rbac.authorization.k8s.io", "v1", 17'000, 15},
    Row{"storage.k8s.io", "v1", 16'800, 15},
    Row{"storage.k8s.io", "v1beta1", 16'800, 9},
    Row{"storage.k8s.io", "v1alpha1", 16'800, 1},
    Row{"apiextensions.k8s.io", "v1", 16'700, 15},
    Row{"admissionregistration.k8s.io", "v1", 16'700, 15},
    Row{"admissionregistration.k8s.io", "v1beta1", 16'700, 12},
    Row{"admissionregistration.k8s.io", "v1alpha1", 16'700, 9},
    Row{"scheduling.k8s.io", "v1", 16'600, 15},
    Row{"scheduling.k8s.io", "v1alpha1", 16'600, 1},
    Row{"coordination.k8s.io", "v1", 16'500, 15},
    Row{"coordination.k8s.io", "v1beta1", 16'500, 13},
    Row{"coordination.k8s.io", "v1alpha2", 16'500, 12},
    Row{"node.k8s.io", "v1", 16'300, 15},
    Row{"node.k8s.io", "v1beta1", 16'300, 9},
    Row{"node.k8s.io", "v1alpha1", 16'300, 1},
    Row{"discovery.k8s.io", "v1", 16'200, 15},
    Row{"discovery.k8s.io", "v1beta1", 16'200, 12},
    Row{"resource.k8s.io", "v1", 16'200, 21},
    Row{"resource.k8s.io", "v1beta2", 16'200, 15},
    Row{"resource.k8s.io", "v1beta1", 16'200, 9},
    Row{"resource.k8s.io", "v1alpha3", 16'200, 1},
    Row{"flowcontrol.apiserver.k8s.io", "v1", 16'100, 21},
    Row{"flowcontrol.apiserver.k8s.io", "v1beta3", 16'100, 18},
    Row{"flowcontrol.apiserver.k8s.io", "v1beta2", 16'100, 15},
    Row{"flowcontrol.apiserver.k8s.io", "v1beta1", 16'100, 12},
    Row{"flowcontrol.apiserver.k8s.io", "v1alpha1", 16'100, 9},
    Row{"internal.apiserver.k8s.io", "v1alpha1", 16'000, 9},
    Row{"storagemigration.k8s.io", "v1beta1", 15'800, 9},
};

}  // namespace

std::optional<Wanted> BuiltIn(std::string_view group, std::string_view version) {
  const auto* const row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) {
    return each.group == group && each.version == version;
  });
  if (row == kRows.end()) return std::nullopt;
  return Wanted{.group = std::string(group),
                .version = std::string(version),
                .group_priority = row->group_priority,
                .version_priority = row->version_priority,
                .managed = Managed::kOnStart};
}

}  // namespace apiserver::v0::aggregator
