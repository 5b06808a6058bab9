#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/namespaces.h"
#include "apiserver/base/clock.h"

// k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle: nothing is created in a namespace that
// does not exist or is being deleted.
namespace apiserver::inline v0::admission {

struct NamespaceLifecycleOptions {
  // Required. A server without namespaces of its own leaves the plugin out.
  std::shared_ptr<const Namespaces> namespaces;
  // These may not be deleted.
  std::set<std::string, std::less<>> immortal = {"default", "kube-system", "kube-public"};
  // For so long after the deletion of a namespace began it is looked up live.
  std::chrono::milliseconds force_live = std::chrono::seconds(30);
  // How long a namespace that is not known yet is waited for before it is looked up live.
  std::chrono::milliseconds missing_wait = std::chrono::milliseconds(50);
  // How long a request waits at most for the namespaces to be known at all; then it is refused.
  std::chrono::milliseconds ready_wait = std::chrono::seconds(10);
  const Clock* clock = &RealClock();
};

// The plugin NamespaceLifecycle. It holds the requests' threads while it waits.
std::shared_ptr<const Plugin> NewNamespaceLifecycle(NamespaceLifecycleOptions options);

}  // namespace apiserver::inline v0::admission
