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

// Admission by servers elsewhere: k8s.io/apiserver/pkg/admission/plugin/webhook. What is called is
// told by the objects of admissionregistration.k8s.io/v1, see groups/admissionregistration.h.
namespace apiserver::inline v0::admission {

enum class WebhookType : std::uint8_t { kMutating, kValidating };

// Which requests a webhook is for; "*" stands for all.
struct WebhookRule {
  std::vector<std::string> operations = {};  // "CREATE", …
  std::vector<std::string> api_groups = {};
  std::vector<std::string> api_versions = {};
  std::vector<std::string> resources = {};  // "pods", "pods/status", "*/scale", "*/*".
  std::string scope = "*";                  // "Cluster", "Namespaced".

  // `resource`: under which version the request is judged.
  bool Matches(const Attributes& attributes, const runtime::GroupVersionResource& resource) const;
};

// One webhook of a configuration, with the defaults of v1 filled in.
struct Webhook {
  WebhookType type = WebhookType::kValidating;
  std::string uid = {};  // "<configuration>/<name>/<n>"; n counts webhooks of the same name.
  std::string configuration = {};  // The name of the object it stands in.
  std::string name = {};
  client::WebhookClientConfig client_config = {};
  std::vector<WebhookRule> rules = {};
  bool fail_open = false;  // failurePolicy: Ignore.
  bool equivalent = true;  // matchPolicy: Equivalent.
  Result<meta::LabelSelector> namespace_selector = meta::LabelSelector();
  Result<meta::LabelSelector> object_selector = meta::LabelSelector();
  std::string side_effects = {};  // Empty: not said.
  std::chrono::seconds timeout = std::chrono::seconds(10);
  std::vector<std::string> review_versions = {};
  bool reinvoke_if_needed = false;  // reinvocationPolicy: IfNeeded.
  bool has_match_conditions = false;
};
using Webhooks = std::vector<Webhook>;

// The webhooks of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration of v1, whatever
// its Kind knows of it.
Webhooks WebhooksOf(const runtime::Object& configuration, WebhookType type);

// Where webhooks are told. Any thread.
class WebhookSource {
 public:
  virtual ~WebhookSource() = default;
  // False: `timeout` passed before anything was known.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
  // By configuration name, then as they stand there. Never null.
  virtual std::shared_ptr<const Webhooks> Get() const = 0;
};

// The configurations of a server, followed by an informer.
class InformedWebhooks final : public WebhookSource {
 public:
  explicit InformedWebhooks(WebhookType type, LogSink& log = NullLogSink())
      : type_(type), log_(log) {}
  ~InformedWebhooks() override;

  // As InformedNamespaces::Start.
  void Start(std::shared_ptr<client::Client> client);
  void Stop();

  bool WaitForSync(std::chrono::milliseconds timeout) const override;
  std::shared_ptr<const Webhooks> Get() const override;

 private:
  struct State {
    std::shared_ptr<client::Client> client;
    std::shared_ptr<client::Informer> informer;
    // Null: the configurations have changed since.
    std::shared_ptr<const Webhooks> webhooks;
  };
  void Changed() { state_.Lock()->webhooks = nullptr; }

  const WebhookType type_;
  LogSink& log_;
  Guarded<State> state_;
  Notification started_;
};

// Webhooks that never change.
std::shared_ptr<const WebhookSource> NewStaticWebhooks(Webhooks webhooks);

struct WebhookAdmissionOptions {
  // Required.
  std::shared_ptr<const WebhookSource> webhooks = nullptr;
  // How webhooks are called. Null: client::NewHttpClientFactory().
  client::HttpClientFactory new_client = nullptr;
  // As whom webhooks are called. Null: as nobody.
  std::shared_ptr<const client::WebhookUsers> users = nullptr;
  // Required with `users`: their tokens and certificates are read again there, so it must be one
  // that may block. Outlives the plugin.
  Executor* executor = nullptr;
  FileSystem* files = &RealFileSystem();
  // Where services are. Outlives the plugin.
  const client::ServiceResolver* resolver = &client::DefaultServiceResolver();
  // For namespaceSelector. Null: a namespace has no labels but kubernetes.io/metadata.name.
  std::shared_ptr<const Namespaces> namespaces = nullptr;
  // Never told to webhooks: who may not log in cannot repair a webhook. Empty: the reviews of
  // authentication.k8s.io and authorization.k8s.io.
  std::vector<runtime::GroupResource> excluded = {};
  // How long a request waits at most for the webhooks to be known at all; then it is refused.
  std::chrono::milliseconds ready_wait = std::chrono::seconds(10);
  // A longer answer fails the call.
  std::size_t response_bytes_max = 3 << 20;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();
};

// The plugins MutatingAdmissionWebhook, which calls one webhook after the other, and
// ValidatingAdmissionWebhook, which calls them all at once. A request's thread waits for the
// answers, at most 30 s a webhook and never beyond the request's own time.
//
// Webhooks are not asked about webhook configurations and admission policies, which would have to
// be asked themselves. A webhook with matchConditions counts as failed: this version cannot
// evaluate them, and the group refuses them.
std::shared_ptr<const Plugin> NewMutatingWebhookAdmission(WebhookAdmissionOptions options);
std::shared_ptr<const Plugin> NewValidatingWebhookAdmission(WebhookAdmissionOptions options);

}  // namespace apiserver::inline v0::admission
