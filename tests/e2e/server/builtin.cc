#include "builtin.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/status_macros.h"
#include "apiserver/groups/apps.h"
#include "apiserver/groups/core.h"
#include "apiserver/rest/strategy.h"

namespace builtin {

namespace {

using apiserver::Context;
using apiserver::Result;
using apiserver::Status;
using apiserver::field::ErrorList;
using apiserver::runtime::KindPtr;
using apiserver::runtime::Object;
namespace groups = apiserver::groups;
namespace registry = apiserver::registry;
namespace rest = apiserver::rest;
namespace server = apiserver::server;

class AnythingGoes final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  ErrorList Validate(const Context&, const Object&) const override { return {}; }
};

// Serves the kind named, of those given, as the only one of its group.
Status Serve(server::GenericAPIServer& server, const registry::StorageConfig& config,
             const Result<std::vector<KindPtr>>& kinds, const std::string& name) {
  APISERVER_RETURN_IF_ERROR(kinds.status());
  for (const KindPtr& kind : *kinds) {
    if (kind->kind() != name) continue;
    APISERVER_RETURN_IF_ERROR(server.scheme().Add(kind));
    APISERVER_ASSIGN_OR_RETURN(
        const auto store, registry::NewStore(config, {.kind = kind,
                                                      .strategy = std::make_shared<AnythingGoes>(),
                                                      .validate_schema = false}));
    return server.InstallAPIGroup({kind->group(), {{"v1", {{kind->plural(), store}}}}});
  }
  return {apiserver::Reason::kNotFound, "there is no kind " + name};
}

}  // namespace

Status Install(server::GenericAPIServer& server, const registry::StorageConfig& config) {
  APISERVER_RETURN_IF_ERROR(Serve(server, config, groups::core::Kinds(), "ConfigMap"));
  return Serve(server, config, groups::apps::Kinds(), "Deployment");
}

}  // namespace builtin
