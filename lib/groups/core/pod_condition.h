#pragma once

#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::groups::core {

// A condition that a server sets; empty texts are left out.
struct NewCondition {
  std::string_view type;
  std::string_view status;
  std::string_view reason = "";
  std::string_view message = "";
};

// Sets a condition in a pod's status, in place of one of its type; the time of its transition stays
// if its status does: UpdatePodCondition of k8s.io/kubernetes/pkg/api/pod.
void SetPodCondition(runtime::Object& pod, const NewCondition& condition, const Clock& clock);

}  // namespace apiserver::inline v0::groups::core
