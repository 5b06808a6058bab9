#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "aggregator/control/auto_register.h"
#include "aggregator/control/availability.h"
#include "aggregator/control/backend.h"
#include "aggregator/control/remote_discovery.h"
#include "aggregator/control/remote_openapi.h"
#include "aggregator/serving/table.h"
#include "apiserver/aggregator/aggregator.h"
#include "apiserver/aggregator/api_service.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/informer.h"
#include "apiserver/codec/json.h"
#include "base/status_macros.h"

namespace apiserver::v0::aggregator {
namespace {

// How often a waiting hook looks whether the server stops.
constexpr std::chrono::milliseconds kSyncStep{50};
// The priorities of group versions that are defined, and not built in.
constexpr std::int64_t kDefinedGroupPriority = 1000;
constexpr std::int64_t kDefinedVersionPriority = 100;

ProxyHandlerOptions HandlersOf(const Options& options, const registry::StorageConfig& storage) {
  return {.dialer = options.dialer,
          .service_resolver = options.service_resolver,
          .proxy_client = options.proxy_client,
          .reject_forwarding_redirects = options.reject_forwarding_redirects,
          .pipes = options.pipes,
          .memory = storage.memory,
          .clock = storage.clock};
}

// Follows the APIServices by an informer and tells everybody of them.
class Running : public std::enable_shared_from_this<Running> {
 public:
  Running(const Options& options, const registry::StorageConfig& storage,
          std::shared_ptr<Table> table, server::GenericAPIServer& server)
      : options_(options),
        services_(options.services),
        table_(std::move(table)),
        pool_(server.pool()),
        backend_(
            std::make_shared<const Backend>(Backend::Needs{.dialer = options.dialer,
                                                           .resolver = options.service_resolver,
                                                           .proxy_client = options.proxy_client,
                                                           .clock = storage.clock})),
        client_(client::NewClient(server.LoopbackConnection())),
        informer_(NewInformer(*options.log)),
        availability_({.pool = &server.pool(),
                       .clock = storage.clock,
                       .log = options.log,
                       .client = client_,
                       .backend = backend_,
                       .services = options.services,
                       .find = [this](const std::string& name) { return informer_->Get("", name); },
                       .metrics = server.metrics()}),
        discovery_({.pool = &server.pool(),
                    .clock = storage.clock,
                    .log = options.log,
                    .backend = backend_,
                    .find = [this](const std::string& name) { return table_->FactsNamed(name); },
                    .show =
                        [this](const std::string& name, discovery::APIVersion version) {
                          table_->Show(name, std::move(version));
                        },
                    .metrics = server.metrics()}),
        openapi_(
            {.pool = &server.pool(),
             .log = options.log,
             .backend = backend_,
             .find = [this](const std::string& name) { return table_->FactsNamed(name); },
             .show_v3 = [this](const std::string& name,
                               DocumentUrls urls) { table_->ShowDocuments(name, std::move(urls)); },
             .show_v2 =
                 [this](const std::string& name, openapi::ForeignV2Ptr document) {
                   table_->ShowDocument(name, std::move(document));
                 },
             .show_converted =
                 [this](const std::string& name, ConvertedPtr document) {
                   table_->ShowConverted(name, std::move(document));
                 },
             .metrics = server.metrics()}),
        registration_({.pool = &server.pool(),
                       .client = client_,
                       .find = [this](const std::string& name) { return informer_->Get("", name); },
                       .metrics = server.metrics()}) {}
  ~Running() { Stop(); }

  void Start() {
    if (services_) {
      services_->SetOnChange([this](std::string_view service_namespace, std::string_view name) {
        for (const std::string& each : table_->NamesOf(service_namespace, name)) {
          availability_.Add(each);
        }
      });
    }
    informer_->Start();
    LookAgainLater();
    DiscoverAgainLater();
  }

  bool WaitForSync(std::chrono::milliseconds timeout) const {
    return informer_->WaitForSync(timeout);
  }

