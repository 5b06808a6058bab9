#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/namespaces.h"
#include "apiserver/admission/rules.h"
#include "apiserver/auth/authorizer.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/client.h"
#include "apiserver/client/http_client.h"
#include "apiserver/client/informer.h"
#include "apiserver/client/webhook_config.h"
#include "apiserver/client/webhook_users.h"
#include "apiserver/meta/selector.h"
#include "apiserver/runtime/object.h"

// Admission webhooks: k8s.io/apiserver/pkg/admission/plugin/webhook. They are configured by the
// objects of admissionregistration.k8s.io/v1, see groups/admissionregistration.h.
namespace apiserver::inline v0::admission::policy {
class MatchConditions;  // Private: admission/policy/match_conditions.h.
}  // namespace apiserver::inline v0::admission::policy

namespace apiserver::inline v0::admission {

// The phase of admission that calls a webhook.
enum class WebhookType : std::uint8_t { kMutating, kValidating };

// The requests that a webhook is called for.
using WebhookRule = RuleWithOperations;

// A condition in the Common Expression Language that a request must meet. It may read object,
// oldObject, request, authorizer and authorizer.requestResource; namespaceObject is null.
struct MatchCondition {
  std::string name = {};
  std::string expression = {};
};

// One webhook of a configuration, with the defaults of v1 filled in.
struct Webhook {
  WebhookType type = WebhookType::kValidating;
  std::string uid = {};  // "<configuration>/<name>/<n>"; n counts webhooks of the same name.
  std::string configuration = {};  // The name of its configuration object.
  std::string name = {};
  client::WebhookClientConfig client_config = {};
  std::vector<WebhookRule> rules = {};
  bool fail_open = false;  // failurePolicy: Ignore.
  bool equivalent = true;  // matchPolicy: Equivalent.
  Result<meta::LabelSelector> namespace_selector = meta::LabelSelector();
  Result<meta::LabelSelector> object_selector = meta::LabelSelector();
  std::string side_effects = {};  // Empty: not set.
  std::chrono::seconds timeout = std::chrono::seconds(10);
  std::vector<std::string> review_versions = {};
  bool reinvoke_if_needed = false;  // reinvocationPolicy: IfNeeded.
  // Evaluated last, before the call. One that is false skips the webhook; otherwise one that fails
  // is up to failurePolicy.
  std::vector<MatchCondition> match_conditions = {};
  // `match_conditions` as CompileMatchConditions() made them. Null: it has not been called; a
  // webhook that has conditions then fails.
  std::shared_ptr<const policy::MatchConditions> compiled_conditions = nullptr;
};
using Webhooks = std::vector<Webhook>;

// Compiles the match conditions of webhooks: once, when they are read. A condition that does not
// compile is an error of each request, as Kubernetes' failurePolicy decides. WebhooksOf() and
// NewStaticWebhooks() do it; a WebhookSource of a host calls it itself.
void CompileMatchConditions(Webhooks& webhooks);

// Returns the webhooks of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration of v1,
// with or without a Kind for it.
Webhooks WebhooksOf(const runtime::Object& configuration, WebhookType type);

// A source of webhook configurations. Any thread may call its methods.
class WebhookSource {
 public:
  virtual ~WebhookSource() = default;
  // Waits until the webhooks have been listed once. False: `timeout` passed first.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
  // Returns the webhooks by configuration name, then in the order of the configuration. Never null.
  virtual std::shared_ptr<const Webhooks> Get() const = 0;
};

// The configurations of a server, followed by an informer.
class InformedWebhooks final : public WebhookSource {
 public:
  // `log`, which must outlive it, gets the informer's errors.
  explicit InformedWebhooks(WebhookType type, LogSink& log = NullLogSink())
      : type_(type), log_(log) {}
  ~InformedWebhooks() override;

  // Begins to follow as InformedNamespaces::Start does.
  void Start(std::shared_ptr<client::Client> client);
  // Stops following. Idempotent. Known webhooks stay known.
  void Stop();

  bool WaitForSync(std::chrono::milliseconds timeout) const override;
  std::shared_ptr<const Webhooks> Get() const override;

 private:
  struct State {
    std::shared_ptr<client::Client> client;
    std::shared_ptr<client::Informer> informer;
    // Null: the configurations have changed since it was made.
    std::shared_ptr<const Webhooks> webhooks;
  };
  void Changed() { state_.Lock()->webhooks = nullptr; }

  const WebhookType type_;
  LogSink& log_;
  Guarded<State> state_;
  Notification started_;
};

// Returns a source of webhooks that never change.
std::shared_ptr<const WebhookSource> NewStaticWebhooks(Webhooks webhooks);

// The dependencies and limits of a webhook plugin.
struct WebhookAdmissionOptions {
  // Required.
  std::shared_ptr<const WebhookSource> webhooks = nullptr;
  // Makes the clients for webhooks. Null: client::NewHttpClientFactory().
  client::HttpClientFactory new_client = nullptr;
  // The users that webhooks are called as. Null: they are called without credentials.
  std::shared_ptr<const client::WebhookUsers> users = nullptr;
  // Required with `users`: reads their tokens and certificates again, so its tasks must be allowed
  // to block. Must outlive the plugin.
  Executor* executor = nullptr;
  FileSystem* files = &RealFileSystem();
  // Finds the addresses of services. Must outlive the plugin.
  const client::ServiceResolver* resolver = &client::DefaultServiceResolver();
  // The namespaces for namespaceSelector. Null: a namespace has only the label
  // kubernetes.io/metadata.name.
  std::shared_ptr<const Namespaces> namespaces = nullptr;
  // Answers `authorizer` in match conditions; may block. Null: every check is an error.
  std::shared_ptr<const auth::Authorizer> authorizer = nullptr;
  // The resources that webhooks are never called for: a user that cannot log in cannot repair a
  // webhook. Empty: the reviews of authentication.k8s.io and authorization.k8s.io.
  std::vector<runtime::GroupResource> excluded = {};
  // The longest time that a request waits for the first list of webhooks; then it is refused.
  std::chrono::milliseconds ready_wait = std::chrono::seconds(10);
  // Limits a webhook's answer, in bytes; a longer one fails the call.
  std::size_t response_bytes_max = 3 << 20;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();
};

// Return the plugins MutatingAdmissionWebhook, which calls one webhook after the other, and
// ValidatingAdmissionWebhook, which calls them all at once. A request's thread waits for the
// answers, at most 30 s a webhook and never beyond the request's deadline.
//
// Webhooks are not called for webhook configurations and admission policies, since they would have
// to admit their own repair.
std::shared_ptr<const Plugin> NewMutatingWebhookAdmission(WebhookAdmissionOptions options);
// Returns ValidatingAdmissionWebhook, for the validating phase.
std::shared_ptr<const Plugin> NewValidatingWebhookAdmission(WebhookAdmissionOptions options);

}  // namespace apiserver::inline v0::admission
