// Tests of doctor --standalone: etcd.
#include <algorithm>
#include <catch2/catch.hpp>

#include "apiserver/http/tls.h"
#include "program/patient.h"

namespace apiserver::inline v0::program {
namespace {

using Complaints = Patient::Complaints;
using std::chrono::hours;
using std::chrono::milliseconds;

constexpr std::size_t kMebibyte = 1 << 20;

// Stores its objects in an etcd of two members that are well.
class EtcdPatient : public Patient {
 public:
  EtcdPatient() {
    values.storage = "etcd";
    for (const char* const server : {"http://a:2379", "http://b:2379"}) {
      etcd.servers.emplace_back(server);
      members.push_back({.server = server,
                         .took = milliseconds(3),
                         .version = "3.5.21",
                         .supported = true,
                         .cluster_id = 1,
                         .member_id = members.size() + 1,
                         .database_bytes = 2 * kMebibyte,
                         .used_bytes = kMebibyte});
    }
  }

  options::EtcdOptions& etcd = values.recommended.etcd;
};

storage::etcd::MemberReport Down(const std::string& server) {
  return {.server = server, .status = {Reason::kServiceUnavailable, "no way"}};
}

}  // namespace

TEST_CASE("doctor: an etcd that is well is told of, member by member", "[program]") {
  const EtcdPatient patient;
  CHECK(patient.Complains() == Complaints{});
  std::vector<std::string> told;
  for (const auto& each : patient.Findings()) {
    if (each.check.starts_with("etcd")) told.push_back(each.check + " " + each.subject);
  }
  CHECK(told == std::vector<std::string>{"etcd-member http://a:2379", "etcd-version http://a:2379",
                                         "etcd-space http://a:2379", "etcd-member http://b:2379",
                                         "etcd-version http://b:2379", "etcd-space http://b:2379",
                                         "etcd-alarm "});
}

TEST_CASE("doctor: a member that does not answer is a problem if none does", "[program]") {
  EtcdPatient patient;
  patient.members[0] = Down("http://a:2379");
  CHECK(patient.Complains() == Complaints{"warning etcd-member"});
  CHECK(patient.TextOf("etcd-member") == "no way");
  patient.members[1] = Down("http://b:2379");
  CHECK(patient.Complains() == Complaints{"problem etcd-member", "problem etcd-member"});
}

TEST_CASE("doctor: a member that answers too late for a server to be ready is told", "[program]") {
  EtcdPatient patient;
  patient.members[0].took = milliseconds(2500);
  CHECK(patient.Complains() == Complaints{"warning etcd-member"});
  patient.etcd.healthcheck_timeout = milliseconds(3000);
  CHECK(patient.Complains() == Complaints{});
}

TEST_CASE("doctor: an old etcd, a full one and two clusters are told", "[program]") {
  EtcdPatient patient;
  patient.members[0].supported = false;
  CHECK(patient.Complains() == Complaints{"warning etcd-version"});
  patient.members[0].supported = true;

  patient.members[1].quota_bytes = 2 * kMebibyte;
  CHECK(patient.Complains() == Complaints{"warning etcd-space"});
  CHECK(patient.TextOf("etcd-space") ==
        "the database has 2 MiB of a quota of 2 MiB: etcd will refuse writes there");
  patient.members[1].quota_bytes = 4 * kMebibyte;
  CHECK(patient.Complains() == Complaints{});

  patient.members[1].cluster_id = 255;
  CHECK(patient.Complains() == Complaints{"problem etcd-cluster"});
  CHECK(patient.TextOf("etcd-cluster") ==
        "the members belong to different clusters: http://a:2379 to 1, http://b:2379 to ff");
}

TEST_CASE("doctor: an alarm is told once, whichever members know of it", "[program]") {
  EtcdPatient patient;
  patient.members[0].alarms = {{"NOSPACE", 255}};
  patient.members[1].alarms = {{"NOSPACE", 255}, {"CORRUPT", 1}};
  CHECK(patient.Complains() == Complaints{"problem etcd-alarm", "problem etcd-alarm"});
  CHECK(patient.TextOf("etcd-alarm").starts_with("CORRUPT: "));
}

TEST_CASE("doctor: flags with which no member can be asked are told", "[program]") {
  EtcdPatient patient;
  patient.inspect_etcd = [](const auto&, auto) { return Status(Reason::kInvalid, "no host"); };
  CHECK(patient.Complains() == Complaints{"problem etcd-servers"});
  // Nothing of etcd is repaired, so that it need not answer for a repair.
  int asked = 0;
  patient.inspect_etcd = [&](const auto&, auto) {
    ++asked;
    return Result(patient.members);
  };
  (void)patient.Repaired();
  CHECK(asked == 1);
  // The doctor asks no etcd that is not used.
  patient.values.storage = "rocks";
  CHECK(patient.Complains() == Complaints{});
  CHECK(asked == 1);
}

TEST_CASE("doctor: certificates for etcd are looked at", "[program]") {
  EtcdPatient patient;
  options::EtcdOptions& etcd = patient.etcd;
  const auto pair = http::NewCertificateAuthority("etcd", patient.clock).value();
  const auto other = http::NewCertificateAuthority("other", patient.clock).value();
  etcd.ca_file = patient.Write("etcd-ca.crt", pair.certificate_pem);
  etcd.cert_file = etcd.ca_file;
  etcd.key_file = patient.Write("etcd.key", pair.key_pem);
  CHECK(patient.Complains() == Complaints{});
  etcd.key_file = patient.Write("other.key", other.key_pem);
  patient.members = {Down("http://a:2379")};  // It is not asked with such files.
  CHECK(patient.Complains() == Complaints{"problem etcd-certfile"});
  etcd.ca_file = patient.Beside("missing");
  CHECK(patient.Complains() == Complaints{"problem etcd-cafile", "problem etcd-certfile"});
}

TEST_CASE("doctor: the dates of the certificate that a member shows are told", "[program]") {
  EtcdPatient patient;
  const auto now = patient.clock.WallNow();
  http::CertificateFacts facts{
      .subject = "CN=etcd", .not_before = now - hours(24), .not_after = now + hours(24 * 40)};
  patient.members[0].certificate = facts;
  CHECK(patient.Complains() == Complaints{});
  const auto findings = patient.Findings();
  const auto told =
      std::ranges::find(findings, "etcd-member-certificate", &delegation::Finding::check);
  REQUIRE(told != findings.end());
  CHECK(told->subject == "http://a:2379");
  CHECK(told->text == "CN=etcd expires in 40 days");

  patient.clock.Advance(hours(24 * 30));
  CHECK(patient.Complains() == Complaints{"warning etcd-member-certificate"});
  CHECK(patient.TextOf("etcd-member-certificate") == "CN=etcd expires in 240 hours");
  // It is why the member does not answer.
  patient.clock.Advance(hours(24 * 11));
  patient.members[0].status = {Reason::kServiceUnavailable, "certificate has expired"};
  patient.members[0].version.clear();
  CHECK(patient.Complains() ==
        Complaints{"warning etcd-member", "problem etcd-member-certificate"});
}

TEST_CASE("doctor: certificates for etcd that expire are told", "[program]") {
  EtcdPatient patient;
  options::EtcdOptions& etcd = patient.etcd;
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
