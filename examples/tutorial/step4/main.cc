// A server program for pets: storage, users, audit and the rest are set by flags.
#include "apiserver/program/run_standalone.h"
#include "pets.h"

int main(int argc, char** argv) {
  return apiserver::program::RunStandalone(
      argc, argv,
      {.name = "zoo-apiserver",
       .description = "Serves pets",
       .etcd_prefix = "/registry/zoo.example.com",
       .group_versions = {{"zoo.example.com", "v1"}, {"zoo.example.com", "v1beta1"}},
       .service_namespace = "zoo",
       .suggestions = {"get pets"},
       .install = [](auto& server, const auto& storage) {
         return zoo::InstallPets(server, storage);
       }});
}