  // Registers what the server has; blocks.
  Status Register(const Context& ctx) {
    if (!options_.auto_register) return {};
    RETURN_IF_ERROR(WantBuiltIn(ctx));
    if (options_.definitions) RETURN_IF_ERROR(FollowDefinitions(ctx));
    std::set<std::string> at_start;
    for (const auto& each : informer_->List()) at_start.emplace(each->name());
    registration_.Start(std::move(at_start));
    return {};
  }

  // Returns what is missing of the APIServices of built-in group versions. Follows
  // makeAPIServiceAvailableHealthCheck of k8s.io/kubernetes/pkg/controlplane/apiserver.
  Status CheckBuiltIn() const {
    auto pending = pending_.Lock();
    if (!*pending) return {Reason::kServiceUnavailable, "missing APIServices"};
    std::erase_if(**pending, [this](const std::string& name) {
      const runtime::ObjectPtr api_service = informer_->Get("", name);
      return api_service && IsConditionTrue(*api_service, kAvailable);
    });
    if ((*pending)->empty()) return {};
    return {Reason::kServiceUnavailable, "missing APIService: " + *(*pending)->begin()};
  }

  void Stop() {
    if (std::exchange(*stopped_.Lock(), true)) return;
    if (options_.definitions) options_.definitions->Follow(nullptr);
    registration_.Stop();
    if (services_) services_->SetOnChange(nullptr);
    informer_->Stop();
    availability_.Stop();
    discovery_.Stop();
    openapi_.Stop();
  }

 private:
  // All definitions must be known before what is no more wanted is deleted.
  Status FollowDefinitions(const Context& ctx) {
    while (!options_.definitions->WaitForSync(kSyncStep)) RETURN_IF_ERROR(ctx.Err());
    const auto stopped = stopped_.Lock();
    if (*stopped) return {};
    options_.definitions->Follow([this](const runtime::GroupVersion& version, bool defined) {
      if (!defined) return registration_.WantNot(version.version + "." + version.group);
      registration_.Want({.group = version.group,
                          .version = version.version,
                          .group_priority = kDefinedGroupPriority,
                          .version_priority = kDefinedVersionPriority});
    });
    return {};
  }

  // Wants the group versions of the server that a kube-apiserver registers.
  Status WantBuiltIn(const Context& ctx) {
    std::set<std::string> names;
    for (const char* const path : {"/api", "/apis"}) {
      ASSIGN_OR_RETURN(const http::ClientResponse answer, client_->Call(ctx, {.target = path}));
      if (answer.code != 200) continue;
      runtime::Arena arena;
      ASSIGN_OR_RETURN(const runtime::Value root, codec::ParseJson(answer.body, arena));
      for (const runtime::Value& version : root["versions"].items()) {
        WantBuiltIn("", version.AsString(), names);
      }
      for (const runtime::Value& group : root["groups"].items()) {
        for (const runtime::Value& version : group["versions"].items()) {
          WantBuiltIn(group["name"].AsString(), version["version"].AsString(), names);
        }
      }
    }
    *pending_.Lock() = std::move(names);
    return {};
  }
  void WantBuiltIn(std::string_view group, std::string_view version, std::set<std::string>& names) {
    const auto wanted = BuiltIn(group, version);
    if (!wanted) return;
    registration_.Want(*wanted);
    names.insert(std::string(version) + "." + std::string(group));
  }

  std::unique_ptr<client::Informer> NewInformer(LogSink& log) {
    client::InformerHandler handler{
        .on_add = [this](const runtime::ObjectPtr& object) { Changed(*object); },
        .on_update = [this](const runtime::ObjectPtr& /*before*/,
                            const runtime::ObjectPtr& now) { Changed(*now); },
        .on_delete = [this](const runtime::ObjectPtr& last) { Gone(*last); }};
    return client::NewInformer(
        *client_, {.target = {.resource = {"apiregistration.k8s.io", "v1", "apiservices"}},
                   .handlers = {std::move(handler)},
                   .log = &log});
  }

