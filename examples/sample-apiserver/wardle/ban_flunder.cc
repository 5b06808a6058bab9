#include "wardle/ban_flunder.h"

#include <utility>

#include "apiserver/meta/errors.h"

namespace wardle {

using apiserver::Context;
using apiserver::Status;

void BanFlunder::SetFischers(std::shared_ptr<apiserver::rest::Lister> fischers) {
  *fischers_.Lock() = std::move(fischers);
}

Status BanFlunder::Admit(const Context& ctx, apiserver::admission::Attributes& attributes) const {
  if (attributes.kind.kind != "Flunder") return {};
  const auto resource = attributes.resource.group_resource();
  const std::shared_ptr<apiserver::rest::Lister> fischers = *fischers_.Lock();
  if (!fischers) {
    return apiserver::meta::NewForbidden(resource, attributes.name,
                                         "not yet ready to handle request");
  }
  apiserver::meta::ListOptions any;
  any.resource_version = "0";
  // The list is cluster-scoped, whatever namespace the Flunder is created in.
  Context cluster = Context::Child(ctx);
  cluster.Set(apiserver::rest::Namespace{});
  const auto list = fischers->List(cluster, any);
  if (!list.ok()) return list.status();
  const std::string_view name = attributes.object->name();
  for (const auto& fischer : list->items) {
    for (const auto& disallowed : (*fischer)["disallowedFlunders"].items()) {
      if (disallowed.AsString() != name) continue;
      return apiserver::meta::NewForbidden(
          resource, attributes.name, "this name may not be used, please change the resource name");
    }
  }
  return {};
}

}  // namespace wardle
