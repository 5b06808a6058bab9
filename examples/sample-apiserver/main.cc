// sample-apiserver: the group wardle.example.com on the embedded store or on etcd; standalone, or
// behind the aggregator of a cluster. `sample-apiserver doctor` says why the latter does not work.

#include <memory>
#include <string_view>
#include <utility>

#include "common/run_until_signal.h"
#include "doctor.h"
#include "options.h"
#include "serve.h"
#include "wardle/ban_flunder.h"
#include "wardle/install.h"

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == std::string_view("doctor")) {
    return sample::DoctorMain(argc - 1, argv + 1);
  }
  examples::BlockSignals();
  sample::Parsed parsed = sample::ParseCommandLine(argc, argv);
  if (parsed.exit) return parsed.exit_code;
  const auto ban_flunder = std::make_shared<wardle::BanFlunder>();
  return sample::Serve(std::move(parsed), {.name = "sample-apiserver",
                                           .openapi_title = "Wardle",
                                           .admission = {ban_flunder},
                                           .install = [&](auto& server, const auto& storage) {
                                             return wardle::Install(server, storage, *ban_flunder);
                                           }});
}
