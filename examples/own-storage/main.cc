// Serves the program's own data: ./own-storage &  kubectl --kubeconfig own.kubeconfig get notes
#include <cstdio>

#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/server/standalone.h"
#include "notes.h"

int main() {
  apiserver::program::BlockSignals();
  const auto kind = notes::NewNoteKind();
  if (!kind.ok()) return apiserver::program::Fail(kind.status());
  const auto standalone = apiserver::server::NewStandalone({});
  if (!standalone.ok()) return apiserver::program::Fail(standalone.status());
  apiserver::server::Config config;
  standalone->Apply(config);
  auto server = std::move(config).Complete().value().New().value();
  if (auto added = server->scheme().Add(*kind); !added.ok()) return apiserver::program::Fail(added);

  const auto texts = std::make_shared<notes::Texts>();
  (*texts->Lock())[{"default", "hello"}] = "Written before the server started.";
  // [store]
  auto store = apiserver::registry::NewSourceStore(
      {.executor = &server->pool(), .memory = server->memory()},
      {.store = {.kind = *kind, .strategy = std::make_shared<notes::NoteStrategy>()}},
      std::make_unique<notes::NoteSource>(*kind, texts));
  if (!store.ok()) return apiserver::program::Fail(store.status());
  auto installed = server->InstallAPIGroup({"desk.example.com", {{"v1", {{"notes", *store}}}}});
  // [/store]
  if (installed.ok()) installed = server->PrepareRun();
  if (!installed.ok()) return apiserver::program::Fail(installed);
  return apiserver::program::RunUntilSignal(*server, [&] {
    const auto written = standalone->WriteKubeconfig("own.kubeconfig", server->port());
    if (written.ok()) std::printf("try: kubectl --kubeconfig own.kubeconfig get notes\n");
  });
}
