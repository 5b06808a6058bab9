// Tests of doctor --standalone: certificates and the kubeconfig.
#include <catch2/catch.hpp>

#include "apiserver/base/directory_lock.h"
#include "apiserver/client/kubeconfig.h"
#include "apiserver/http/tls.h"
#include "program/patient.h"

namespace apiserver::inline v0::program {
namespace {

using Complaints = Patient::Complaints;
using Names = std::vector<std::string>;
using std::chrono::hours;

constexpr hours kTenYears(24 * 3650);

void Overwrite(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// A kubeconfig file with one change.
void ChangeKubeconfig(const Patient& patient, std::string client::Kubeconfig::*field,
                      const std::string& text) {
  auto config = client::ReadKubeconfigFile(RealFileSystem(), patient.values.kubeconfig_out).value();
  config.*field = text;
  REQUIRE(
      client::WriteKubeconfigFile(RealFileSystem(), patient.values.kubeconfig_out, config).ok());
}

// Gives the patient files of its own for serving, for 127.0.0.1 unless the request says otherwise.
void ServeOwnFiles(Patient& patient, const http::CertificateRequest& request) {
  const auto authority = http::NewCertificateAuthority("own", patient.clock).value();
  const auto pair = http::NewCertificate(authority, request, patient.clock).value();
  auto& flags = patient.values.recommended.secure_serving;
  flags.tls_cert_file = patient.Write("tls.crt", pair.certificate_pem);
  flags.tls_private_key_file = patient.Write("tls.key", pair.key_pem);
  (void)patient.Repaired();  // The kubeconfig that a start would write.
}

}  // namespace

TEST_CASE("doctor: certificates that expire are told, and made anew with their kubeconfig",
          "[program]") {
  Patient patient;
  patient.clock.Advance(kTenYears - hours(240));
  CHECK(patient.Complains() ==
        Complaints{"warning certificate-authority", "warning administrator"});
  CHECK(patient.TextOf("administrator").ends_with("expires in 240 hours"));
  patient.clock.Advance(hours(480));
  CHECK(patient.Complains() ==
        Complaints{"problem certificate-authority", "problem administrator"});

  CHECK(patient.Repaired() == Names{"certificate-authority", "administrator", "kubeconfig"});

  CHECK(patient.Complains() == Complaints{});
}

TEST_CASE("doctor: an authority that is damaged, mixed up or lost is told, and is not replaced",
          "[program]") {
  const Patient patient;
  const auto other = http::NewCertificateAuthority("other", patient.clock).value();
  Overwrite(patient.Pki("ca.key"), other.key_pem);
  CHECK(patient.Complains().front() == "problem certificate-authority");
  Overwrite(patient.Pki("ca.crt"), "nothing");
  CHECK(patient.Complains().front() == "problem certificate-authority");
  std::filesystem::remove(patient.Pki("ca.crt"));
  CHECK(patient.Complains().front() == "problem certificate-authority");
  CHECK(patient.Repaired() == Names{});
  Overwrite(patient.Pki("ca.crt"), other.certificate_pem);
  std::filesystem::remove(patient.Pki("ca.key"));
  CHECK(patient.TextOf("certificate-authority") ==
        "is missing, so the next start makes another certificate");
}

TEST_CASE("doctor: an administrator of another authority is told, and made anew", "[program]") {
  const Patient patient;
  const auto other = http::NewCertificateAuthority("other", patient.clock).value();
  const auto admin =
      http::NewCertificate(other, {.common_name = "admin", .client = true}, patient.clock).value();
  Overwrite(patient.Pki("admin.crt"), admin.certificate_pem);
  Overwrite(patient.Pki("admin.key"), admin.key_pem);
  CHECK(patient.Complains() == Complaints{"problem administrator", "warning kubeconfig"});
  CHECK(patient.TextOf("administrator").starts_with("is not of this server's authority: "));

  CHECK(patient.Repaired() == Names{"administrator", "kubeconfig"});

  CHECK(patient.Complains() == Complaints{});
}

TEST_CASE("doctor: a kubeconfig that does not fit is told, and written anew", "[program]") {
  const Patient patient;
  const auto other = http::NewCertificateAuthority("other", patient.clock).value();
  const std::vector<std::pair<std::string, std::function<void()>>> rows = {
      {"is missing", [&] { std::filesystem::remove(patient.values.kubeconfig_out); }},
      {"is for https://127.0.0.1:1, and this server is at https://127.0.0.1:" +
           std::to_string(patient.values.recommended.secure_serving.secure_port),
       [&] { ChangeKubeconfig(patient, &client::Kubeconfig::server, "https://127.0.0.1:1"); }},
      {"trusts another authority than this server's",
       [&] { ChangeKubeconfig(patient, &client::Kubeconfig::ca_pem, other.certificate_pem); }},
      {"has not the administrator's present credentials",
       [&] { ChangeKubeconfig(patient, &client::Kubeconfig::token, "old"); }},
      {"verifies the server as \"a\" and not as \"\"",
       [&] { ChangeKubeconfig(patient, &client::Kubeconfig::tls_server_name, "a"); }}};
  for (const auto& [text, spoil] : rows) {
    INFO(text);
    spoil();
    CHECK(patient.Complains() == Complaints{"warning kubeconfig"});
    CHECK(patient.TextOf("kubeconfig") == text);
    CHECK(patient.Repaired() == Names{"kubeconfig"});
    CHECK(patient.Complains() == Complaints{});
  }
  Overwrite(patient.values.kubeconfig_out, "{");
  CHECK(patient.Complains() == Complaints{"warning kubeconfig"});
}

TEST_CASE("doctor: the port of a kubeconfig does not matter where each start has another",
          "[program]") {
  Patient patient;
  patient.values.recommended.secure_serving.secure_port = 0;
  CHECK(patient.Complains() == Complaints{});
  ChangeKubeconfig(patient, &client::Kubeconfig::token, "old");
  CHECK(patient.Complains() == Complaints{"warning kubeconfig"});
  CHECK(patient.Repaired() == Names{});
}

TEST_CASE("doctor: a serving certificate of one's own is looked at", "[program]") {
  Patient patient;
  ServeOwnFiles(patient, {.common_name = "own", .ip_addresses = {"127.0.0.1"}});
  CHECK(patient.Complains() == Complaints{});
  patient.clock.Advance(hours(24 * 360));
  CHECK(patient.Complains() == Complaints{"warning serving-certificate"});
  patient.clock.Advance(hours(24 * 10));
  CHECK(patient.TextOf("serving-certificate").ends_with("has expired"));
  const std::string key = patient.values.recommended.secure_serving.tls_private_key_file;
  std::filesystem::permissions(key, std::filesystem::perms::all);
  CHECK(patient.Complains() == Complaints{"problem serving-certificate", "warning secret-file"});
  Overwrite(key, http::NewCertificateAuthority("other", patient.clock).value().key_pem);
  CHECK(patient.Complains() == Complaints{"problem serving-certificate"});
  CHECK(patient.TextOf("serving-certificate").find(key) != std::string::npos);
  std::filesystem::remove(key);
  CHECK(patient.TextOf("serving-certificate").starts_with("--tls-private-key-file: open " + key));
}

TEST_CASE("doctor: a serving certificate for other names is told", "[program]") {
  Patient patient;
  ServeOwnFiles(patient, {.common_name = "own", .dns_names = {"api.example.com"}});
  CHECK(patient.Complains() == Complaints{"warning serving-certificate-names"});
  CHECK(patient.TextOf("serving-certificate-names") ==
        "is not for 127.0.0.1: clients must verify it as api.example.com, as the kubeconfig says");
  ServeOwnFiles(patient, {.common_name = "own", .ip_addresses = {"192.0.2.1"}});
  CHECK(patient.Complains() == Complaints{"problem serving-certificate-names"});
}

TEST_CASE("doctor: the authorities of clients are looked at", "[program]") {
  Patient patient;
  auto& file = patient.values.recommended.authentication.values.client_ca_file;
  file = patient.Beside("missing");
  CHECK(patient.Complains() == Complaints{"problem client-ca-file"});
  file = patient.Write("clients.pem", "nothing");
  CHECK(patient.Complains() == Complaints{"problem client-ca-file"});
  file = patient.Write(
      "short.pem",
      http::NewCertificateAuthority("short", patient.clock, hours(48)).value().certificate_pem);
  CHECK(patient.Complains() == Complaints{"warning client-ca-file"});
}

}  // namespace apiserver::inline v0::program
