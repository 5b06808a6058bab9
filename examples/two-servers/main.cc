// Two servers in one process, each with a port, users and kinds of its own, over one engine.
#include "apiserver/base/status_macros.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/server/install.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"
using namespace apiserver;  // NOLINT(google-build-using-namespace): an example's main.
using ServerPtr = std::unique_ptr<server::GenericAPIServer>;

Result<ServerPtr> NewServer(const server::Standalone& users, runtime::KindOptions options,
                            storage::kv::Engine& engine) {
  const auto schema = runtime::StructBuilder("")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("spec", runtime::MapOf(runtime::StringSchema()))
                          .Build();
  options.versions = {{.version = "v1", .schema = schema}};
  APISERVER_ASSIGN_OR_RETURN(const auto kind, runtime::Kind::New(std::move(options)));
  APISERVER_ASSIGN_OR_RETURN(ServerPtr server, users.NewServer());
  const auto stores = server::InstallKinds(*server, server->Storage(engine), {{.kind = kind}});
  APISERVER_RETURN_IF_ERROR(stores.status());
  APISERVER_RETURN_IF_ERROR(server->PrepareRun());
  return server;
}
static Result<int> Run() {
  const auto db = storage::memory::NewEngine();
  APISERVER_ASSIGN_OR_RETURN(const auto keepers, server::NewStandalone({.port = 6443}));
  APISERVER_ASSIGN_OR_RETURN(const auto zoo, NewServer(keepers, {"zoo.io", "Pet", "pets"}, *db));
  APISERVER_ASSIGN_OR_RETURN(const auto staff, server::NewStandalone({.port = 6444}));
  APISERVER_ASSIGN_OR_RETURN(const auto shop, NewServer(staff, {"shop.io", "Cup", "cups"}, *db));
  APISERVER_RETURN_IF_ERROR(keepers.WriteKubeconfig("zoo.kubeconfig", 6443));
  APISERVER_RETURN_IF_ERROR(staff.WriteKubeconfig("shop.kubeconfig", 6444));
  APISERVER_RETURN_IF_ERROR(zoo->Start());
  return program::RunUntilSignal(*shop, [] {});
}
int main() {
  program::BlockSignals();
  const auto code = Run();
  return code.ok() ? *code : program::Fail(code.status());
}
