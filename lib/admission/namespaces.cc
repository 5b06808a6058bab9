#include "apiserver/admission/namespaces.h"

#include <string>
#include <utility>

#include "base/status_macros.h"

namespace apiserver::v0::admission {

namespace {

client::Target NamespacesTarget() { return {.resource = {"", "v1", "namespaces"}}; }

}  // namespace

InformedNamespaces::~InformedNamespaces() { Stop(); }

void InformedNamespaces::Start(std::shared_ptr<client::Client> client) {
  std::shared_ptr<client::Informer> informer =
      client::NewInformer(*client, {.target = NamespacesTarget(), .log = &log_});
  *followed_.Lock() = {std::move(client), informer};
  informer->Start();
  started_.Notify();
}

void InformedNamespaces::Stop() {
  const Followed known = followed();
  if (!known.informer) return;
  known.informer->Stop();
  // The client's connection has a thread, which is not needed any more.
  followed_.Lock()->client = nullptr;
}

bool InformedNamespaces::WaitForSync(std::chrono::milliseconds timeout) const {
  if (!started_.WaitFor(timeout)) return false;
  return followed().informer->WaitForSync(timeout);
}

// Null: there is none, or it is not known yet.
runtime::ObjectPtr InformedNamespaces::Get(std::string_view name) const {
  const Followed known = followed();
  return known.informer ? known.informer->Get("", name) : nullptr;
}

Result<runtime::ObjectPtr> InformedNamespaces::GetLive(const Context& ctx,
                                                       std::string_view name) const {
  const Followed known = followed();
  if (!known.client) return Status(Reason::kServiceUnavailable, "namespaces are not known yet");
  client::Target target = NamespacesTarget();
  target.name = name;
  // Asks the server, since the informer may not have a new namespace yet.
  ASSIGN_OR_RETURN(auto object, known.client->Get(ctx, target));
  return runtime::ObjectPtr(std::move(object));
}

}  // namespace apiserver::v0::admission
