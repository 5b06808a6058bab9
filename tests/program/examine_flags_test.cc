// What doctor --standalone says of the port, of the store, and of what protects it.
#include <catch2/catch.hpp>

#include "apiserver/http/tls.h"
#include "program/patient.h"

namespace apiserver::inline v0::program {
namespace {

using Complaints = Patient::Complaints;

constexpr char kEncryption[] = R"(apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - aescbc:
      keys:
      - name: key1
        secret: )";

}  // namespace

TEST_CASE("doctor: a port that is taken, and an address of another machine, are told",
          "[program]") {
  Patient patient;
  auto& flags = patient.values.recommended.secure_serving;
  const BoundSocket other;
  other.Listen();
  flags.secure_port = other.port();
  (void)patient.Repaired();  // The kubeconfig of this port.
  CHECK(patient.Complains() == Complaints{"problem secure-port"});
  CHECK(patient.TextOf("secure-port") ==
        "127.0.0.1:" + std::to_string(other.port()) + " is taken by another program");

  flags.bind_address = "192.0.2.1";
  CHECK(patient.TextOf("secure-port") == "192.0.2.1 is no address of this machine");
  flags.bind_address = "localhost";
  CHECK(patient.TextOf("secure-port") == "localhost is no IP address");
}

TEST_CASE("doctor: a store that cannot be opened is told", "[program]") {
  const Patient patient;
  std::ofstream(patient.values.data_dir + "/rocks/REVISION") << "7 7\n";
  CHECK(patient.Complains() == Complaints{"problem store"});
  CHECK(patient.TextOf("store").find("has been at revision 7") != std::string::npos);
  std::filesystem::remove(patient.values.data_dir + "/rocks/CURRENT");
  std::ofstream(patient.values.data_dir + "/rocks/CURRENT") << "MANIFEST-999999\n";
  CHECK(patient.Complains() == Complaints{"problem store"});
}

TEST_CASE("doctor: a configuration of encryption is loaded", "[program]") {
  Patient patient;
  std::string& file = patient.values.recommended.etcd.encryption_provider_config;
  file = patient.Write("good.yaml", std::string(kEncryption) + "c2l4dGVlbiBieXRlcyAhIQ==\n");
  CHECK(patient.Complains() == Complaints{});
  std::filesystem::permissions(file, std::filesystem::perms::all);
  CHECK(patient.Complains() == Complaints{"warning secret-file"});
  CHECK(patient.TextOf("secret-file") == "everybody may read it: mode 0777");
  file = patient.Write("short.yaml", std::string(kEncryption) + "c2hvcnQ=\n");
  CHECK(patient.Complains() == Complaints{"problem encryption-provider-config"});
  file = patient.Beside("missing.yaml");
  CHECK(patient.Complains() == Complaints{"problem encryption-provider-config"});
}

TEST_CASE("doctor: certificates for etcd are looked at", "[program]") {
  Patient patient;
  options::EtcdOptions& etcd = patient.values.recommended.etcd;
  patient.values.storage = "etcd";
  const auto pair = http::NewCertificateAuthority("etcd", patient.clock).value();
  const auto other = http::NewCertificateAuthority("other", patient.clock).value();
  etcd.ca_file = patient.Write("etcd-ca.crt", pair.certificate_pem);
  etcd.cert_file = etcd.ca_file;
  etcd.key_file = patient.Write("etcd.key", pair.key_pem);
  CHECK(patient.Complains() == Complaints{});
  etcd.key_file = patient.Write("other.key", other.key_pem);
  CHECK(patient.Complains() == Complaints{"problem etcd-certfile"});
  etcd.ca_file = patient.Beside("missing");
  CHECK(patient.Complains() == Complaints{"problem etcd-cafile", "problem etcd-certfile"});
}

}  // namespace apiserver::inline v0::program
