// A Kubernetes-style API server for one kind, kept in memory: the smallest program there is.
//   ./hello-resource &  kubectl --kubeconfig hello.kubeconfig get greetings
#include <cstdio>

#include "apiserver/registry/store.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"
#include "common/run_until_signal.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): an example's main.

// What is particular to a Greeting: it lives in a namespace and must say something.
class GreetingStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object& greeting) const override {
    field::ErrorList errors;
    if (greeting["spec"]["text"].AsString().empty()) errors.Required(field::Path("spec.text"));
    return errors;
  }
};

int main() {
  examples::BlockSignals();
  const auto spec = runtime::StructBuilder("com.example.v1.GreetingSpec", "What is said.")
                        .Field("text", runtime::StringSchema(), {.description = "The words."})
                        .Build();
  const auto schema = runtime::StructBuilder("com.example.v1.Greeting", "Says something.")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("spec", spec)
                          .Build();
  const auto kind = runtime::Kind::New({.group = "example.com",
                                        .kind = "Greeting",
                                        .plural = "greetings",
                                        .versions = {{.version = "v1", .schema = schema}}});
  const auto standalone = server::NewStandalone({});
  if (!kind.ok() || !standalone.ok()) return examples::Fail(kind.status());

  const auto engine = storage::memory::NewEngine();
  server::Config config;
  standalone->Apply(config);
  auto server = std::move(config).Complete().value().New().value();
  (void)server->scheme().Add(*kind);
  auto store = registry::NewStore(
      {.engine = engine.get(), .executor = &server->pool(), .memory = server->memory()},
      {.kind = *kind, .strategy = std::make_shared<GreetingStrategy>()});
  if (!store.ok()) return examples::Fail(store.status());
  (void)server->InstallAPIGroup({"example.com", {{"v1", {{"greetings", *store}}}}});
  (void)server->PrepareRun();
  return examples::RunUntilSignal(*server, [&] {
    (void)standalone->WriteKubeconfig("hello.kubeconfig", server->port());
    std::printf("try: kubectl --kubeconfig hello.kubeconfig get greetings\n");
  });
}
