#include <string>
#include <utility>

#include "base/status_macros.h"
#include "registry/generic_store.h"

namespace apiserver::v0::registry {

Result<runtime::ObjectPtr> GenericStore::Get(const Context& ctx, std::string_view name,
                                             const meta::GetOptions& options) {
  ASSIGN_OR_RETURN(const std::string key, KeyFor(ctx, name));
  storage::GetOptions get;
  get.resource_version = options.resource_version;
  auto object = storage_->Get(ctx, key, get);
  if (!object.ok()) return Interpret(object.status(), Verb::kGet, name);
  return object;
}

// Reads that must be consistent wait here without a thread; see rest::InlineReader.
void GenericStore::WhenFresh(const Context& ctx, FreshDone done) {
  // `this` is safe to capture: the waiting caller keeps the store alive.
  auto told = [this, done = std::move(done)](const Result<std::int64_t>& revision) mutable {
    if (!revision.ok()) return done(Interpret(revision.status(), Verb::kGet, ""));
    done(std::to_string(*revision));
  };
  storage_->WhenFresh(ctx, std::move(told));
}

}  // namespace apiserver::v0::registry
