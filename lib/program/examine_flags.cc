#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "apiserver/audit/policy.h"
#include "apiserver/authn/config.h"
#include "apiserver/authn/token_file.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/client/client_config.h"
#include "apiserver/groups/token_objects.h"
#include "apiserver/http/dialer.h"
#include "apiserver/server/service_accounts.h"
#include "apiserver/server/tracing.h"
#include "apiserver/storage/kms/provider.h"
#include "apiserver/storage/rocks/check.h"
#include "apiserver/storage/value/encryption.h"
#include "base/status_macros.h"
#include "http/net.h"
#include "program/cluster.h"
#include "program/examination_parts.h"

namespace apiserver::v0::program {

namespace {

using Level = Examination::Level;

// Returns why a server could not listen there: zero, or an errno. The socket only binds, so that no
// client connects to it.
int BindError(const http::Address& address) {
  const int fd = socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const int on = 1;
  const int off = 0;
  (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.storage.ss_family == AF_INET6) {
    (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  const int error = bind(fd, address.get(), address.size) == 0 ? 0 : errno;
  close(fd);
  return error;
}

class FlagsExamination {
 public:
  explicit FlagsExamination(Examination& examination)
      : examination_(examination),
        values_(examination.options.values),
        flags_(values_.recommended) {}

  void Examine() {
    LookAtPort();
    LookAtStore();
    LookAtEncryption();
    LookAtAudit();
    LookAtAuthentication();
    LookAtConfigurations();
  }

 private:
  void Loaded(const char* flag, const std::string& file, const Status& loaded) {
    examination_.Add(delegation::FindingOfFile(flag, file, loaded));
  }

  void LookAtPort() {
    if (examination_.in_use) return;
    const std::string& host = flags_.secure_serving.bind_address;
    const int port = flags_.secure_serving.secure_port;
    const auto address = http::ParseAddress(host, port);
    if (!address.ok() || address->storage.ss_family == AF_UNIX) {
      examination_.Add(Level::kProblem, "secure-port", host + " is no IP address",
                       "Give --bind-address one of this machine's, e.g. 127.0.0.1 or ::1.");
      return;
    }
    const std::string where = http::FormatAddress(*address);
    switch (const int error = BindError(*address); error) {
      case 0:
        examination_.Add(Level::kOk, "secure-port",
                         port != 0 ? where + " is free" : host + " has free ports");
        return;
      case EADDRINUSE:
        examination_.Add(Level::kProblem, "secure-port", where + " is taken by another program",
                         "Stop that program, which `ss -ltnp` names, or give another "
                         "--secure-port. A socket that systemd holds for this server is right.");
        return;
      case EADDRNOTAVAIL:
        examination_.Add(Level::kProblem, "secure-port", host + " is no address of this machine",
                         "Give another --bind-address.");
        return;
      default:
        examination_.Add(Level::kProblem, "secure-port", where + ": " + ErrnoText(error),
                         "Give another --secure-port.");
    }
  }

  void LookAtStore() {
    if (values_.storage != "rocks" || examination_.in_use) return;
    const std::string path = values_.data_dir + "/rocks";
    const Status checked = storage::rocks::Check(path);
    Diagnosis& added =
        checked.ok() || checked.reason() == Reason::kNotFound
            ? examination_.Add(Level::kOk, "store",
                               checked.ok() ? "can be opened" : "is made at the first start")
            : examination_.Add(Level::kProblem, "store", std::string(checked.message()),
                               "Use the version of the server that wrote it, or restore it from a "
                               "backup.");
    added.finding.subject = path;
  }

  void LookAtEncryption() {
    const std::string& file = flags_.etcd.encryption_provider_config;
    if (file.empty()) return;
    const auto pool = NewThreadPool({.name = "doctor", .threads = 1});
    const auto encryption = storage::value::LoadEncryption(
        {.path = file, .new_kms_provider = storage::kms::NewProviders({.executor = pool.get()})});
    Loaded("encryption-provider-config", file,
           encryption.ok() ? (*encryption)->Check() : encryption.status());
    ExamineSecretOfFlag(examination_, file);
  }

  void LookAtAudit() {
    const audit::Options& audit = flags_.audit.values;
    if (!audit.policy_file.empty()) {
      Loaded("audit-policy-file", audit.policy_file,
             audit::LoadPolicyFile(RealFileSystem(), audit.policy_file).status());
    }
    if (!audit.webhook_config_file.empty()) {
      Loaded("audit-webhook-config-file", audit.webhook_config_file,
             client::ReadClientConfigFile(RealFileSystem(), audit.webhook_config_file,
                                          client::Cleartext::kAllowed)
                 .status());
    }
    if (!audit.log_path.empty() && audit.log_path != "-") {
      Loaded("audit-log-path", audit.log_path, Appendable(audit.log_path));
    }
  }

  static Status Appendable(const std::string& path) {
    std::error_code ignored;
    const bool exists = std::filesystem::exists(path, ignored);
    const std::string parent = std::filesystem::absolute(path, ignored).parent_path();
    if (std::filesystem::is_directory(path, ignored)) {
      return {Reason::kInvalid, "is a directory"};
    }
    if (access(exists ? path.c_str() : parent.c_str(), exists ? W_OK : W_OK | X_OK) == 0) return {};
    return {Reason::kInvalid, (exists ? "" : parent + ": ") + ErrnoText(errno)};
  }

  void LookAtAuthentication() {
    const options::BuiltInAuthenticationOptions& authentication = flags_.built_in_authentication;
    if (const std::string& file = authentication.token_auth_file; !file.empty()) {
      const auto text = RealFileSystem().Read(file);
      Loaded("token-auth-file", file,
             text.ok() ? authn::ReadTokenFile(file, *text, NullLogSink()).status() : text.status());
      ExamineSecretOfFlag(examination_, file);
    }
    if (const std::string& file = authentication.authentication_config; !file.empty()) {
      const auto text = RealFileSystem().Read(file);
      Loaded("authentication-config", file,
             text.ok() ? authn::ParseAuthenticationConfiguration(
                             *text, authentication.service_accounts.issuers)
                             .status()
                       : text.status());
    }
    LookAtServiceAccountKeys(authentication.service_accounts);
  }

  // Each file by itself, so that the finding names the wrong one.
  void LookAtServiceAccountKeys(server::ServiceAccountOptions accounts) {
    accounts.getter = std::make_shared<groups::TokenObjects>();
    accounts.metrics = metrics::NewRegistry();
    for (const std::string& file : std::exchange(accounts.key_files, {})) {
      accounts.key_files = {file};
      Loaded("service-account-key-file", file,
             server::NewServiceAccountAuthentication(accounts).status());
      const auto text = RealFileSystem().Read(file);
      if (text.ok() && text->find("PRIVATE KEY") != std::string::npos) {
        ExamineSecretOfFlag(examination_, file);
      }
    }
  }

  // These are loaded as a start does, into a configuration that no server gets.
  void LookAtConfigurations() {
    const options::Environment environment{.in_cluster = InPod()};
    server::Config config;
    config.name = examination_.options.program.name;
    config.admission = examination_.options.program.admission;
    if (const std::string& file = flags_.authorization.config_file; !file.empty()) {
      Loaded("authorization-config", file,
             flags_.authorization.ApplyTo(config, environment).status());
    }
    const Status admission = flags_.admission.ApplyTo(config, environment).status();
    if (const std::string& file = flags_.admission.config_file; !file.empty()) {
      Loaded("admission-control-config-file", file, admission);
    } else if (!admission.ok()) {
      examination_.Add(Level::kProblem, "admission-plugins", std::string(admission.message()),
                       "Correct --enable-admission-plugins or --disable-admission-plugins.");
    }
    if (const std::string& file = flags_.tracing.config_file; !file.empty()) {
      Loaded("tracing-config-file", file,
             server::LoadTracingConfigurationFile(RealFileSystem(), file).status());
    }
  }

  Examination& examination_;
  const Values& values_;
  const options::RecommendedOptions& flags_;
};

}  // namespace

void ExamineFlags(Examination& examination) { FlagsExamination(examination).Examine(); }

}  // namespace apiserver::v0::program
