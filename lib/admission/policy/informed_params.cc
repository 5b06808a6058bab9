#include "admission/policy/informed_params.h"

namespace apiserver::v0::admission::policy {

InformedParams::InformedParams(client::Client& client, const KindMapping& mapping, LogSink& log)
    : namespaced_(mapping.namespaced),
      informer_(
          client::NewInformer(client, {.target = {.resource = mapping.resource}, .log = &log})) {}

bool InformedParams::WaitForSync(std::chrono::milliseconds timeout) const {
  return informer_->HasSynced() || informer_->WaitForSync(timeout);
}

runtime::ObjectPtr InformedParams::Get(std::string_view ns, std::string_view name) const {
  return informer_->Get(ns, name);
}

std::vector<runtime::ObjectPtr> InformedParams::List(std::string_view ns,
                                                     const meta::LabelSelector& selector) const {
  std::vector<runtime::ObjectPtr> found;
  for (runtime::ObjectPtr& object : informer_->List()) {
    if (namespaced_ && object->namespace_() != ns) continue;
    if (selector.Matches(object->labels())) found.push_back(std::move(object));
  }
  return found;
}

}  // namespace apiserver::v0::admission::policy
