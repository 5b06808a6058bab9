#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/namespaces.h"
#include "apiserver/auth/authorizer.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "apiserver/runtime/names.h"

// Admission policies: k8s.io/apiserver/pkg/admission/plugin/policy. They are configured by the
// objects of admissionregistration.k8s.io, see groups/admissionregistration.h.
namespace apiserver::inline v0::admission::policy {
class Snapshot;  // Private: admission/policy/snapshot.h.
}  // namespace apiserver::inline v0::admission::policy

namespace apiserver::inline v0::admission {

// The phase of admission in which a policy is evaluated.
enum class PolicyType : std::uint8_t {
  kValidating,  // ValidatingAdmissionPolicy.
  kMutating,    // MutatingAdmissionPolicy.
};

// The policies of a server with their bindings and parameters. Any thread may call its methods,
// except for Start and Stop, which belong to the owner.
class Policies {
 public:
  virtual ~Policies() = default;  // Stops.

  // Begins to follow the server of `client`: in a post-start hook with a loopback client, or at any
  // time with the client of another server. Called once.
  virtual void Start(std::shared_ptr<client::Client> client) = 0;
  // Stops following and waits for the thread. Idempotent. Known policies stay known.
  virtual void Stop() = 0;

  // Waits until policies and bindings have been listed and compiled once. False: `timeout` passed
  // first.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
  // Returns the policies as last compiled. Null: WaitForSync() would wait.
  virtual std::shared_ptr<const policy::Snapshot> Get() const = 0;
  // Returns the resource that serves a kind, as the server's discovery has it. May block.
  // kNotFound: there is none. kServiceUnavailable: the source has not been started, or has stopped.
  virtual Result<runtime::GroupVersionResource> ResourceFor(
      const Context& ctx, const runtime::GroupVersionKind& kind) const = 0;
};

// The limits of a Policies.
struct PoliciesOptions {
  PolicyType type = PolicyType::kValidating;
  // The shortest time between two compilations after changes.
  std::chrono::milliseconds refresh = std::chrono::milliseconds(100);
  // The time after which a policy with an unknown paramKind is looked at again.
  std::chrono::milliseconds retry = std::chrono::seconds(1);
  // Gets the informers' errors. Must outlive the source.
  LogSink* log = &NullLogSink();
};

// Returns the policies of the server that Start() is given. They are compiled on a thread of their
// own whenever they change, so that requests never wait for it. Expressions that do not compile are
// kept as errors, which the failurePolicy of their policy decides about.
std::shared_ptr<Policies> NewPolicies(PoliciesOptions options = {});

// The dependencies and limits of a policy plugin.
struct PolicyAdmissionOptions {
  // Required. Its type is the plugin's.
  std::shared_ptr<const Policies> policies = nullptr;
  // Answers `authorizer` in expressions. Null: every check is an error.
  std::shared_ptr<const auth::Authorizer> authorizer = nullptr;
  // The namespaces for namespaceSelector and `namespaceObject`. Null: a namespace has only its name
  // and the label kubernetes.io/metadata.name.
  std::shared_ptr<const Namespaces> namespaces = nullptr;
  // The resources that policies never intercept. Empty: the reviews of authentication.k8s.io and
  // authorization.k8s.io. The four resources of policies and bindings are never intercepted.
  std::vector<runtime::GroupResource> excluded = {};
  // The longest time that a request waits for the first list of policies; then it is refused.
  std::chrono::milliseconds ready_wait = std::chrono::seconds(10);
  LogSink* log = &NullLogSink();
};

// Returns the plugin ValidatingAdmissionPolicy, which refuses, warns and annotates as the bindings
// say. Kubernetes runs it before ValidatingAdmissionWebhook.
std::shared_ptr<const Plugin> NewValidatingPolicyAdmission(PolicyAdmissionOptions options);
// Returns the plugin MutatingAdmissionPolicy. Kubernetes runs it before MutatingAdmissionWebhook.
std::shared_ptr<const Plugin> NewMutatingPolicyAdmission(PolicyAdmissionOptions options);

}  // namespace apiserver::inline v0::admission
