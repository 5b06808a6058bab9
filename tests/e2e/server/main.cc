// What clients are tested against: the sample-apiserver's group, a kind made of a .proto file with
// status and scale, and two built-in kinds. It takes the sample-apiserver's flags.

#include <memory>
#include <utility>

#include "builtin.h"
#include "common/run_until_signal.h"
#include "fleet.h"
#include "options.h"
#include "serve.h"
#include "wardle/ban_flunder.h"
#include "wardle/install.h"

int main(int argc, char** argv) {
  examples::BlockSignals();
  sample::Parsed parsed = sample::ParseCommandLine(argc, argv);
  if (parsed.exit) return parsed.exit_code;
  const auto ban_flunder = std::make_shared<wardle::BanFlunder>();
  const auto install = [&](auto& server, const auto& storage) {
    apiserver::Status status = wardle::Install(server, storage, *ban_flunder);
    if (status.ok()) status = harbor::Install(server, storage);
    if (status.ok()) status = builtin::Install(server, storage);
    return status;
  };
  return sample::Serve(std::move(parsed), {.name = "e2e-server",
                                           .openapi_title = "For tests",
                                           .admission = {ban_flunder},
                                           .install = install});
}
