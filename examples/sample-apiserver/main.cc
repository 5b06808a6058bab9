// sample-apiserver: the group wardle.example.com on the embedded store or on etcd; standalone, or
// behind the aggregator of a cluster. `sample-apiserver doctor` says why it does not work.

#include <memory>

#include "apiserver/program/run_standalone.h"
#include "wardle/ban_flunder.h"
#include "wardle/install.h"

int main(int argc, char** argv) {
  const auto ban_flunder = std::make_shared<wardle::BanFlunder>();
  return apiserver::program::RunStandalone(
      argc, argv,
      {.name = "sample-apiserver",
       .description = "A Kubernetes-style API server for the group wardle.example.com",
       .version = "0.1",
       .openapi_title = "Wardle",
       .etcd_prefix = "/registry/wardle.example.com",
       .admission = {ban_flunder},
       .group_versions = {{"wardle.example.com", "v1alpha1"}, {"wardle.example.com", "v1beta1"}},
       .service_namespace = "wardle",
       .suggestions = {"apply -f examples/sample-apiserver/flunder.yaml", "get flunders -w"},
       .install = [&](auto& server, const auto& storage) {
         return wardle::Install(server, storage, *ban_flunder);
       }});
}
