#include "apiserver/controlplane/system_namespaces.h"

#include <memory>
#include <utility>

#include "apiserver/client/client.h"
#include "base/status_macros.h"
#include "controlplane/control/hooks.h"
#include "controlplane/control/objects.h"

namespace apiserver::v0::controlplane {
namespace {

client::Target Namespaces(std::string name = "") {
  return {.resource = {"", "v1", "namespaces"}, .name = std::move(name)};
}

Status CreateIfNeeded(const Context& ctx, client::Client& api, const std::string& name) {
  const auto found = api.Get(ctx, Namespaces(name));
  if (found.status().reason() != Reason::kNotFound) return found.status();
  const auto object = NewObject({"", "v1", "Namespace"}, "", name);
  const Status made = api.Create(ctx, Namespaces(), *object).status();
  return made.reason() == Reason::kAlreadyExists ? Status() : made;
}

}  // namespace

Status AddSystemNamespaces(server::GenericAPIServer& server, SystemNamespacesOptions options) {
  const auto step = [options = std::move(options)](const Context& ctx, client::Client& api) {
    std::chrono::milliseconds pause = options.period;
    for (const std::string& name : options.namespaces) {
      const Status made = CreateIfNeeded(ctx, api, name);
      if (made.ok() || ctx.done()) continue;
      pause = options.pause_after_failure;
      Log(*options.log, LogLevel::kError,
          "unable to create required kubernetes system Namespace " + name,
          {{"err", std::string(made.message())}});
    }
    return pause;
  };
  return AddController(server, {.start_hook = "start-system-namespaces-controller",
                                .stop_hook = "stop-system-namespaces-controller",
                                .step = step});
}

}  // namespace apiserver::v0::controlplane
