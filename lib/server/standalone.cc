#include "apiserver/server/standalone.h"

#include <utility>
#include <vector>

#include "apiserver/authn/bearer_token.h"
#include "apiserver/authn/union.h"
#include "apiserver/authn/x509.h"
#include "apiserver/client/kubeconfig.h"
#include "base/status_macros.h"
#include "http/certificate_names.h"
#include "http/net.h"

namespace apiserver::v0::server {

namespace {

constexpr unsigned kPrivate = 0600;
constexpr unsigned kPrivateDirectory = 0700;
constexpr std::chrono::hours kTenYears(24 * 3650);

// The files of one data directory; with an empty name nothing is kept.
class Pki {
 public:
  explicit Pki(const StandaloneOptions& options) : options_(options) {}

  Status Prepare() const {
    if (options_.data_dir.empty()) return {};
    return options_.file_system->MakeDirectories(options_.data_dir + "/pki", kPrivateDirectory);
  }

  // Returns the contents of `name`.crt and `name`.key, or a pair from `make`, which is then kept.
  template <class Make>
  Result<http::KeyPair> Pair(const std::string& name, const Make& make) const {
    const std::string certificate = Path(name + ".crt");
    const std::string key = Path(name + ".key");
    if (!options_.data_dir.empty() && options_.file_system->Exists(key)) {
      http::KeyPair pair;
      ASSIGN_OR_RETURN(pair.certificate_pem, options_.file_system->Read(certificate));
      ASSIGN_OR_RETURN(pair.key_pem, options_.file_system->Read(key));
      return pair;
    }
    ASSIGN_OR_RETURN(http::KeyPair made, make());
    if (options_.data_dir.empty()) return made;
    RETURN_IF_ERROR(
        options_.file_system->WriteAtomically(certificate, made.certificate_pem, kPrivate));
    // The key is written last: with it the pair is complete.
    RETURN_IF_ERROR(options_.file_system->WriteAtomically(key, made.key_pem, kPrivate));
    return made;
  }

  Result<std::string> Token() const {
    const std::string path = Path("token");
    if (!options_.data_dir.empty() && options_.file_system->Exists(path)) {
      return options_.file_system->Read(path);
    }
    std::string token = NewUuid(*options_.random);
    if (!options_.data_dir.empty()) {
      RETURN_IF_ERROR(options_.file_system->WriteAtomically(path, token, kPrivate));
    }
    return token;
  }

 private:
  std::string Path(const std::string& name) const { return options_.data_dir + "/pki/" + name; }

