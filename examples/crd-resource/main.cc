// Serves the kind that a CustomResourceDefinition describes: ./crd-resource pets.yaml
#include "apiserver/base/file_system.h"
#include "apiserver/base/status_macros.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/server/install.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"
using namespace apiserver;  // NOLINT(google-build-using-namespace): an example's main.

Status ServeCrd(server::GenericAPIServer& server, storage::kv::Engine& engine, const char* file) {
  APISERVER_ASSIGN_OR_RETURN(const auto yaml, RealFileSystem().Read(file));
  APISERVER_ASSIGN_OR_RETURN(auto options, codec::KindOptionsFromCrd(yaml));
  APISERVER_ASSIGN_OR_RETURN(const auto kind, runtime::Kind::New(std::move(options)));
  return server::InstallKinds(server, server.Storage(engine), {{.kind = kind}}).status();
}
static Result<int> Run(const char* file) {
  const auto engine = storage::memory::NewEngine();
  APISERVER_ASSIGN_OR_RETURN(const auto standalone, server::NewStandalone({.port = 6443}));
  APISERVER_ASSIGN_OR_RETURN(const auto server, standalone.NewServer());
  APISERVER_RETURN_IF_ERROR(ServeCrd(*server, *engine, file));
  APISERVER_RETURN_IF_ERROR(server->PrepareRun());
  APISERVER_RETURN_IF_ERROR(standalone.WriteKubeconfig("crd.kubeconfig", 6443));
  return program::RunUntilSignal(*server, [] {});
}
int main(int argc, char** argv) {
  program::BlockSignals();
  const auto code = Run(argc > 1 ? argv[1] : "pets.yaml");
  return code.ok() ? *code : program::Fail(code.status());
}
