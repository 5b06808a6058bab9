#include <catch2/catch.hpp>

#include "apiserver/controlplane/connections.h"
#include "apiserver/controlplane/kubelet.h"
#include "options/read_flags.h"

using namespace apiserver;  // NOLINT: tests only.

TEST_CASE("controlplane: a certificate for kubelets needs its key", "[controlplane]") {
  controlplane::KubeletOptions options{.client_certificate = "a.crt"};
  CHECK(options.Validate().message() ==
        "--kubelet-client-certificate and --kubelet-client-key must be given together");
  options.client_key = "a.key";
  CHECK(options.Validate().ok());
}

TEST_CASE("controlplane: connections to pods take kube-apiserver's flags", "[controlplane]") {
  controlplane::ConnectionsOptions options;
  testing::ReadFlags flags;
  options.AddFlags(flags);
  CHECK(flags.Read({{"--max-connection-bytes-per-sec", "1048576"}, {"--kubelet-port", "10255"}})
            .empty());
  CHECK(options.max_connection_bytes_per_sec == 1048576);
  CHECK(options.kubelet.port == 10255);
}
