#include <map>
#include <string>
#include <utility>

#include "apiserver/groups/core.h"
#include "base/status_macros.h"
#include "groups/core/kinds.h"
#include "groups/core/strategy.h"

namespace apiserver::v0::groups::core {

Status Install(server::GenericAPIServer& server, const Options& options) {
  ASSIGN_OR_RETURN(const std::vector<runtime::KindPtr> kinds, ServedKinds());
  const Clock& clock = *options.storage.clock;
  std::map<std::string, std::shared_ptr<registry::Store>> stores;
  server::APIGroupInfo group{.group = ""};
  for (const runtime::KindPtr& kind : kinds) {
    RETURN_IF_ERROR(server.scheme().Add(kind));
    const bool secret = kind->kind() == "Secret";
    ASSIGN_OR_RETURN(
        auto store,
        registry::NewStore(
            options.storage,
            {.kind = kind,
             .strategy = secret ? NewSecretStrategy() : NewServiceAccountStrategy(),
             .table_convertor = secret ? NewSecretColumns(clock) : NewServiceAccountColumns(clock),
             // The columns and the kinds' functions do not block, so that reads may run on a loop.
             .functions_inline = true,
             .validate_schema = false}));
    group.storage["v1"][kind->plural()] = store;
    stores[kind->plural()] = std::move(store);
  }
  // Before the stores are handed out: tokens are only looked up in stores that are served.
  RETURN_IF_ERROR(server.InstallAPIGroup(std::move(group)));
  if (options.tokens) {
    options.tokens->SetStores(
        {.secrets = stores["secrets"], .service_accounts = stores["serviceaccounts"]});
  }
  return {};
}

}  // namespace apiserver::v0::groups::core
