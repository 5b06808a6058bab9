// The server that clients are tested against: the sample-apiserver's group, a kind made of a .proto
// file with status and scale, and two built-in kinds. It takes the sample-apiserver's flags.

#include <memory>

#include "apiserver/program/run_standalone.h"
#include "builtin.h"
#include "fleet.h"
#include "wardle/ban_flunder.h"
#include "wardle/install.h"

int main(int argc, char** argv) {
  const auto ban_flunder = std::make_shared<wardle::BanFlunder>();
  const auto install = [&](auto& server, const auto& storage) {
    apiserver::Status status = wardle::Install(server, storage, *ban_flunder);
    if (status.ok()) status = harbor::Install(server, storage);
    if (status.ok()) status = builtin::Install(server, storage);
    return status;
  };
  return apiserver::program::RunStandalone(argc, argv,
                                           {.name = "e2e-server",
                                            .version = "0.1",
                                            .openapi_title = "For tests",
                                            .etcd_prefix = "/registry/wardle.example.com",
                                            .admission = {ban_flunder},
                                            .install = install});
}
