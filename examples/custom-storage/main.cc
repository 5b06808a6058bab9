// Serves what nobody stores: the threads of this process, polled every second, with a log to follow
// and a WebSocket to ask.
//   ./custom-storage &
//   kubectl --kubeconfig threads.kubeconfig get threads -w
//   kubectl --kubeconfig threads.kubeconfig get --raw /apis/process.example.com/v1/threads/NAME/log
#include <chrono>
#include <cstdio>

#include "apiserver/base/status_macros.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/server/standalone.h"
#include "threads.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): an example's main.

static Result<int> Run() {
  APISERVER_ASSIGN_OR_RETURN(const auto standalone, server::NewStandalone({}));
  APISERVER_ASSIGN_OR_RETURN(const auto server, standalone.NewServer());
  APISERVER_ASSIGN_OR_RETURN(const auto kind, threads::NewThreadKind());
  APISERVER_RETURN_IF_ERROR(server->scheme().Add(kind));
  APISERVER_ASSIGN_OR_RETURN(
      const auto store, threads::NewThreadStore(kind, threads::ProcessThreads(), server->pool(),
                                                std::chrono::seconds(1)));
  APISERVER_RETURN_IF_ERROR(
      server->InstallAPIGroup({threads::kGroup,
                               {{"v1",
                                 {{"threads", store},
                                  {"threads/log", threads::NewThreadLog(store)},
                                  {"threads/connect", threads::NewThreadConnect(store)}}}}}));
  APISERVER_RETURN_IF_ERROR(server->PrepareRun());
  return program::RunUntilSignal(*server, [&] {
    const Status written = standalone.WriteKubeconfig("threads.kubeconfig", server->port());
    if (!written.ok()) program::Fail(written);
    std::printf("try: kubectl --kubeconfig threads.kubeconfig get threads -w\n");
    std::fflush(stdout);
  });
}

int main() {
  program::BlockSignals();
  const Result<int> code = Run();
  return code.ok() ? *code : program::Fail(code.status());
}