  // Discovery and OpenAPI are fetched for remote APIServices, and for one that has just become
  // local. There may be thousands of local ones.
  void Changed(const runtime::Object& api_service) {
    const std::string name(api_service.name());
    Facts facts = FactsOf(api_service);
    const auto before = table_->FactsNamed(name);
    const bool remote = facts.remote || (before && before->remote);
    table_->Set(facts);
    availability_.Add(name);
    registration_.Add(name);
    if (!remote) return;
    discovery_.Add(name);
    openapi_.Add(name);
  }
  void Gone(const runtime::Object& last) {
    const std::string name(last.name());
    table_->Remove(name);
    availability_.Add(name);
    discovery_.Add(name);
    openapi_.Add(name);
    registration_.Add(name);
  }

  // An extension server may come and go without any object that changes.
  void LookAgainLater() {
    (void)pool_.PostAfter(options_.availability_period, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr || *self->stopped_.Lock()) return;
      for (const std::string& name : self->table_->RemoteNames()) self->availability_.Add(name);
      self->LookAgainLater();
    });
  }
  void DiscoverAgainLater() {
    (void)pool_.PostAfter(options_.discovery_period, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr || *self->stopped_.Lock()) return;
      for (const std::string& name : self->table_->RemoteNames()) {
        self->discovery_.Add(name);
        self->openapi_.Add(name);
      }
      self->DiscoverAgainLater();
    });
  }

  const Options options_;
  const std::shared_ptr<Services> services_;
  const std::shared_ptr<Table> table_;
  Executor& pool_;
  const std::shared_ptr<const Backend> backend_;
  const std::shared_ptr<client::Client> client_;
  const std::unique_ptr<client::Informer> informer_;
  Availability availability_;
  RemoteDiscovery discovery_;
  RemoteOpenApi openapi_;
  AutoRegister registration_;
  // The built-in APIServices that have not been available yet. nullopt: nobody knows them yet.
  mutable Guarded<std::optional<std::set<std::string>>> pending_;
  Guarded<bool> stopped_{false};
};

// Owns the controllers from the start of the server to its stop.
class Follower {
 public:
  Follower(Options options, const registry::StorageConfig& storage, std::shared_ptr<Table> table)
      : options_(std::move(options)), storage_(storage), table_(std::move(table)) {}

  void Start(server::GenericAPIServer& server) {
    auto running = std::make_shared<Running>(options_, storage_, table_, server);
    running->Start();
    *running_.Lock() = std::move(running);
    started_.Notify();
  }

  // A shutdown waits for upgraded connections, which would last as long as its grace.
  void ClosePipesWith(const Context& server) {
    closing_ = server.OnDone([pipes = options_.pipes] { pipes->CloseAll(); });
  }

  bool WaitForSync(std::chrono::milliseconds timeout) const {
    if (!started_.WaitFor(timeout)) return false;
    const std::shared_ptr<Running> running = *running_.Lock();
    return running != nullptr && running->WaitForSync(timeout);
  }

  // Waits until each extension server has been asked for its resources.
  bool WaitUntilShown(std::chrono::milliseconds timeout) const {
    return table_->WaitUntilShown(timeout);
  }

  // Registers what the server has; blocks.
  Status Register(const Context& ctx) const {
    const std::shared_ptr<Running> running = *running_.Lock();
    return running ? running->Register(ctx) : Status();
  }

  // Passes once all built-in APIServices have been available, and from then on.
  Status CheckBuiltIn() {
    if (complete_) return {};
    const std::shared_ptr<Running> running = *running_.Lock();
    if (!running) return {Reason::kServiceUnavailable, "missing APIServices"};
    Status status = running->CheckBuiltIn();
    if (status.ok()) complete_ = true;
    return status;
  }

  // Drops what uses the server.
  void Stop() {
    std::shared_ptr<Running> running;
    running_.Lock()->swap(running);
    if (running) running->Stop();
  }

 private:
  const Options options_;
  const registry::StorageConfig storage_;
  const std::shared_ptr<Table> table_;
  Notification started_;
  Guarded<std::shared_ptr<Running>> running_;
  std::atomic<bool> complete_{false};
  Context::Registration closing_;
};

