#include "apiserver/controlplane/kubernetes_service_flags.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "controlplane/control/addresses.h"
#include "options/read_flags.h"

namespace controlplane_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using Lines = std::vector<std::string>;
using controlplane::KubernetesServiceFlags;

}  // namespace

// TestClusterServiceIPRange, TestValidateServiceNodePort and TestGetServiceIPAndRanges of
// cmd/kube-apiserver/app/options.
TEST_CASE("controlplane: the flags of the service kubernetes are checked in upstream's words",
          "[controlplane]") {
  struct Row {
    testing::ReadFlags::Words words;
    Lines problems;
  };
  const std::string range = "--service-cluster-ip-range";
  const std::string port = "--kubernetes-service-node-port";
  const std::vector<Row> rows{
      {{}, {}},
      {{{range, "10.0.0.0/16"}}, {}},
      {{{range, "10.0.0.0/8"}}, {}},
      {{{range, "10.0.0.0/16,3000::/108"}}, {}},
      {{{range, "3000::/64"}}, {}},
      {{{range, "not-a-cidr"}}, {"service-cluster-ip-range[0] is not a valid cidr"}},
      {{{range, "10.0.0.0/30"}},
       {"error determining service IP ranges for primary service cidr: the service cluster IP "
        "range must be at least 8 IP addresses"}},
      {{{range, "10.0.0.0/16,x"}}, {"service-cluster-ip-range[1] is not an ip net"}},
      {{{range, "10.0.0.0/16,10.1.0.0/16"}},
       {"--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP "
        "family"}},
      {{{range, "10.0.0.0/16,3000::/108,3001::/108"}},
       {"--service-cluster-ip-range must not contain more than two entries"}},
      {{{port, "30065"}}, {}},
      {{{port, "-1"}},
       {"--kubernetes-service-node-port -1 must be between 0 and 65535, inclusive. If 0, the "
        "Kubernetes master service will be of type ClusterIP"}},
      {{{port, "1"}}, {"kubernetes service node port range 30000-32767 doesn't contain 1"}},
      {{{"--apiserver-count", "0"}},
       {"--apiserver-count should be a positive number, but value '0' provided"}},
      {{{"--advertise-address", "here"}}, {"--advertise-address: failed to parse IP: \"here\""}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.words);
    testing::ReadFlags flags;
    KubernetesServiceFlags values;
    values.AddFlags(flags);
    REQUIRE(flags.Read(row.words).empty());
    CHECK(values.Validate() == row.problems);
  }
}

TEST_CASE("controlplane: a cluster IP is the first of its range", "[controlplane]") {
  struct Row {
    std::string cidr;
    std::string first;
    std::string text;
  };
  const std::vector<Row> rows{{"10.0.0.0/24", "10.0.0.1", "10.0.0.0/24"},
                              {"192.168.77.5/12", "192.160.0.1", "192.160.0.0/12"},
                              {"fd00::1234/112", "fd00::1", "fd00::/112"}};
  for (const Row& row : rows) {
    CAPTURE(row.cidr);
    const auto range = controlplane::ParseServiceRange(row.cidr);
    REQUIRE(range.ok());
    CHECK(range->first_ip == row.first);
    CHECK(range->text == row.text);
  }
  CHECK_FALSE(controlplane::ParseServiceRange("10.0.0.0").ok());
}

TEST_CASE("controlplane: an advertised address is the flag's, the bound one or the machine's",
          "[controlplane]") {
  const auto files = NewMemoryFileSystem();
  KubernetesServiceFlags flags;
  const auto bound = flags.NewOptions("192.0.2.7", NullLogSink(), *files);
  REQUIRE(bound.ok());
  CHECK(bound->advertise_address == "192.0.2.7");
  CHECK(bound->service_ip == "10.0.0.1");
  CHECK(bound->reconciler == controlplane::EndpointReconcilerType::kLease);

  // The machine's address, or none where it has none.
  const auto loopback = flags.NewOptions("127.0.0.1", NullLogSink(), RealFileSystem());
  REQUIRE(loopback.ok());
  CHECK_FALSE(loopback->advertise_address.starts_with("127."));
  CHECK(loopback->advertise_address.empty() ==
        (loopback->reconciler == controlplane::EndpointReconcilerType::kNone));

  flags.advertise_address = "192.0.2.8";
  flags.endpoint_reconciler_type = "master-count";
  const auto given = flags.NewOptions("192.0.2.7", NullLogSink(), *files);
  REQUIRE(given.ok());
  CHECK(given->advertise_address == "192.0.2.8");
  CHECK(given->reconciler == controlplane::EndpointReconcilerType::kMasterCount);
  flags.service_cluster_ip_ranges = {"fd00::/112"};
  CHECK(flags.NewOptions("192.0.2.7", NullLogSink(), *files).status().message() ==
        R"(service IP family "fd00::/112" must match public address family "192.0.2.8")");
  flags.endpoint_reconciler_type = "none";
  CHECK(flags.NewOptions("192.0.2.7", NullLogSink(), *files)->service_ip == "fd00::1");
}

}  // namespace controlplane_test
