#include <utility>

#include "registry/generic_store.h"

namespace apiserver::v0::registry {

Result<runtime::List> GenericStore::List(const Context& ctx, const meta::ListOptions& options) {
  Selection selection = Select(ctx, options);
  storage::ListOptions list;
  list.resource_version = options.resource_version;
  list.match = options.resource_version_match;
  list.predicate = std::move(selection.predicate);
  list.limit = options.limit;
  list.continue_token = options.continue_token;
  list.recursive = selection.recursive;
  auto items = storage_->GetList(ctx, selection.key, list);
  if (!items.ok()) return Interpret(items.status(), Verb::kList, "");
  return items;
}

}  // namespace apiserver::v0::registry
