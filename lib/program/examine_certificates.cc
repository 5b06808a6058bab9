#include <algorithm>
#include <optional>
#include <utility>

#include "apiserver/base/file_system.h"
#include "apiserver/client/kubeconfig.h"
#include "apiserver/http/certificates.h"
#include "apiserver/server/standalone.h"
#include "base/status_macros.h"
#include "delegation/certificate_validity.h"
#include "program/examination_parts.h"

namespace apiserver::v0::program {

namespace {

using Level = Examination::Level;

// Reads the machine's files and drops what is written, so that a start can be tried on it.
class DryFiles final : public FileSystem {
 public:
  Result<std::string> Read(const std::string& path) const override { return real_.Read(path); }
  Result<std::string> ReadRange(const std::string& path, std::uint64_t offset,
                                std::size_t bytes_max) const override {
    return real_.ReadRange(path, offset, bytes_max);
  }
  Status WriteAtomically(const std::string&, std::string_view, unsigned) override { return {}; }
  Result<std::unique_ptr<AppendFile>> OpenAppend(const std::string&, unsigned) override {
    return Status(Reason::kInternalError, "nothing is written");
  }
  Status Rename(const std::string&, const std::string&) override { return {}; }
  Result<std::vector<std::string>> List(const std::string& directory) const override {
    return real_.List(directory);
  }
  Status MakeDirectories(const std::string&, unsigned) override { return {}; }
  bool Exists(const std::string& path) const override { return real_.Exists(path); }
  Status Remove(const std::string&) override { return {}; }

 private:
  FileSystem& real_ = RealFileSystem();
};

// Returns the parts of the server as its start would make them from `files`.
Result<server::Standalone> NewStandalone(const ExaminationOptions& options, FileSystem& files) {
  server::StandaloneOptions standalone;
  options.values.recommended.secure_serving.ApplyTo(standalone);
  standalone.file_system = &files;
  standalone.clock = &options.clock;
  return server::NewStandalone(standalone);
}

// Makes the pairs of the data directory anew whose keys are `names`. Other parts stay.
Result<std::string> Renew(const ExaminationOptions& options,
                          const std::vector<std::string>& names) {
  const std::string& directory = options.values.recommended.secure_serving.cert_dir;
  for (const std::string& name : names) {
    std::string key = directory;
    key.append("/pki/").append(name).append(".key");
    if (RealFileSystem().Exists(key)) RETURN_IF_ERROR(RealFileSystem().Remove(key));
  }
  // Without the flags' own certificates, which may be wrong.
  RETURN_IF_ERROR(server::NewStandalone({.data_dir = directory, .clock = &options.clock}).status());
  return std::string("has been made anew");
}

class Certificates {
 public:
  explicit Certificates(Examination& examination)
      : examination_(examination), values_(examination.options.values) {}

  void Examine() {
    const std::size_t first = examination_.found.size();
    const auto authority = LookAtPair("certificate-authority", "ca");
    LookAtAdministrator(authority);
    const auto standalone = NewStandalone(examination_.options, dry_);
    LookAtServing(standalone, first);
    LookAtClientCa();
    if (standalone.ok()) LookAtKubeconfig(*standalone);
  }

 private:
  std::string PkiFile(const std::string& name) const {
    return values_.recommended.secure_serving.cert_dir + "/pki/" + name;
  }

  Diagnosis& Add(Level level, const char* check, const std::string& subject, std::string text,
                 std::string remedy = {}) {
    Diagnosis& added = examination_.Add(level, check, std::move(text), std::move(remedy));
    added.finding.subject = subject;
    return added;
  }

