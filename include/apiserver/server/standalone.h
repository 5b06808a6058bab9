#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/http/listener.h"
#include "apiserver/server/server.h"

// A server without a cluster: its own certificate authority, one administrator, and the
// administrator's kubeconfig. For examples, tests and desktop programs; a server behind an
// aggregator does not need it.
namespace apiserver::inline v0::server {

// The directory, address and certificates of a standalone server.
struct StandaloneOptions {
  // The directory of the authority, the keys and the token (0600), so that a kubeconfig stays valid
  // over restarts. Empty: they are in memory, and new with every start.
  std::string data_dir = "";
  std::string address = "127.0.0.1";  // An IP literal; "::" and "0.0.0.0" are all addresses.
  int port = 0;
  // PEM files of your own serving certificate, which are followed while the server runs; both or
  // none. None: a certificate for localhost, 127.0.0.1, ::1 and `address`, made at every start.
  std::string tls_cert_file = "";
  std::string tls_key_file = "";
  // Further names and addresses of the certificate that is made. Not for files of your own.
  std::vector<std::string> alternate_names = {};
  std::vector<std::string> alternate_ips = {};
  std::vector<SniCertificateFiles> sni = {};  // Needs files of your own.
  http::ServerTlsOptions tls = {};
  // The PEM text of the authorities that client certificates may be signed by, if it is not only
  // the server's own (then it should include that, for the administrator's certificate). A change
  // takes effect at once. Null: only the server's own.
  std::shared_ptr<const Source<std::string>> client_ca = nullptr;
  std::string admin = "admin";  // A member of group system:masters.
  // The registry for the authenticator's counters. Null: a new one.
  std::shared_ptr<metrics::Registry> metrics = nullptr;

  FileSystem* file_system = &RealFileSystem();
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
};

// The parts of a standalone server. Immutable once made; may be copied.
struct Standalone {
  http::ListenerOptions serving;
  CertificateFiles certificates;
  // The authorities of clients: `ca_pem`, or StandaloneOptions::client_ca.
  std::shared_ptr<const Source<std::string>> client_ca;
  // Authenticates the administrator by client certificate and by bearer token, and no other user.
  std::shared_ptr<const auth::Authenticator> authenticator;
  // The registry for the counters of the authenticator, and then of the server.
  std::shared_ptr<metrics::Registry> metrics;
  std::string ca_pem;
  // The address that clients on this machine dial: the bound one, or the loopback if all are bound.
  std::string host;
  // The certificates that clients verify the server with: `ca_pem`, or the chain of your own
  // certificate. That is valid until another certificate replaces it, or longer if its authority is
  // in the chain.
  std::string serving_ca_pem;
  // The name that clients verify instead of `host`. Empty: they verify `host`.
  std::string server_name;
  // The reason why clients cannot verify the server, in one line. Empty: they can.
  std::string unverifiable;
  http::KeyPair admin;
  std::string token;

  // Sets the fields of the same names in `config`, and its user_ca to client_ca.
  void Apply(Config& config) const;
  // Makes a server of `config` after Apply(). Errors as Config::Complete() and
  // CompletedConfig::New.
  Result<std::unique_ptr<GenericAPIServer>> NewServer(Config config = {}) const;
  // Returns "https://127.0.0.1:6443", "https://[::1]:6443": `host` and `port`.
  std::string Url(int port) const;
  // Returns a kubeconfig for Url(port) that contains all it needs.
  std::string Kubeconfig(int port) const;
  // Writes the kubeconfig (0600, temporary name and rename).
  Status WriteKubeconfig(const std::string& path, int port,
                         FileSystem& file_system = RealFileSystem()) const;
};

// Makes the parts.
// kInvalid: the certificate files do not fit, or the address is no IP; the message names file and
// remedy.
// kInternalError: the data directory cannot be read or written.
Result<Standalone> NewStandalone(const StandaloneOptions& options);

}  // namespace apiserver::inline v0::server
