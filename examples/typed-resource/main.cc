// Serves the kind of examples/crd-resource/pets.yaml with a rule of its own, written with structs:
//   ./typed-resource examples/crd-resource/pets.yaml &
#include "apiserver/base/file_system.h"
#include "apiserver/base/status_macros.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/rest/kind_strategy.h"
#include "apiserver/server/install.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"
#include "zoo.h"            // Made from pets.yaml: see CMakeLists.txt.
using namespace apiserver;  // NOLINT(google-build-using-namespace): an example's main.
using zoo::v1::Pet;

// A misspelt field of the struct does not compile.
field::ErrorList ValidatePack(const Context&, const runtime::Object& object) {
  field::ErrorList errors;
  const auto pet = runtime::FromObject<Pet>(object);
  if (!pet.ok()) {
    errors.Internal(field::Path(), std::string(pet.status().message()));
  } else if (pet->spec.species == "dog" && pet->spec.replicas.value_or(1) > 3) {
    errors.Forbidden(field::Path(std::string(Pet::Path::kSpecReplicas)), "three dogs are a pack");
  }
  return errors;
}

Status ServeTyped(server::GenericAPIServer& server, storage::kv::Engine& engine, const char* file) {
  APISERVER_ASSIGN_OR_RETURN(const auto yaml, RealFileSystem().Read(file));
  APISERVER_ASSIGN_OR_RETURN(auto options, codec::KindOptionsFromCrd(yaml));
  APISERVER_ASSIGN_OR_RETURN(const auto kind, runtime::Kind::New(std::move(options)));
  const auto strategy = rest::NewKindStrategy(kind, {.validate = ValidatePack});
  return server::InstallKinds(server, server.Storage(engine), {{kind, strategy}}).status();
}
static Result<int> Run(const char* file) {
  const auto engine = storage::memory::NewEngine();
  APISERVER_ASSIGN_OR_RETURN(const auto standalone, server::NewStandalone({.port = 6443}));
  APISERVER_ASSIGN_OR_RETURN(const auto server, standalone.NewServer());
  APISERVER_RETURN_IF_ERROR(ServeTyped(*server, *engine, file));
  APISERVER_RETURN_IF_ERROR(server->PrepareRun());
  APISERVER_RETURN_IF_ERROR(standalone.WriteKubeconfig("typed.kubeconfig", 6443));
  return program::RunUntilSignal(*server, [] {});
}
int main(int argc, char** argv) {
  program::BlockSignals();
  const auto code = Run(argc > 1 ? argv[1] : "pets.yaml");
  return code.ok() ? *code : program::Fail(code.status());
}
