#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/file_system.h"
#include "apiserver/http/certificates.h"
#include "apiserver/http/tls.h"
#include "apiserver/storage/etcd/inspection.h"
#include "delegation/certificate_validity.h"
#include "program/examination_parts.h"

namespace apiserver::v0::program {

namespace {

using Level = Examination::Level;
using storage::etcd::Alarm;
using storage::etcd::MemberReport;

// The longest time that the members are waited for, unless a flag allows them more.
constexpr std::chrono::milliseconds kPatience = std::chrono::seconds(5);
constexpr std::chrono::hours::rep kHoursPerDay = 24;
constexpr std::size_t kKibibyte = 1024;
constexpr std::size_t kMebibyteOfDatabase = 1024 * kKibibyte;

std::string SizeText(std::size_t bytes) {
  return bytes < kMebibyteOfDatabase ? std::to_string(bytes / kKibibyte) + " KiB"
                                     : std::to_string(bytes / kMebibyteOfDatabase) + " MiB";
}

std::string TimeText(std::chrono::milliseconds time) {
  return std::to_string(time.count()) + " ms";
}

// Returns an identifier as etcdctl prints it.
std::string IdText(std::uint64_t id) {
  char text[17];
  (void)std::snprintf(text, sizeof(text), "%" PRIx64, id);
  return text;
}

class EtcdExamination {
 public:
  explicit EtcdExamination(Examination& examination)
      : examination_(examination),
        values_(examination.options.values),
        etcd_(values_.recommended.etcd) {}

  void Examine() {
    const bool authorities = LookAtAuthorities();
    const bool certificate = LookAtCertificate();
    // Without its files no member can be asked, which has been told.
    if (!authorities || !certificate) return;
    const bool asked = examination_.options.inspect_etcd && values_.storage == "etcd";
    if (asked && !etcd_.servers.empty()) AskMembers();
  }

 private:
  Diagnosis& Add(Level level, const char* check, const std::string& subject, std::string text,
                 std::string remedy = {}) {
    Diagnosis& added = examination_.Add(level, check, std::move(text), std::move(remedy));
    added.finding.subject = subject;
    return added;
  }

  // Returns whether the flag's file, if there is one, can be used.
  bool LookAtAuthorities() {
    if (etcd_.ca_file.empty()) return true;
    const auto pem = RealFileSystem().Read(etcd_.ca_file);
    const Status status = pem.ok() ? http::CheckClientTls({.ca_pem = *pem}) : pem.status();
    examination_.Add(delegation::FindingOfFile("etcd-cafile", etcd_.ca_file, status));
    if (status.ok()) LookAtDates("etcd-cafile", etcd_.ca_file, *pem);
    return status.ok();
  }

  // Returns whether the flags' files, if there are some, can be used.
  bool LookAtCertificate() {
    if (etcd_.cert_file.empty()) return true;
    const auto certificate = RealFileSystem().Read(etcd_.cert_file);
    const auto key = RealFileSystem().Read(etcd_.key_file);
    Status status = certificate.ok() ? key.status() : certificate.status();
    if (status.ok()) {
      status = http::CheckClientTls({.client = {.certificate_pem = *certificate, .key_pem = *key}});
    }
    examination_.Add(delegation::FindingOfFile("etcd-certfile", etcd_.cert_file, status));
    if (status.ok()) LookAtDates("etcd-certfile", etcd_.cert_file, *certificate);
    ExamineSecretOfFlag(examination_, etcd_.key_file);
    return status.ok();
  }

  // Adds a finding for each certificate that has expired or soon will.
  void LookAtDates(const char* check, const std::string& file, const std::string& pem) {
    const auto facts = http::DescribeCertificates(pem);
    if (!facts.ok()) return;
    for (const http::CertificateFacts& each : *facts) {
      delegation::Finding dates =
          delegation::ValidityOf(check, each, examination_.options.clock.WallNow());
      if (dates.level == Level::kOk) continue;
      dates.subject = file;
      examination_.found.push_back({std::move(dates)});
    }
  }

  void AskMembers() {
    const auto reports =
        examination_.options.inspect_etcd({.servers = etcd_.servers,
                                           .ca_file = etcd_.ca_file,
                                           .cert_file = etcd_.cert_file,
                                           .key_file = etcd_.key_file,
                                           .user = etcd_.user,
                                           .password_file = etcd_.password_file},
                                          std::max(kPatience, etcd_.healthcheck_timeout));
    if (!reports.ok()) {
      examination_.Add(Level::kProblem, "etcd-servers", std::string(reports.status().message()),
                       "Correct --etcd-servers, or the flags of its certificates.");
      return;
    }
    const bool some = std::ranges::any_of(
        *reports, [](const MemberReport& report) { return report.status.ok(); });
    for (const MemberReport& report : *reports) {
      LookAtAnswer(report, some);
      if (report.certificate) LookAtShown(report.server, *report.certificate);
      if (report.version.empty()) continue;
      LookAtVersion(report);
      LookAtSpace(report);
    }
    LookAtCluster(*reports);
    LookAtAlarms(*reports);
  }

