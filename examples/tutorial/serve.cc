// Serves the pets of a step, kept in memory, until a signal comes.
#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"
#include "pets.h"

static apiserver::Result<int> Run() {
  using namespace apiserver;  // NOLINT(google-build-using-namespace): an example.
  const auto engine = storage::memory::NewEngine();
  APISERVER_ASSIGN_OR_RETURN(const auto standalone, server::NewStandalone({}));
  APISERVER_ASSIGN_OR_RETURN(const auto server, standalone.NewServer());
  APISERVER_RETURN_IF_ERROR(zoo::InstallPets(*server, server->Storage(*engine)));
  APISERVER_RETURN_IF_ERROR(server->PrepareRun());
  return program::RunUntilSignal(*server, [&] {
    const Status written = standalone.WriteKubeconfig("zoo.kubeconfig", server->port());
    if (!written.ok()) program::Fail(written);
  });
}

int main() {
  apiserver::program::BlockSignals();
  const auto code = Run();
  return code.ok() ? *code : apiserver::program::Fail(code.status());
}
