#include <catch2/catch.hpp>

#include "apiserver/controlplane/kubelet.h"

using namespace apiserver;  // NOLINT: tests only.

TEST_CASE("controlplane: a certificate for kubelets needs its key", "[controlplane]") {
  controlplane::KubeletOptions options{.client_certificate = "a.crt"};
  CHECK(options.Validate().message() ==
        "--kubelet-client-certificate and --kubelet-client-key must be given together");
  options.client_key = "a.key";
  CHECK(options.Validate().ok());
}
