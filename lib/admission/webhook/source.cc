#include <iterator>
#include <utility>

#include "apiserver/admission/webhook.h"

namespace apiserver::v0::admission {

namespace {

// A source for hosts that know their webhooks when they start, and for tests.
class StaticWebhooks final : public WebhookSource {
 public:
  explicit StaticWebhooks(Webhooks webhooks)
      : webhooks_(std::make_shared<const Webhooks>(std::move(webhooks))) {}
  bool WaitForSync(std::chrono::milliseconds) const override { return true; }
  std::shared_ptr<const Webhooks> Get() const override { return webhooks_; }

 private:
  const std::shared_ptr<const Webhooks> webhooks_;
};

client::Target ConfigurationsOf(WebhookType type) {
  return {.resource = {"admissionregistration.k8s.io", "v1",
                       type == WebhookType::kMutating ? "mutatingwebhookconfigurations"
                                                      : "validatingwebhookconfigurations"}};
}

}  // namespace

std::shared_ptr<const WebhookSource> NewStaticWebhooks(Webhooks webhooks) {
  CompileMatchConditions(webhooks);
  return std::make_shared<StaticWebhooks>(std::move(webhooks));
}

InformedWebhooks::~InformedWebhooks() { Stop(); }

void InformedWebhooks::Start(std::shared_ptr<client::Client> client) {
  // A change only drops the parsed webhooks; the next request parses them, so that many changes
  // cost once.
  const auto changed = [this](const runtime::ObjectPtr&) { Changed(); };
  const client::InformerHandler handler{
      .on_add = changed,
      .on_update = [this](const runtime::ObjectPtr&, const runtime::ObjectPtr&) { Changed(); },
      .on_delete = changed};
  std::shared_ptr<client::Informer> informer = client::NewInformer(
      *client, {.target = ConfigurationsOf(type_), .handlers = {handler}, .log = &log_});
  {
    auto state = state_.Lock();
    state->client = std::move(client);
    state->informer = informer;
  }
  // Started outside of the lock, which its handlers take.
  informer->Start();
  started_.Notify();
}

void InformedWebhooks::Stop() {
  // Called without the lock: Stop() waits for handlers, which take it.
  const std::shared_ptr<client::Informer> informer = state_.Lock()->informer;
  if (!informer) return;
  informer->Stop();
  // The client's connection has a thread, which is not needed any more.
  state_.Lock()->client = nullptr;
}

// Waits for Start() as well: a request may come before the server has started its informers.
bool InformedWebhooks::WaitForSync(std::chrono::milliseconds timeout) const {
  if (!started_.WaitFor(timeout)) return false;
  const std::shared_ptr<client::Informer> informer = state_.Lock()->informer;
  return informer->HasSynced() || informer->WaitForSync(timeout);
}

// Parsed under the lock: several requests would else parse the same objects after a change.
std::shared_ptr<const Webhooks> InformedWebhooks::Get() const {
  static const auto none = std::make_shared<const Webhooks>();
  auto state = state_.Lock();
  if (state->webhooks) return state->webhooks;
  if (!state->informer) return none;
  Webhooks webhooks;
  for (const runtime::ObjectPtr& configuration : state->informer->List()) {
    Webhooks own = WebhooksOf(*configuration, type_);
    std::move(own.begin(), own.end(), std::back_inserter(webhooks));
  }
  state->webhooks = std::make_shared<const Webhooks>(std::move(webhooks));
  return state->webhooks;
}

}  // namespace apiserver::v0::admission