  // A server works as long as `some` member does.
  void LookAtAnswer(const MemberReport& report, bool some) {
    if (!report.status.ok()) {
      Add(some ? Level::kWarning : Level::kProblem, "etcd-member", report.server,
          std::string(report.status.message()),
          "Start the member, or correct --etcd-servers or the flags of its certificates.");
    } else if (report.took > etcd_.healthcheck_timeout) {
      Add(Level::kWarning, "etcd-member", report.server,
          "answers a read after " + TimeText(report.took) + ", and the server is ready only if " +
              TimeText(etcd_.healthcheck_timeout) + " are enough",
          "Find out what holds etcd up, its disk in most cases, or give more time with "
          "--etcd-healthcheck-timeout.");
    } else {
      Add(Level::kOk, "etcd-member", report.server,
          "answers a read after " + TimeText(report.took));
    }
  }

  // Looks at the certificate that a member has shown.
  void LookAtShown(const std::string& server, const http::CertificateFacts& facts) {
    const auto now = examination_.options.clock.WallNow();
    delegation::Finding dates = delegation::ValidityOf("etcd-member-certificate", facts, now);
    dates.subject = server;
    if (dates.level == Level::kOk) {
      const auto left = std::chrono::duration_cast<std::chrono::hours>(facts.not_after - now);
      dates.text += " expires in " + std::to_string(left.count() / kHoursPerDay) + " days";
    }
    examination_.found.push_back({std::move(dates)});
  }

  void LookAtVersion(const MemberReport& report) {
    if (report.supported) {
      Add(Level::kOk, "etcd-version", report.server, report.version);
      return;
    }
    Add(Level::kWarning, "etcd-version", report.server,
        report.version + " is older than 3.4, the oldest version that this server is made for",
        "Update etcd.");
  }

  void LookAtSpace(const MemberReport& report) {
    std::string text = "the database has " + SizeText(report.database_bytes);
    if (report.quota_bytes == 0) {
      Add(Level::kOk, "etcd-space", report.server, text + "; the quota is not told");
      return;
    }
    text += " of a quota of " + SizeText(report.quota_bytes);
    if (report.database_bytes < report.quota_bytes / 10 * 8) {
      Add(Level::kOk, "etcd-space", report.server, text);
      return;
    }
    // etcd keeps the file's free pages until it is defragmented, and counts them.
    Add(Level::kWarning, "etcd-space", report.server, text + ": etcd will refuse writes there",
        "Defragment it, which leaves " + SizeText(report.used_bytes) +
            ", or raise --quota-backend-bytes.");
  }

  void LookAtCluster(const std::vector<MemberReport>& reports) {
    std::set<std::uint64_t> clusters;
    std::string text = "the members belong to different clusters:";
    for (const MemberReport& report : reports) {
      if (report.cluster_id == 0) continue;
      clusters.insert(report.cluster_id);
      text += " " + report.server + " to " + IdText(report.cluster_id) + ",";
    }
    if (clusters.size() < 2) return;
    text.pop_back();
    examination_.Add(Level::kProblem, "etcd-cluster", text,
                     "Name the members of one cluster with --etcd-servers: each of these has other "
                     "objects.");
  }

  // Every member tells the alarms of all.
  void LookAtAlarms(const std::vector<MemberReport>& reports) {
    bool told = false;
    std::set<std::pair<std::string, std::string>> alarms;
    for (const MemberReport& report : reports) {
      told = told || !report.version.empty();
      for (const Alarm& alarm : report.alarms) {
        alarms.emplace("member " + IdText(alarm.member_id), alarm.name);
      }
    }
    for (const auto& [member, name] : alarms) AddAlarm(member, name);
    if (told && alarms.empty()) examination_.Add(Level::kOk, "etcd-alarm", "there is none");
  }

  void AddAlarm(const std::string& member, const std::string& name) {
    if (name == "NOSPACE") {
      Add(Level::kProblem, "etcd-alarm", member,
          "NOSPACE: its database has reached its quota, and etcd refuses writes",
          "Compact and defragment it, or raise --quota-backend-bytes; then `etcdctl alarm "
          "disarm`.");
      return;
    }
    Add(Level::kProblem, "etcd-alarm", member,
        name == "CORRUPT" ? "CORRUPT: its data differ from those of the other members, and etcd "
                            "refuses requests"
                          : name,
        "Do what etcd's documentation says of this alarm, for CORRUPT under \"Data corruption\"; "
        "then `etcdctl alarm disarm`.");
  }

  Examination& examination_;
  const Values& values_;
  const options::EtcdOptions& etcd_;
};

}  // namespace

void ExamineEtcd(Examination& examination) { EtcdExamination(examination).Examine(); }

}  // namespace apiserver::v0::program
