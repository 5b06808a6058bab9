// The server that policies.py asks what a kube-apiserver was asked: kinds of Kubernetes without
// validation of their own, and the namespaces that policies select.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/admission/namespaces.h"
#include "apiserver/base/status_macros.h"
#include "apiserver/client/client.h"
#include "apiserver/groups/apps.h"
#include "apiserver/groups/coordination.h"
#include "apiserver/groups/core.h"
#include "apiserver/program/run_standalone.h"
#include "apiserver/rest/kind_strategy.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/server/install.h"

namespace {

using apiserver::Context;
using apiserver::Result;
using apiserver::Status;
using apiserver::field::ErrorList;
using apiserver::runtime::KindPtr;
using apiserver::runtime::Object;
namespace admission = apiserver::admission;
namespace groups = apiserver::groups;
namespace registry = apiserver::registry;
namespace rest = apiserver::rest;
namespace server = apiserver::server;

constexpr std::chrono::milliseconds kSyncStep(200);

// The strategy of kinds without a generation. Everything is valid.
class Unvalidated : public rest::Strategy {
 public:
  explicit Unvalidated(bool namespaced) : namespaced_(namespaced) {}
  bool NamespaceScoped() const override { return namespaced_; }
  bool AllowUnconditionalUpdate() const override { return true; }
  ErrorList Validate(const Context&, const Object&) const override { return {}; }

 private:
  bool namespaced_;
};

// The strategy of namespaces, whose status belongs to the server.
class OfNamespaces final : public Unvalidated {
 public:
  OfNamespaces() : Unvalidated(/*namespaced=*/false) {}
  void PrepareForCreate(const Context&, Object& object) const override {
    object.Edit("status", "phase") = "Active";
  }
  void PrepareForUpdate(const Context&, Object& object, const Object& old) const override {
    object.Edit("status") = old["status"];
  }
  rest::ResetFields GetResetFields() const override { return {{"v1", {{"status"}}}}; }
};

// Adds the kinds named, of those given, to `resources`.
Status Choose(const Result<std::vector<KindPtr>>& kinds, const std::vector<std::string>& names,
              std::vector<server::Resource>& resources) {
  APISERVER_RETURN_IF_ERROR(kinds.status());
  for (const KindPtr& kind : *kinds) {
    if (std::find(names.begin(), names.end(), kind->kind()) == names.end()) continue;
    server::Resource resource{.kind = kind};
    // Kubernetes counts generations of kinds with a spec that a controller follows.
    if (kind->kind() == "Namespace") {
      resource.strategy = std::make_shared<OfNamespaces>();
    } else if (kind->kind() != "Deployment") {
      resource.strategy = std::make_shared<Unvalidated>(kind->namespaced());
    }
    // Kubernetes validates these kinds by code, which is not asked about here.
    resource.configure = [](registry::StoreOptions& store) { store.validate_schema = false; };
    resources.push_back(std::move(resource));
  }
  return {};
}

// Runs on the hook's thread: the server is ready once its namespaces are known.
Status Follow(const server::HookContext& hook, admission::InformedNamespaces& namespaces) {
  namespaces.Start(apiserver::client::NewClient(hook.server.LoopbackConnection()));
  while (!namespaces.WaitForSync(kSyncStep)) APISERVER_RETURN_IF_ERROR(hook.ctx.Err());
  return {};
}

Status Install(server::GenericAPIServer& server, const registry::StorageConfig& storage,
               const std::shared_ptr<admission::InformedNamespaces>& namespaces) {
  std::vector<server::Resource> resources;
  APISERVER_RETURN_IF_ERROR(
      Choose(groups::core::Kinds(), {"ConfigMap", "Namespace", "ServiceAccount"}, resources));
  APISERVER_RETURN_IF_ERROR(Choose(groups::apps::Kinds(), {"Deployment"}, resources));
  APISERVER_RETURN_IF_ERROR(Choose(groups::coordination::Kinds(), {"Lease"}, resources));
  APISERVER_RETURN_IF_ERROR(server::InstallKinds(server, storage, std::move(resources)).status());
  const auto follow = [namespaces](const server::HookContext& hook) {
    return Follow(hook, *namespaces);
  };
  APISERVER_RETURN_IF_ERROR(server.AddPostStartHook("follow-namespaces", follow));
  return server.AddPreShutdownHook("follow-namespaces", [namespaces](const auto&) {
    namespaces->Stop();
    return Status();
  });
}

}  // namespace

int main(int argc, char** argv) {
  const auto namespaces = std::make_shared<admission::InformedNamespaces>();
  return apiserver::program::RunStandalone(argc, argv,
                                           {.name = "policy-server",
                                            .version = "0.1",
                                            .openapi_title = "For tests of policies",
                                            .namespaces = namespaces,
                                            .install = [&](auto& server, const auto& storage) {
                                              return Install(server, storage, namespaces);
                                            }});
}
