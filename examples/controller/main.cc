// Makes the cats of any server content: ./controller pets.kubeconfig, beside examples/pets.
#include <csignal>

#include "apiserver/base/file_system.h"
#include "apiserver/client/kubeconfig.h"
#include "apiserver/http/dialer.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "moods.h"

static Status Run(const char* kubeconfig) {
  const auto dialer = http::NewDialer();
  APISERVER_ASSIGN_OR_RETURN(const auto config,
                             client::ReadKubeconfigFile(RealFileSystem(), kubeconfig));
  APISERVER_ASSIGN_OR_RETURN(const auto client, client::NewClient(config, *dialer));
  Moods moods(*client);
  moods.Start();
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  int signal = 0;
  sigwait(&signals, &signal);
  return {};
}

int main(int argc, char** argv) {
  program::BlockSignals();
  const Status end = Run(argc > 1 ? argv[1] : "pets.kubeconfig");
  return end.ok() ? 0 : program::Fail(end);
}
