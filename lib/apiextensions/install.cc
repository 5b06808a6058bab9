#include <utility>

#include "apiextensions/control/controller.h"
#include "apiextensions/control/defined.h"
#include "apiextensions/control/status.h"
#include "apiextensions/convert/converters.h"
#include "apiextensions/serving/table.h"
#include "apiserver/apiextensions/apiextensions.h"
#include "apiserver/apiextensions/definition.h"
#include "base/status_macros.h"

namespace apiserver::v0::apiextensions {
namespace {

// How often a waiting hook looks whether the server stops.
constexpr std::chrono::milliseconds kSyncStep{50};

// The store of the definitions, which is made before the controller that its writes tell.
struct Told {
  std::weak_ptr<Controller> controller;

  // A writer's next request finds its definition served as it has been written.
  void operator()() const {
    if (const auto told = controller.lock()) {
      told->CatchUp();
      told->Kick();
    }
  }
};

void Configure(registry::StoreOptions& store, const std::shared_ptr<Told>& told,
               const Clock& clock) {
  store.mark_deleted = [&clock](runtime::Object& definition, const meta::DeleteOptions&) {
    MarkForDeletion(definition, clock.WallNow());
  };
  store.after_write = [told] { (*told)(); };
}

class Installed final : public CustomResources {
 public:
  Installed(std::weak_ptr<Controller> controller, std::weak_ptr<Defined> defined)
      : controller_(std::move(controller)), defined_(std::move(defined)) {}
  void Follow(Told told) override {
    if (const auto defined = defined_.lock()) defined->Follow(std::move(told));
  }
  bool WaitForSync(std::chrono::milliseconds timeout) const override {
    const auto controller = controller_.lock();
    return controller != nullptr && controller->WaitForSync(timeout);
  }

 private:
  // The server's, which a host may destroy first.
  const std::weak_ptr<Controller> controller_;
  const std::weak_ptr<Defined> defined_;
};

// Returns the converters that definitions ask for.
NewConverter ByStrategy(const registry::StorageConfig& storage, const Options& options) {
  // Without a registry of the server's, nobody asks what has been counted.
  const auto metrics = storage.metrics != nullptr
                           ? storage.metrics
                           : std::shared_ptr<metrics::Registry>(metrics::NewRegistry());
  const auto converters =
      std::make_shared<Converters>(ConversionOptions{.new_client = options.new_webhook_client,
                                                     .resolver = options.resolver,
                                                     .memory = storage.memory,
                                                     .metrics = metrics,
                                                     .clock = storage.clock,
                                                     .random = storage.random,
                                                     .log = options.log});
  return [converters](const runtime::Value& definition) { return converters->For(definition); };
}

// The hooks own the controller and its users.
Status AddHooks(server::Handler& handler, const std::shared_ptr<Controller>& controller,
                const std::shared_ptr<Table>& table, const std::shared_ptr<Defined>& defined) {
  RETURN_IF_ERROR(handler.AddPostStartHook(
      "start-apiextensions-informers", [controller, defined](const server::HookContext&) -> Status {
        controller->Start();
        return {};
      }));
  const auto wait = [controller, table](const server::HookContext& hook) -> Status {
    while (!controller->WaitForSync(kSyncStep)) RETURN_IF_ERROR(hook.ctx.Err());
    table->SetSynced();
    return {};
  };
  // As upstream, both are done once the definitions are known.
  RETURN_IF_ERROR(handler.AddPostStartHook("start-apiextensions-controllers", wait));
  RETURN_IF_ERROR(handler.AddPostStartHook("crd-informer-synced", wait));
  return handler.AddPreShutdownHook("stop-apiextensions-controllers",
                                    [controller, defined](const server::HookContext&) -> Status {
                                      controller->Stop();
                                      return {};
                                    });
}

}  // namespace

Result<std::unique_ptr<CustomResources>> Install(server::GenericAPIServer& server,
                                                 const registry::StorageConfig& storage,
                                                 Options options) {
  auto workshop = std::make_shared<Workshop>();
  workshop->storage = storage;
  workshop->pool = &server.pool();
  workshop->new_converter =
      options.new_converter ? std::move(options.new_converter) : ByStrategy(storage, options);
  const auto table = std::make_shared<Table>(workshop);
  ASSIGN_OR_RETURN(workshop->handler,
                   server.AddHandler({.name = "apiextensions", .routes = table}));

  const auto told = std::make_shared<Told>();
  server::Resource resource = DefinitionResource();
  resource.configure = [configure = std::move(resource.configure), told,
                        clock = storage.clock](registry::StoreOptions& store) {
    if (configure) configure(store);
    Configure(store, told, *clock);
  };
  std::vector<server::Resource> resources;
  resources.push_back(std::move(resource));
  ASSIGN_OR_RETURN(auto stores,
                   server::InstallKinds(*workshop->handler, storage, std::move(resources)));
  const auto defined = std::make_shared<Defined>();
  const auto controller = std::make_shared<Controller>(
      Controller::Needs{.definitions = stores.front(),
                        .pool = workshop->pool,
                        .clock = storage.clock,
                        .log = options.log,
                        .users = {table.get(), defined.get()},
                        .metrics = storage.metrics,
                        .empty = [table](const Context& ctx, const FactsPtr& facts) {
                          return table->DeleteObjects(ctx, facts);
                        }});
  told->controller = controller;
  RETURN_IF_ERROR(AddHooks(*workshop->handler, controller, table, defined));
  return std::unique_ptr<CustomResources>(std::make_unique<Installed>(controller, defined));
}

}  // namespace apiserver::v0::apiextensions