class Installed final : public APIAggregator {
 public:
  explicit Installed(std::weak_ptr<Follower> follower) : follower_(std::move(follower)) {}
  bool WaitForSync(std::chrono::milliseconds timeout) const override {
    const auto follower = follower_.lock();
    return follower != nullptr && follower->WaitForSync(timeout);
  }

 private:
  // The server's, which a host may destroy first.
  const std::weak_ptr<Follower> follower_;
};

Status AddHooks(server::Handler& handler, const std::shared_ptr<Follower>& follower) {
  RETURN_IF_ERROR(handler.AddPostStartHook("start-kube-aggregator-informers",
                                           [follower](const server::HookContext& hook) -> Status {
                                             follower->ClosePipesWith(hook.ctx);
                                             follower->Start(hook.server);
                                             return {};
                                           }));
  const auto wait = [follower](const server::HookContext& hook) -> Status {
    while (!follower->WaitForSync(kSyncStep)) RETURN_IF_ERROR(hook.ctx.Err());
    return {};
  };
  // Workers that the first hook has started do what upstream's controllers of these names do.
  for (const char* const name :
       {"apiservice-registration-controller", "apiservice-status-local-available-controller",
        "apiservice-status-remote-available-controller", "apiservice-openapi-controller",
        "apiservice-openapiv3-controller"}) {
    RETURN_IF_ERROR(handler.AddPostStartHook(name, wait));
  }
  RETURN_IF_ERROR(
      handler.AddPostStartHook("kube-apiserver-autoregistration",
                               [follower, wait](const server::HookContext& hook) -> Status {
                                 const Status synced = wait(hook);
                                 return synced.ok() ? follower->Register(hook.ctx) : synced;
                               }));
  // The server is not ready before its first documents are complete.
  const auto shown = [follower, wait](const server::HookContext& hook) -> Status {
    RETURN_IF_ERROR(wait(hook));
    while (!follower->WaitUntilShown(kSyncStep)) RETURN_IF_ERROR(hook.ctx.Err());
    return {};
  };
  RETURN_IF_ERROR(handler.AddPostStartHook("apiservice-discovery-controller", shown));
  return handler.AddPreShutdownHook("stop-kube-aggregator-informers",
                                    [follower](const server::HookContext& /*hook*/) -> Status {
                                      follower->Stop();
                                      return {};
                                    });
}

}  // namespace

Result<std::unique_ptr<APIAggregator>> Install(server::GenericAPIServer& server,
                                               const registry::StorageConfig& storage,
                                               Options options) {
  if (options.dialer == nullptr || options.service_resolver == nullptr) {
    return Status(Reason::kInvalid, "an aggregator needs a dialer and a resolver of services");
  }
  // In upstream's words. Nothing is aggregated without them.
  if (!server.ResourceEnabled({"apiregistration.k8s.io", "v1", "apiservices"})) {
    return Status(Reason::kInvalid, "API group/version apiregistration.k8s.io/v1 must be enabled");
  }
  if (!options.pipes) options.pipes = proxy::NewUnlimitedPipes();
  const auto table = std::make_shared<Table>(HandlersOf(options, storage));
  ASSIGN_OR_RETURN(server::Handler* const handler,
                   server.AddHandler({.name = "kube-aggregator",
                                      .routes = table,
                                      .place = server::HandlerOptions::Place::kInFront}));
  std::vector<server::Resource> resources;
  resources.push_back(APIServiceResource(*storage.clock));
  RETURN_IF_ERROR(server::InstallKinds(*handler, storage, std::move(resources)).status());
  const bool registers = options.auto_register;
  const auto follower = std::make_shared<Follower>(std::move(options), storage, table);
  RETURN_IF_ERROR(AddHooks(*handler, follower));
  if (registers) {
    RETURN_IF_ERROR(handler->AddHealthCheck(
        {.name = "autoregister-completion",
         .check = [follower](const Context& /*ctx*/) { return follower->CheckBuiltIn(); }}));
  }
  return std::unique_ptr<APIAggregator>(std::make_unique<Installed>(follower));
}

}  // namespace apiserver::v0::aggregator