  const StandaloneOptions& options_;
};

CertificateFiles FilesOf(const StandaloneOptions& options) {
  return {.cert_file = options.tls_cert_file,
          .key_file = options.tls_key_file,
          .sni = options.sni,
          .file_system = options.file_system};
}

// Returns `address` as certificates and clients write it, IPv6 without brackets.
Result<std::string> Literal(const std::string& address) {
  const auto parsed = http::ParseAddress(address, 0);
  if (!parsed.ok() || parsed->storage.ss_family == AF_UNIX) {
    return Status(Reason::kInvalid, "--bind-address: \"" + address +
                                        "\" is no IP address; give one of this machine's, e.g. "
                                        "127.0.0.1 or ::1, or 0.0.0.0 for all");
  }
  std::string text = http::FormatAddress(*parsed);
  text.resize(text.rfind(':'));
  return text.starts_with('[') ? text.substr(1, text.size() - 2) : text;
}

std::string LocalHost(const std::string& address) {
  // A client cannot dial "all addresses".
  if (address == "0.0.0.0") return "127.0.0.1";
  return address == "::" ? "::1" : address;
}

Result<http::KeyPair> MadeServingPair(const StandaloneOptions& options,
                                      const http::KeyPair& authority, const std::string& host) {
  http::CertificateRequest request;
  // Always valid for the loopback, so that a kubeconfig for this machine works whatever is bound.
  request.common_name = "localhost";
  request.dns_names = {"localhost"};
  request.ip_addresses = {"127.0.0.1", "::1"};
  if (host != "127.0.0.1" && host != "::1") request.ip_addresses.push_back(host);
  request.dns_names.insert(request.dns_names.end(), options.alternate_names.begin(),
                           options.alternate_names.end());
  request.ip_addresses.insert(request.ip_addresses.end(), options.alternate_ips.begin(),
                              options.alternate_ips.end());
  return http::NewCertificate(authority, request, *options.clock);
}

Status ServeOwnFiles(const StandaloneOptions& options, Standalone& standalone) {
  ASSIGN_OR_RETURN(standalone.serving.tls, standalone.certificates.Load(options.tls));
  ASSIGN_OR_RETURN(standalone.serving_ca_pem, options.file_system->Read(options.tls_cert_file));
  auto name = http::ServerNameFor(standalone.serving_ca_pem, standalone.host);
  // The server starts all the same: clients may reach it by another name.
  if (name.ok()) {
    standalone.server_name = *std::move(name);
  } else {
    standalone.unverifiable = "--tls-cert-file: " + options.tls_cert_file + ": " +
                              std::string(name.status().message()) +
                              ": clients cannot verify it; use one with such a name";
  }
  return {};
}

Status ServeMadePair(const StandaloneOptions& options, const http::KeyPair& authority,
                     Standalone& standalone) {
  ASSIGN_OR_RETURN(const http::KeyPair pair, MadeServingPair(options, authority, standalone.host));
  ASSIGN_OR_RETURN(standalone.serving.tls, http::NewServerTls(pair, options.tls));
  standalone.serving_ca_pem = authority.certificate_pem;
  return {};
}

// An authenticator and the registry that it counts in, which must live as long.
struct Counting {
  std::shared_ptr<metrics::Registry> metrics;
  std::unique_ptr<const auth::Authenticator> authenticator;
};

Result<std::shared_ptr<const auth::Authenticator>> NewAuthenticator(
    const StandaloneOptions& options, const Standalone& standalone) {
  ASSIGN_OR_RETURN(auto certificates, authn::NewX509({.ca = standalone.client_ca,
                                                      .clock = options.clock,
                                                      .metrics = standalone.metrics.get()}));
  std::vector<authn::StaticToken> tokens{
      {.token = standalone.token,
       .user = {.name = options.admin,
                .uid = "",
                .groups = {std::string(auth::kSystemPrivilegedGroup)}}}};
  std::vector<std::shared_ptr<const auth::Authenticator>> all;
  all.push_back(std::move(certificates));
  all.push_back(authn::NewBearerToken(authn::NewStaticTokens(std::move(tokens))));
  const auto counting = std::make_shared<const Counting>(
      Counting{standalone.metrics, authn::NewGroupAdder(authn::NewUnion(std::move(all)))});
  return std::shared_ptr<const auth::Authenticator>(counting, counting->authenticator.get());
}

}  // namespace

Result<Standalone> NewStandalone(const StandaloneOptions& options) {
  ASSIGN_OR_RETURN(const std::string address, Literal(options.address));
  const Pki pki(options);
  RETURN_IF_ERROR(pki.Prepare());
  ASSIGN_OR_RETURN(const http::KeyPair authority, pki.Pair("ca", [&options] {
    return http::NewCertificateAuthority("apiserver-ca", *options.clock);
  }));
  Standalone standalone;
  standalone.ca_pem = authority.certificate_pem;
  standalone.host = LocalHost(address);
  standalone.client_ca = options.client_ca;
  if (!standalone.client_ca) {
    standalone.client_ca = std::make_shared<const Variable<std::string>>(standalone.ca_pem);
  }
  ASSIGN_OR_RETURN(standalone.admin, pki.Pair("admin", [&] {
    http::CertificateRequest request;
    request.common_name = options.admin;
    request.organizations = {std::string(auth::kSystemPrivilegedGroup)};
    // Nothing renews this certificate while the data directory is in use.
    request.valid_for = kTenYears;
    request.client = true;
    return http::NewCertificate(authority, request, *options.clock);
  }));
  ASSIGN_OR_RETURN(standalone.token, pki.Token());
  standalone.certificates = FilesOf(options);
  if (!standalone.certificates.empty() || !options.tls_key_file.empty()) {
    RETURN_IF_ERROR(ServeOwnFiles(options, standalone));
  } else {
    RETURN_IF_ERROR(ServeMadePair(options, authority, standalone));
  }
  standalone.serving.address = address;
  standalone.serving.port = options.port;
  standalone.metrics = options.metrics ? options.metrics : metrics::NewRegistry();
  ASSIGN_OR_RETURN(standalone.authenticator, NewAuthenticator(options, standalone));
  return standalone;
}

void Standalone::Apply(Config& config) const {
  config.serving = serving;
  config.certificates = certificates;
  config.client_ca = config.user_ca = client_ca;
  config.authenticator = authenticator;
  config.metrics = metrics;
}

Result<std::unique_ptr<GenericAPIServer>> Standalone::NewServer(Config config) const {
  Apply(config);
  ASSIGN_OR_RETURN(CompletedConfig completed, std::move(config).Complete());
  return std::move(completed).New();
}

std::string Standalone::Url(int port) const { return "https://" + http::JoinHostPort(host, port); }

std::string Standalone::Kubeconfig(int port) const {
  return client::WriteKubeconfig({.server = Url(port),
                                  .tls_server_name = server_name,
                                  .ca_pem = serving_ca_pem,
                                  .client_certificate_pem = admin.certificate_pem,
                                  .client_key_pem = admin.key_pem,
                                  .token = token});
}

Status Standalone::WriteKubeconfig(const std::string& path, int port,
                                   FileSystem& file_system) const {
  return file_system.WriteAtomically(path, Kubeconfig(port), kPrivate);
}

}  // namespace apiserver::v0::server
