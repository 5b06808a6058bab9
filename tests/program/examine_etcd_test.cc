// Tests of doctor --standalone: etcd.
#include <catch2/catch.hpp>

#include "apiserver/http/tls.h"
#include "program/patient.h"

namespace apiserver::inline v0::program {
namespace {

using Complaints = Patient::Complaints;
using std::chrono::hours;

}  // namespace

TEST_CASE("doctor: certificates for etcd are looked at", "[program]") {
  Patient patient;
  patient.values.storage = "etcd";
  options::EtcdOptions& etcd = patient.values.recommended.etcd;
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

TEST_CASE("doctor: certificates for etcd that expire are told", "[program]") {
  Patient patient;
  patient.values.storage = "etcd";
  options::EtcdOptions& etcd = patient.values.recommended.etcd;
  const auto authority = http::NewCertificateAuthority("etcd", patient.clock).value();
  const auto client =
      http::NewCertificate(authority,
                           {.common_name = "server", .valid_for = hours(24 * 10), .client = true},
                           patient.clock)
          .value();
  const auto old = http::NewCertificateAuthority("old", patient.clock, hours(24 * 5)).value();
  etcd.ca_file = patient.Write("ca.crt", authority.certificate_pem + old.certificate_pem);
  etcd.cert_file = patient.Write("client.crt", client.certificate_pem);
  etcd.key_file = patient.Write("client.key", client.key_pem);

  CHECK(patient.Complains() == Complaints{"warning etcd-cafile", "warning etcd-certfile"});
  CHECK(patient.TextOf("etcd-certfile").find("expires in 240 hours") != std::string::npos);
  patient.clock.Advance(hours(24 * 7));
  CHECK(patient.Complains() == Complaints{"problem etcd-cafile", "warning etcd-certfile"});
}

}  // namespace apiserver::inline v0::program
