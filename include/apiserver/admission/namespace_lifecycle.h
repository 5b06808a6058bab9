#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/namespaces.h"
#include "apiserver/base/clock.h"

// The plugin of k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle: nothing is created in a
// namespace that does not exist or is being deleted.
namespace apiserver::inline v0::admission {

// The namespaces of a server, and the limits of waiting for them.
struct NamespaceLifecycleOptions {
  // Required. A server without namespaces of its own leaves the plugin out.
  std::shared_ptr<const Namespaces> namespaces;
  // The namespaces that may not be deleted.
  std::set<std::string, std::less<>> immortal = {"default", "kube-system", "kube-public"};
  // The time after the beginning of a namespace's deletion in which it is looked up live.
  std::chrono::milliseconds force_live = std::chrono::seconds(30);
  // The time that the plugin waits for a namespace that is not known yet, before it looks it up
  // live.
  std::chrono::milliseconds missing_wait = std::chrono::milliseconds(50);
  // The longest time that a request waits for the first list of namespaces; then it is refused.
  std::chrono::milliseconds ready_wait = std::chrono::seconds(10);
  const Clock* clock = &RealClock();
};

// Returns the plugin NamespaceLifecycle. It holds the requests' threads while it waits.
std::shared_ptr<const Plugin> NewNamespaceLifecycle(NamespaceLifecycleOptions options);

}  // namespace apiserver::inline v0::admission
