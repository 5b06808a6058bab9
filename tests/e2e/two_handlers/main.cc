// One server, two handlers in its chain: orders are the server's own, pets those of a handler
// behind it, with a scheme, hooks and a health check of its own. Pets are ill while there is a file
// "ill", and when they have closed there is one named "closed".
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "apiserver/client/client.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"

namespace {

using namespace apiserver;  // NOLINT(google-build-using-namespace): a test's main.

class AnythingGoes final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
};

Result<runtime::KindPtr> KindOf(const std::string& group, const std::string& kind,
                                const std::string& field, const std::string& description) {
  const auto spec = runtime::StructBuilder("com.example.v1." + kind + "Spec")
                        .Field(field, runtime::StringSchema(), {.description = description})
                        .Build();
  const auto schema = runtime::StructBuilder("com.example.v1." + kind)
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("spec", spec)
                          .Build();
  std::string plural = kind + "s";
  plural.front() = static_cast<char>(plural.front() - 'A' + 'a');
  return runtime::Kind::New({.group = group,
                             .kind = kind,
                             .plural = plural,
                             .versions = {{.version = "v1", .schema = schema}}});
}

// Serves a kind from memory, in one of the handlers.
Status Serve(server::Handler& handler, const registry::StorageConfig& config,
             const Result<runtime::KindPtr>& kind) {
  if (!kind.ok()) return kind.status();
  if (Status status = handler.scheme().Add(*kind); !status.ok()) return status;
  auto store =
      registry::NewStore(config, {.kind = *kind, .strategy = std::make_shared<AnythingGoes>()});
  if (!store.ok()) return store.status();
  return handler.InstallAPIGroup({(*kind)->group(), {{"v1", {{(*kind)->plural(), *store}}}}});
}

// A pet that is there from the start.
Status CreateFirst(const server::HookContext& hook) {
  const auto created = hook.server.LoopbackConnection()->Call(
      hook.ctx, {.method = "POST",
                 .target = "/apis/zoo.example.com/v1/namespaces/default/pets",
                 .headers = {{"Content-Type", "application/json"}},
                 .body = R"({"metadata":{"name":"first"},"spec":{"food":"hay"}})"});
  if (!created.ok()) return created.status();
  if (created->code != 201) return {Reason::kInternalError, created->body};
  return {};
}

Status AddZoo(server::GenericAPIServer& server, const registry::StorageConfig& config) {
  const auto added = server.AddHandler({.name = "zoo"});
  if (!added.ok()) return added.status();
  server::Handler& zoo = **added;
  Status status = Serve(zoo, config, KindOf("zoo.example.com", "Pet", "food", "What it eats."));
  if (status.ok()) status = zoo.AddPostStartHook("first-pet", CreateFirst);
  if (status.ok()) {
    status = zoo.AddPreShutdownHook("close", [](const server::HookContext&) -> Status {
      std::FILE* const file = std::fopen("closed", "w");
      if (!file) return {Reason::kInternalError, "cannot write \"closed\""};
      std::fclose(file);
      return {};
    });
  }
  if (!status.ok()) return status;
  return zoo.AddHealthCheck({.name = "pets", .check = [](const Context&) -> Status {
                               if (::access("ill", F_OK) != 0) return {};
                               return {Reason::kInternalError, "pets are ill"};
                             }});
}

int Run() {
  const auto standalone = server::NewStandalone({});
  if (!standalone.ok()) return program::Fail(standalone.status());
  const auto engine = storage::memory::NewEngine();
  server::Config config;
  standalone->Apply(config);
  auto completed = std::move(config).Complete();
  if (!completed.ok()) return program::Fail(completed.status());
  auto made = std::move(*completed).New();
  if (!made.ok()) return program::Fail(made.status());
  server::GenericAPIServer& server = **made;
  const registry::StorageConfig storage{
      .engine = engine.get(), .executor = &server.pool(), .memory = server.memory()};
  Status status =
      Serve(server, storage, KindOf("shop.example.com", "Order", "customer", "Who pays."));
  if (status.ok()) status = AddZoo(server, storage);
  if (status.ok()) status = server.PrepareRun();
  if (!status.ok()) return program::Fail(status);
  return program::RunUntilSignal(
      server, [&] { (void)standalone->WriteKubeconfig("chain.kubeconfig", server.port()); });
}

}  // namespace

int main() {
  program::BlockSignals();
  return Run();
}