  // Looks at a pair that the server makes at its first start. nullopt: there is none, or it is of
  // no use.
  std::optional<http::KeyPair> LookAtPair(const char* check, const std::string& name) {
    const std::string certificate = PkiFile(name + ".crt");
    const std::string key = PkiFile(name + ".key");
    if (!dry_.Exists(key)) {
      const bool lost = dry_.Exists(certificate);
      Add(lost ? Level::kWarning : Level::kOk, check, lost ? key : "",
          lost ? "is missing, so the next start makes another certificate"
               : "is made at the first start",
          lost ? "Restore it from a backup if there are copies of the kubeconfig elsewhere." : "");
      return std::nullopt;
    }
    auto pair = ReadPair(certificate, key);
    if (!pair.ok()) {
      Add(Level::kProblem, check, certificate, std::string(pair.status().message()),
          "Restore both files from a backup, or delete both: the next start makes new ones.");
      return std::nullopt;
    }
    const auto facts = http::DescribeCertificates(pair->certificate_pem);
    if (!facts.ok()) return std::nullopt;
    delegation::Finding dates =
        delegation::ValidityOf(check, facts->front(), examination_.options.clock.WallNow());
    dates.subject = certificate;
    const bool due = dates.level != Level::kOk;
    if (due) {
      dates.remedy =
          "Stop the server and run doctor --fix, which renews it; copies of the "
          "kubeconfig elsewhere must be replaced then.";
    }
    examination_.found.push_back({std::move(dates)});
    if (due) RenewBy(examination_.found.back(), name);
    return *std::move(pair);
  }

  Result<http::KeyPair> ReadPair(const std::string& certificate, const std::string& key) const {
    http::KeyPair pair;
    ASSIGN_OR_RETURN(pair.certificate_pem, dry_.Read(certificate));
    ASSIGN_OR_RETURN(pair.key_pem, dry_.Read(key));
    RETURN_IF_ERROR(http::NewServerTls(pair).status());
    return pair;
  }

  // With a new authority the administrator needs a new certificate.
  void RenewBy(Diagnosis& diagnosis, const std::string& name) const {
    std::vector<std::string> names = {"admin"};
    if (name == "ca") names.emplace_back("ca");
    diagnosis.repair = [&options = examination_.options, names] { return Renew(options, names); };
  }

  void LookAtAdministrator(const std::optional<http::KeyPair>& authority) {
    const auto pair = LookAtPair("administrator", "admin");
    if (!pair || !authority) return;
    // An expired one has been told of.
    if (examination_.found.back().finding.level == Level::kProblem) return;
    const Status signed_by = http::VerifyClientCertificate(
        pair->certificate_pem, authority->certificate_pem, examination_.options.clock);
    if (signed_by.ok()) return;
    RenewBy(Add(Level::kProblem, "administrator", PkiFile("admin.crt"),
                "is not of this server's authority: " + std::string(signed_by.message()),
                "Stop the server and run doctor --fix, which renews it."),
            "admin");
  }

  // The certificate that clients see: files of the user's own, or one that every start makes.
  void LookAtServing(const Result<server::Standalone>& standalone, std::size_t first) {
    const options::SecureServingOptions& flags = values_.recommended.secure_serving;
    const bool own = !flags.tls_cert_file.empty();
    const auto told = std::any_of(
        examination_.found.begin() + static_cast<std::ptrdiff_t>(first), examination_.found.end(),
        [](const Diagnosis& each) { return each.finding.level == Level::kProblem; });
    if (!standalone.ok()) {
      // The pairs of the data directory have been told of.
      if (own || !told) {
        Add(Level::kProblem, "serving-certificate", flags.tls_cert_file,
            std::string(standalone.status().message()), "Correct the flag, or the file it names.");
      }
      return;
    }
    if (!own) {
      Add(Level::kOk, "serving-certificate", "", "is made at every start");
      return;
    }
    const auto facts = http::DescribeCertificates(standalone->serving_ca_pem);
    if (!facts.ok()) return;
    delegation::Finding dates = delegation::ValidityOf("serving-certificate", facts->front(),
                                                       examination_.options.clock.WallNow());
    dates.subject = flags.tls_cert_file;
    examination_.found.push_back({std::move(dates)});
    ExamineSecretOfFlag(examination_, flags.tls_private_key_file);
    LookAtNames(*standalone, flags.tls_cert_file);
  }

