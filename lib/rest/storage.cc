#include "apiserver/rest/storage.h"

namespace apiserver::v0::rest {

// Empty: the request is for a cluster-scoped resource or for all namespaces.
std::string_view NamespaceOf(const Context& ctx) {
  const auto* found = ctx.Get<Namespace>();
  return found != nullptr ? std::string_view(found->value) : std::string_view();
}

void InlineReader::WhenFresh(const Context& /*ctx*/, FreshDone done) {
  done(Status(Reason::kWouldBlock, "the storage can only wait"));
}

Result<std::unique_ptr<runtime::Object>> Connecter::NewConnectOptions(
    const meta::QueryValues& /*query*/, std::string_view /*subpath*/) {
  return std::unique_ptr<runtime::Object>();
}

// Asks once when a storage is installed, so that a request costs no dynamic_cast.
Capabilities Capabilities::Of(Storage& storage) {
  Capabilities all;
  const auto ask = [&storage]<class T>(T*& capability) { capability = dynamic_cast<T*>(&storage); };
  ask(all.scoper);
  ask(all.singular_name);
  ask(all.short_names);
  ask(all.categories);
  ask(all.gvk);
  ask(all.gv_acceptor);
  ask(all.storage_version);
  ask(all.table_convertor);
  ask(all.getter);
  ask(all.getter_with_options);
  ask(all.lister);
  ask(all.watcher);
  ask(all.async_creater);
  ask(all.creater);
  ask(all.named_creater);
  ask(all.meta_preserver);
  ask(all.async_updater);
  ask(all.updater);
  ask(all.graceful_deleter);
  ask(all.full_object_deleter);
  ask(all.collection_deleter);
  ask(all.connecter);
  ask(all.streamer);
  ask(all.inline_reader);
  ask(all.inline_writer);
  ask(all.readiness);
  ask(all.stats);
  ask(all.reset_fields);
  if (all.collection_deleter && !all.collection_deleter->DeletesCollections()) {
    all.collection_deleter = nullptr;
  }
  return all;
}

}  // namespace apiserver::v0::rest
