#include <string>
#include <utility>

#include "apiserver/base/file_system.h"
#include "apiserver/http/certificates.h"
#include "apiserver/http/tls.h"
#include "delegation/certificate_validity.h"
#include "program/examination_parts.h"

namespace apiserver::v0::program {

namespace {

using Level = Examination::Level;

class EtcdExamination {
 public:
  explicit EtcdExamination(Examination& examination)
      : examination_(examination), etcd_(examination.options.values.recommended.etcd) {}

  void Examine() {
    LookAtAuthorities();
    LookAtCertificate();
  }

 private:
  void LookAtAuthorities() {
    if (etcd_.ca_file.empty()) return;
    const auto pem = RealFileSystem().Read(etcd_.ca_file);
    const Status status = pem.ok() ? http::CheckClientTls({.ca_pem = *pem}) : pem.status();
    AddLoaded(examination_, "etcd-cafile", etcd_.ca_file, status);
    if (status.ok()) LookAtDates("etcd-cafile", etcd_.ca_file, *pem);
  }

  void LookAtCertificate() {
    if (etcd_.cert_file.empty()) return;
    const auto certificate = RealFileSystem().Read(etcd_.cert_file);
    const auto key = RealFileSystem().Read(etcd_.key_file);
    Status status = certificate.ok() ? key.status() : certificate.status();
    if (status.ok()) {
      status = http::CheckClientTls({.client = {.certificate_pem = *certificate, .key_pem = *key}});
    }
    AddLoaded(examination_, "etcd-certfile", etcd_.cert_file, status);
    if (status.ok()) LookAtDates("etcd-certfile", etcd_.cert_file, *certificate);
    ExamineSecretOfFlag(examination_, etcd_.key_file);
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

  Examination& examination_;
  const options::EtcdOptions& etcd_;
};

}  // namespace

void ExamineEtcd(Examination& examination) { EtcdExamination(examination).Examine(); }

}  // namespace apiserver::v0::program
