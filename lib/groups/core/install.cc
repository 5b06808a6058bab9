#include <cstddef>
#include <utility>
#include <vector>

#include "apiserver/groups/core.h"
#include "base/status_macros.h"
#include "groups/core/kinds.h"
#include "groups/core/strategy.h"
#include "groups/resource.h"

namespace apiserver::v0::groups::core {

Status Install(server::GenericAPIServer& server, const Options& options) {
  ASSIGN_OR_RETURN(const std::vector<runtime::KindPtr> kinds, ServedKinds());
  const Clock& clock = *options.storage.clock;
  std::vector<server::Resource> resources;
  resources.reserve(kinds.size());
  for (const runtime::KindPtr& kind : kinds) {
    if (kind->kind() == "Secret") {
      resources.push_back(ResourceOf(kind, NewSecretStrategy(), NewSecretColumns(clock)));
      continue;
    }
    resources.push_back(
        ResourceOf(kind, NewServiceAccountStrategy(), NewServiceAccountColumns(clock)));
    resources.back().subresources = options.account_subresources;
  }
  // Before the stores are handed out: tokens are only looked up in stores that are served.
  ASSIGN_OR_RETURN(const auto stores,
                   server::InstallKinds(server, options.storage, std::move(resources)));
  if (!options.tokens) return {};
  TokenObjects::Stores looked_up;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    (kinds[i]->kind() == "Secret" ? looked_up.secrets : looked_up.service_accounts) = stores[i];
  }
  options.tokens->SetStores(looked_up);
  return {};
}

}  // namespace apiserver::v0::groups::core
