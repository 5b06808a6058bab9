// sample-apiserver: the group wardle.example.com on the embedded store or on etcd, standalone.

#include <memory>

#include "common/run_until_signal.h"
#include "options.h"
#include "serve.h"
#include "wardle/ban_flunder.h"
#include "wardle/install.h"

int main(int argc, char** argv) {
  examples::BlockSignals();
  const sample::Parsed parsed = sample::ParseCommandLine(argc, argv);
  if (parsed.exit) return parsed.exit_code;
  const auto ban_flunder = std::make_shared<wardle::BanFlunder>();
  return sample::Serve(parsed, {.name = "sample-apiserver",
                                .openapi_title = "Wardle",
                                .admission = {ban_flunder},
                                .install = [&](auto& server, const auto& storage) {
                                  return wardle::Install(server, storage, *ban_flunder);
                                }});
}
