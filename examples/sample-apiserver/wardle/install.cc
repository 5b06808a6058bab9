#include "wardle/install.h"

#include "apiserver/base/status.h"
#include "wardle/fischer.h"
#include "wardle/flunder.h"

namespace wardle {

using apiserver::Status;
namespace registry = apiserver::registry;
namespace server = apiserver::server;

// Early return; the library's own macro is private to it.
#define RETURN_IF_NOT_OK(expr) \
  if (Status status_ = (expr); !status_.ok()) return status_

Status Install(server::GenericAPIServer& server, const registry::StorageConfig& config,
               BanFlunder& ban_flunder) {
  const auto flunder = NewFlunderKind();
  RETURN_IF_NOT_OK(flunder.status());
  const auto fischer = NewFischerKind();
  RETURN_IF_NOT_OK(fischer.status());
  RETURN_IF_NOT_OK(server.scheme().Add(*flunder));
  RETURN_IF_NOT_OK(server.scheme().Add(*fischer));
  server.scheme().SetVersionPriority(kGroup, {"v1beta1", "v1alpha1"});

  const auto flunders = registry::NewStore(
      config, {.kind = *flunder, .strategy = NewFlunderStrategy(), .functions_inline = true});
  RETURN_IF_NOT_OK(flunders.status());
  const auto fischers =
      registry::NewStore(config, {.kind = *fischer, .strategy = NewFischerStrategy()});
  RETURN_IF_NOT_OK(fischers.status());
  ban_flunder.SetFischers(*fischers);
  return server.InstallAPIGroup({kGroup,
                                 {{"v1alpha1", {{"flunders", *flunders}, {"fischers", *fischers}}},
                                  {"v1beta1", {{"flunders", *flunders}}}}});
}

}  // namespace wardle
