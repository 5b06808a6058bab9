// A Kubernetes-style API server for one kind, kept in memory: the smallest program there is.
//   ./hello-resource &  kubectl --kubeconfig hello.kubeconfig get greetings
#include "apiserver/base/status_macros.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/server/install.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): an example's main.

// A Greeting lives in a namespace and must say something.
Result<runtime::KindPtr> NewGreetingKind() {
  const auto spec = runtime::StructBuilder("com.example.v1.GreetingSpec", "What is said.")
                        .Field("text", runtime::StringSchema(), {.required = true, .min_length = 1})
                        .Build();
  const auto schema = runtime::StructBuilder("com.example.v1.Greeting", "Says something.")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("spec", spec, {.required = true})
                          .Build();
  return runtime::Kind::New({.group = "example.com",
                             .kind = "Greeting",
                             .plural = "greetings",
                             .versions = {{.version = "v1", .schema = schema}}});
}

static Result<int> Run() {
  const auto engine = storage::memory::NewEngine();
  APISERVER_ASSIGN_OR_RETURN(const auto standalone, server::NewStandalone({}));
  APISERVER_ASSIGN_OR_RETURN(const auto server, standalone.NewServer());
  APISERVER_ASSIGN_OR_RETURN(const auto kind, NewGreetingKind());
  const auto stores = server::InstallKinds(*server, server->Storage(*engine), {{.kind = kind}});
  APISERVER_RETURN_IF_ERROR(stores.status());
  APISERVER_RETURN_IF_ERROR(server->PrepareRun());
  return program::RunUntilSignal(*server, [&] {
    const Status written = standalone.WriteKubeconfig("hello.kubeconfig", server->port());
    if (!written.ok()) program::Fail(written);
  });
}

int main() {
  program::BlockSignals();
  const auto code = Run();
  return code.ok() ? *code : program::Fail(code.status());
}
