// Serves what nobody stores: the threads of this process, polled every second, with a log to follow
// and a WebSocket to ask.
//   ./custom-storage &
//   kubectl --kubeconfig threads.kubeconfig get threads -w
//   kubectl --kubeconfig threads.kubeconfig get --raw /apis/process.example.com/v1/threads/NAME/log
#include <chrono>
#include <cstdio>

#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/server/standalone.h"
#include "threads.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): an example's main.

int main() {
  program::BlockSignals();
  const auto kind = threads::NewThreadKind();
  const auto standalone = server::NewStandalone({});
  if (!kind.ok()) return program::Fail(kind.status());
  if (!standalone.ok()) return program::Fail(standalone.status());

  server::Config config;
  standalone->Apply(config);
  auto server = std::move(config).Complete().value().New().value();
  (void)server->scheme().Add(*kind);
  const auto store = threads::NewThreadStore(*kind, threads::ProcessThreads(), server->pool(),
                                             std::chrono::seconds(1));
  if (!store.ok()) return program::Fail(store.status());
  const Status installed =
      server->InstallAPIGroup({threads::kGroup,
                               {{"v1",
                                 {{"threads", *store},
                                  {"threads/log", threads::NewThreadLog(*store)},
                                  {"threads/connect", threads::NewThreadConnect(*store)}}}}});
  if (!installed.ok()) return program::Fail(installed);
  if (const Status prepared = server->PrepareRun(); !prepared.ok()) return program::Fail(prepared);
  return program::RunUntilSignal(*server, [&] {
    (void)standalone->WriteKubeconfig("threads.kubeconfig", server->port());
    std::printf("try: kubectl --kubeconfig threads.kubeconfig get threads -w\n");
    std::fflush(stdout);
  });
}
