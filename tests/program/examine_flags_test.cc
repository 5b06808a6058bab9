// Tests of doctor --standalone: the port, the store, and the files that flags name.
#include <catch2/catch.hpp>
#include <functional>

#include "apiserver/client/kubeconfig.h"
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

  flags.secure_port = 0;
  CHECK(patient.Complains() == Complaints{});
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

TEST_CASE("doctor: each file that a flag names is loaded", "[program]") {
  struct Row {
    std::string flag;
    std::function<std::string&(options::RecommendedOptions&)> file;
    std::string good;
  };
  // One that has everything.
  const std::vector<Row> rows = {
      {"audit-policy-file", [](auto& flags) -> auto& {return flags.audit.values.policy_file;
}
, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None}]\n"
}
, {"audit-webhook-config-file",
   [](auto& flags) -> auto& {return flags.audit.values.webhook_config_file;
}
, client::WriteKubeconfig({.server = "https://127.0.0.1:1", .token = "x"})
}
, {"token-auth-file",
   [](auto& flags) -> auto& {return flags.built_in_authentication.token_auth_file;
}
, "secret,alice,1\n"
}
, {"authentication-config",
   [](auto& flags) -> auto& {return flags.built_in_authentication.authentication_config;
}
, "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"
}
, {"authorization-config", [](auto& flags) -> auto& {return flags.authorization.config_file;
}
, "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n"
  "authorizers: [{type: RBAC, name: rbac}]\n"
}
, {"admission-control-config-file", [](auto& flags) -> auto& {return flags.admission.config_file;
}
, "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n"
}
, {
  "tracing-config-file", [](auto& flags) -> auto& { return flags.tracing.config_file; }
  , "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"
}
}
;
Patient patient;
for (const Row& row : rows) {
  INFO(row.flag);
  std::string& file = row.file(patient.values.recommended);
  file = patient.Write(row.flag, row.good);
  CHECK(patient.Complains() == Complaints{});
  file = patient.Write(row.flag + "-bad", "\"no");
  CHECK(patient.Complains() == Complaints{"problem " + row.flag});
  file = patient.Beside("missing");
  CHECK(patient.Complains() == Complaints{"problem " + row.flag});
  file = "";
}
}

TEST_CASE("doctor: a log of audit events that cannot be written is told", "[program]") {
  Patient patient;
  std::string& file = patient.values.recommended.audit.values.log_path;
  file = patient.Beside("audit.log");
  CHECK(patient.Complains() == Complaints{});
  CHECK_FALSE(std::filesystem::exists(file));
  file = patient.Beside("missing/audit.log");
  CHECK(patient.Complains() == Complaints{"problem audit-log-path"});
}

TEST_CASE("doctor: keys of service accounts are looked at one by one", "[program]") {
  Patient patient;
  const auto pair = http::NewCertificateAuthority("keys", patient.clock).value();
  const std::string good = patient.Write("sa.key", pair.key_pem);
  const std::string bad = patient.Write("bad.key", "nothing");
  auto& accounts = patient.values.recommended.built_in_authentication.service_accounts;
  accounts.issuers = {"https://issuer.example.com"};
  accounts.key_files = {good, bad, patient.Beside("missing.key")};
  std::filesystem::permissions(good, std::filesystem::perms::all);

  CHECK(patient.Complains() == Complaints{"warning secret-file", "problem service-account-key-file",
                                          "problem service-account-key-file"});
  CHECK(patient.TextOf("service-account-key-file").find(bad) != std::string::npos);
}

TEST_CASE("doctor: an unknown admission plugin is told", "[program]") {
  Patient patient;
  patient.values.recommended.admission.selection.disable = {"Unknown"};
  CHECK(patient.Complains() == Complaints{"problem admission-plugins"});
}

}  // namespace apiserver::inline v0::program
