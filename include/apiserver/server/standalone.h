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

// A server without a cluster: its own certificate authority, one administrator, and a kubeconfig
// for her. What examples, tests and desktop programs need; a server behind an aggregator does not.
namespace apiserver::inline v0::server {

struct StandaloneOptions {
  // Where the authority, the keys and the token live (0600), so that yesterday's kubeconfig works
  // today. Empty: in memory, new with every start.
  std::string data_dir = "";
  std::string address = "127.0.0.1";  // An IP literal; "::" and "0.0.0.0": all.
  int port = 0;
  // PEM files of a serving certificate of one's own, which is followed in them; both or none. None:
  // one for localhost, 127.0.0.1, ::1 and `address`, made at every start.
  std::string tls_cert_file = "";
  std::string tls_key_file = "";
  std::vector<SniCertificateFiles> sni = {};  // Besides files of one's own.
  http::ServerTlsOptions tls = {};
  // PEM of the authorities that vouch for clients, if it is not ours alone (then it should hold
  // ours, for the administrator's sake). A change counts at once.
  std::shared_ptr<const Source<std::string>> client_ca = nullptr;
  std::string admin = "admin";  // In group system:masters.
  // What its authenticator counts; null: a registry of its own.
  std::shared_ptr<metrics::Registry> metrics = nullptr;

  FileSystem* file_system = &RealFileSystem();
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
};

// Immutable once made; may be copied.
struct Standalone {
  http::ListenerOptions serving;
  CertificateFiles certificates;
  // The authorities of clients: `ca_pem`, or StandaloneOptions::client_ca.
  std::shared_ptr<const Source<std::string>> client_ca;
  // Knows the administrator by client certificate and by bearer token, and nobody else.
  std::shared_ptr<const auth::Authenticator> authenticator;
  // What the authenticator counts, and then the server.
  std::shared_ptr<metrics::Registry> metrics;
  std::string ca_pem;
  // The address that clients on this machine dial: the one bound, or of all the loopback.
  std::string host;
  // How they verify the server: `ca_pem`, or the chain of a certificate of one's own, which holds
  // until another is put in its place, or longer if its authority stands in the chain.
  std::string serving_ca_pem;
  std::string server_name;  // What they verify instead of `host`; empty: nothing else.
  // One line that says why they cannot; empty: they can.
  std::string unverifiable;
  http::KeyPair admin;
  std::string token;

  // Sets what a Config has of the same names.
  void Apply(Config& config) const;
  // Makes a server of `config` after Apply(). Errors as Config::Complete() and
  // CompletedConfig::New.
  Result<std::unique_ptr<GenericAPIServer>> NewServer(Config config = {}) const;
  // "https://127.0.0.1:6443", "https://[::1]:6443": `host` and `port`.
  std::string Url(int port) const;
  // A kubeconfig for Url(port), with all that is needed inside.
  std::string Kubeconfig(int port) const;
  // Writes it (0600, temporary name and rename).
  Status WriteKubeconfig(const std::string& path, int port,
                         FileSystem& file_system = RealFileSystem()) const;
};

// kInvalid: certificate files that do not fit, or an address that is none; the message names file
// and remedy.
// kInternalError: the data directory cannot be read or written.
Result<Standalone> NewStandalone(const StandaloneOptions& options);

}  // namespace apiserver::inline v0::server
