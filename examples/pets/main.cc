// A kind with a status, validation, defaults, columns and an older version, from builders.
//   ./pets &  kubectl --kubeconfig pets.kubeconfig get pets
#include "apiserver/base/status_macros.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/rest/kind_strategy.h"
#include "apiserver/server/install.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"
using namespace apiserver;           // NOLINT(google-build-using-namespace): an example's main.
using namespace apiserver::runtime;  // NOLINT(google-build-using-namespace)
// v1 says `replicas` where v1beta1 said `size`.
SchemaPtr PetSchema(const std::string& replicas) {
  const auto spec =
      StructBuilder("")
          .Field("species", StringSchema(), {.required = true, .one_of = {"cat", "dog"}})
          .Field(replicas, IntegerSchema(32), {.default_value = 1, .minimum = 1})
          .Build();
  return StructBuilder("")
      .Field("metadata", ObjectMetaSchema())
      .Field("spec", spec, {.required = true})
      .Field("status", StructBuilder("").Field("mood", StringSchema()).Build())
      .Build();
}

// Checks a rule that no schema can state.
field::ErrorList ValidatePet(const Context&, const Object& pet) {
  field::ErrorList errors;
  if (pet.name() == "nobody") errors.Forbidden(field::Path("metadata.name"), "pets are somebody");
  return errors;
}

Status ServePets(server::GenericAPIServer& server, storage::kv::Engine& engine) {
  KindOptions pet{.group = "zoo.example.com", .kind = "Pet", .plural = "pets"};
  pet.semantics = Semantics::kCustomResource;
  pet.versions = {{.version = "v1",
                   .schema = PetSchema("replicas"),
                   .columns = {{"Species", "string", ".spec.species"},
                               {"Mood", "string", ".status.mood"},
                               {"Age", "date", ".metadata.creationTimestamp"}}},
                  {.version = "v1beta1",
                   .schema = PetSchema("size"),
                   .conversions = {RenameField("spec.size", "spec.replicas")}}};
  APISERVER_ASSIGN_OR_RETURN(const auto kind, Kind::New(std::move(pet)));
  const auto strategy = rest::NewKindStrategy(kind, {.validate = ValidatePet});
  return InstallKinds(server, server.Storage(engine), {{kind, strategy}}).status();
}
static Result<int> Run() {
  const auto engine = storage::memory::NewEngine();
  APISERVER_ASSIGN_OR_RETURN(const auto standalone, server::NewStandalone({.port = 6443}));
  APISERVER_ASSIGN_OR_RETURN(const auto server, standalone.NewServer());
  APISERVER_RETURN_IF_ERROR(ServePets(*server, *engine));
  APISERVER_RETURN_IF_ERROR(server->PrepareRun());
  APISERVER_RETURN_IF_ERROR(standalone.WriteKubeconfig("pets.kubeconfig", 6443));
  return program::RunUntilSignal(*server, [] {});
}
int main() {
  program::BlockSignals();
  const auto code = Run();
  return code.ok() ? *code : program::Fail(code.status());
}
