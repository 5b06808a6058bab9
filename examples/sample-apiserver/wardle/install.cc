#include "wardle/install.h"

#include "apiserver/base/status_macros.h"
#include "wardle/fischer.h"
#include "wardle/flunder.h"

namespace wardle {

using apiserver::Status;
namespace registry = apiserver::registry;
namespace server = apiserver::server;

Status Install(server::GenericAPIServer& server, const registry::StorageConfig& config,
               BanFlunder& ban_flunder) {
  APISERVER_ASSIGN_OR_RETURN(const auto flunder, NewFlunderKind());
  APISERVER_ASSIGN_OR_RETURN(const auto fischer, NewFischerKind());
  APISERVER_RETURN_IF_ERROR(server.scheme().Add(flunder));
  APISERVER_RETURN_IF_ERROR(server.scheme().Add(fischer));
  server.scheme().SetVersionPriority(kGroup, {"v1beta1", "v1alpha1"});

  APISERVER_ASSIGN_OR_RETURN(
      const auto flunders,
      registry::NewStore(
          config, {.kind = flunder, .strategy = NewFlunderStrategy(), .functions_inline = true}));
  APISERVER_ASSIGN_OR_RETURN(
      const auto fischers,
      registry::NewStore(config, {.kind = fischer, .strategy = NewFischerStrategy()}));
  ban_flunder.SetFischers(fischers);
  return server.InstallAPIGroup({kGroup,
                                 {{"v1alpha1", {{"flunders", flunders}, {"fischers", fischers}}},
                                  {"v1beta1", {{"flunders", flunders}}}}});
}

}  // namespace wardle