  void LookAtNames(const server::Standalone& standalone, const std::string& file) {
    const std::string remedy =
        "Use a certificate with the subject alternative name IP:" + standalone.host + ".";
    if (!standalone.unverifiable.empty()) {
      Add(Level::kProblem, "serving-certificate-names", file, standalone.unverifiable, remedy);
    } else if (!standalone.server_name.empty()) {
      Add(Level::kWarning, "serving-certificate-names", file,
          "is not for " + standalone.host + ": clients must verify it as " +
              standalone.server_name + ", as the kubeconfig says",
          remedy);
    }
  }

  void LookAtClientCa() {
    const std::string& file = values_.recommended.authentication.values.client_ca_file;
    if (file.empty()) return;
    const auto text = dry_.Read(file);
    const auto facts = text.ok() ? http::DescribeCertificates(*text)
                                 : Result<std::vector<http::CertificateFacts>>(text.status());
    if (!facts.ok()) {
      Add(Level::kProblem, "client-ca-file", file, std::string(facts.status().message()),
          "Name a PEM file of certificates.");
      return;
    }
    for (const http::CertificateFacts& each : *facts) {
      delegation::Finding dates =
          delegation::ValidityOf("client-ca-file", each, examination_.options.clock.WallNow());
      dates.subject = file;
      examination_.found.push_back({std::move(dates)});
    }
  }

  void LookAtKubeconfig(const server::Standalone& standalone) {
    const std::string& path = values_.kubeconfig_out;
    if (!dry_.Exists(path)) {
      if (dry_.Exists(PkiFile("ca.key"))) {
        AddKubeconfig("is missing");
      } else {
        Add(Level::kOk, "kubeconfig", path, "is written at the first start");
      }
      return;
    }
    const auto config = client::ReadKubeconfigFile(dry_, path);
    const std::string wrong =
        config.ok() ? Difference(*config, standalone) : std::string(config.status().message());
    if (!wrong.empty()) return AddKubeconfig(wrong);
    Add(Level::kOk, "kubeconfig", path, "is for " + config->server);
  }

  // A start writes the file, so that it harms nobody while there is no server.
  void AddKubeconfig(std::string text) {
    const std::string& path = values_.kubeconfig_out;
    Diagnosis& added =
        Add(examination_.in_use ? Level::kProblem : Level::kWarning, "kubeconfig", path,
            std::move(text),
            "Start the server anew, which writes it, or run doctor --fix while it is stopped.");
    const int port = values_.recommended.secure_serving.secure_port;
    if (port == 0) return;  // Only a start finds the port.
    added.repair = [&options = examination_.options, path, port]() -> Result<std::string> {
      // Repairs before this one may have made other certificates.
      DryFiles files;
      ASSIGN_OR_RETURN(const server::Standalone now, NewStandalone(options, files));
      RETURN_IF_ERROR(now.WriteKubeconfig(path, port));
      return "has been written for " + now.Url(port);
    };
  }

  // Returns what is wrong with a kubeconfig, in one line. Empty: nothing.
  std::string Difference(const client::Kubeconfig& config,
                         const server::Standalone& standalone) const {
    const int port = values_.recommended.secure_serving.secure_port;
    const std::string url = standalone.Url(port);
    // With port 0 every start has another one.
    const bool same = port != 0 ? config.server == url
                                : config.server.starts_with(url.substr(0, url.rfind(':') + 1));
    if (!same) {
      return "is for " + config.server + ", and this server is at " +
             (port != 0 ? url : standalone.host);
    }
    if (config.ca_pem != standalone.serving_ca_pem) {
      return "trusts another authority than this server's";
    }
    if (config.token != standalone.token ||
        config.client_certificate_pem != standalone.admin.certificate_pem) {
      return "has not the administrator's present credentials";
    }
    return config.tls_server_name == standalone.server_name
               ? ""
               : "verifies the server as \"" + config.tls_server_name + "\" and not as \"" +
                     standalone.server_name + "\"";
  }

  Examination& examination_;
  const Values& values_;
  DryFiles dry_;
};

}  // namespace

void ExamineCertificates(Examination& examination) { Certificates(examination).Examine(); }

}  // namespace apiserver::v0::program
