#include "groups/rbac/follower.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/client/informer.h"
#include "groups/rbac/aggregation.h"
#include "groups/rbac/convert.h"

namespace apiserver::v0::groups::rbac {
namespace {

using authz::rbac::RbacAuthorizer;
using client::InformerHandler;
using runtime::ObjectPtr;

// Calls `upsert` and `remove` for every change.
template <class Upsert, class Remove>
InformerHandler HandlerOf(const Upsert& upsert, const Remove& remove) {
  return {.on_add = upsert,
          .on_update = [upsert](const ObjectPtr& /*before*/, const ObjectPtr& now) { upsert(now); },
          .on_delete = remove};
}

// Callbacks run on the informers' threads and only update the index or add to a queue; neither
// blocks.
class InformerFollower final : public Follower {
 public:
  InformerFollower(std::shared_ptr<client::Client> client,
                   const std::shared_ptr<RbacAuthorizer>& rbac, LogSink& log,
                   std::shared_ptr<metrics::Registry> metrics)
      : client_(std::move(client)), aggregator_(NewAggregator(*client_, log, std::move(metrics))) {
    const InformerHandler roles = HandlerOf(
        [rbac](const ObjectPtr& role) { rbac->Upsert(RoleOf(*role)); },
        [rbac](const ObjectPtr& role) { rbac->DeleteRole(role->namespace_(), role->name()); });
    const InformerHandler bindings =
        HandlerOf([rbac](const ObjectPtr& binding) { rbac->Upsert(BindingOf(*binding)); },
                  [rbac](const ObjectPtr& binding) {
                    rbac->DeleteBinding(binding->namespace_(), binding->name());
                  });
    // Roles come before their bindings, so that fewer bindings are without a role for a moment.
    Follow("clusterroles", {roles, aggregator_->handler()}, log);
    Follow("roles", {roles}, log);
    Follow("clusterrolebindings", {bindings}, log);
    Follow("rolebindings", {bindings}, log);
  }
  ~InformerFollower() override { InformerFollower::Stop(); }

  void Start() override {
    for (const auto& informer : informers_) informer->Start();
    aggregator_->Start(*informers_.front());  // That of the ClusterRoles.
  }

  bool WaitForSync(std::chrono::milliseconds timeout) const override {
    return std::ranges::all_of(
        informers_, [&](const auto& informer) { return informer->WaitForSync(timeout); });
  }

  void Stop() override {
    // The aggregator first: it reads an informer. What that still adds to its queue is dropped.
    aggregator_->Stop();
    for (const auto& informer : informers_) informer->Stop();
  }

 private:
  void Follow(std::string resource, std::vector<InformerHandler> handlers, LogSink& log) {
    informers_.push_back(client::NewInformer(
        *client_,
        {.target = {.resource = {std::string(authz::rbac::kGroupName), "v1", std::move(resource)}},
         .handlers = std::move(handlers),
         .log = &log}));
  }

  const std::shared_ptr<client::Client> client_;
  const std::unique_ptr<Aggregator> aggregator_;
  std::vector<std::unique_ptr<client::Informer>> informers_;
};

}  // namespace

std::unique_ptr<Follower> NewFollower(std::shared_ptr<client::Client> client,
                                      const std::shared_ptr<RbacAuthorizer>& rbac, LogSink& log,
                                      std::shared_ptr<metrics::Registry> metrics) {
  return std::make_unique<InformerFollower>(std::move(client), rbac, log, std::move(metrics));
}

}  // namespace apiserver::v0::groups::rbac
