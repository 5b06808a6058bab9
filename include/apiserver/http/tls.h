#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0::http {

// A certificate, its chain if any, and the private key, in PEM.
struct KeyPair {
  std::string certificate_pem = {};
  std::string key_pem = {};

  friend bool operator==(const KeyPair&, const KeyPair&) = default;
};

// The contents of a certificate to be made. Keys are ECDSA P-256.
struct CertificateRequest {
  std::string common_name = {};                 // The user name of a client.
  std::vector<std::string> organizations = {};  // The groups of a client.
  std::vector<std::string> dns_names = {};
  std::vector<std::string> ip_addresses = {};
  std::chrono::hours valid_for = std::chrono::hours(24 * 365);
  bool client = false;  // Extended key usage: client, else server.
};

// Makes a new self-signed CA.
Result<KeyPair> NewCertificateAuthority(const std::string& common_name, const Clock& clock,
                                        std::chrono::hours valid_for = std::chrono::hours(87'600));
// Makes a new key and a certificate for it, signed by `authority`.
Result<KeyPair> NewCertificate(const KeyPair& authority, const CertificateRequest& request,
                               const Clock& clock);

// Returns when the first certificate of a chain expires. kInvalid: there is no certificate.
Result<Clock::Wall> ExpirationOf(const std::string& certificate_pem);

// A key pair for clients that ask for one of these names.
struct SniKeyPair {
  KeyPair pair = {};
  // "x.example.com", "*.example.com", or an IP address, which is compared with the address that a
  // client connected to if it sent no server name. Empty: the certificate's names.
  std::vector<std::string> names = {};
};

// The suites and versions that a server offers in a handshake.
struct ServerTlsOptions {
  // IANA's names of TLS 1.2 suites, in order of preference. Empty: all with forward secrecy and
  // authenticated encryption. The suites of TLS 1.3 are always on and may be named.
  std::vector<std::string> cipher_suites = {};
  // "VersionTLS12" or "VersionTLS13"; empty: VersionTLS12.
  std::string min_version = {};
};

// A server's TLS settings: ALPN h2 and http/1.1, client certificates requested but not verified, no
// session resumption (it would outlive a change of the client authorities), no renegotiation.
// Shared by listeners, thread-safe; no method blocks. It may be changed while connections are made:
// new handshakes use the new settings, existing connections go on.
class ServerTls {
 public:
  virtual ~ServerTls() = default;
  // Replaces the key pair. kInvalid: the pair does not match, and the old one stays.
  virtual Status Replace(const KeyPair& pair) = 0;
  // Replaces the key pair and the pairs for server names. The first of `sni` with a name that
  // matches exactly, or else by a wildcard for the first label, is used instead of `pair`.
  // kInvalid: all stay as they were.
  virtual Status ReplaceAll(const KeyPair& pair, const std::vector<SniKeyPair>& sni) = 0;
  // Names these authorities (PEM) to clients, so that they choose the right certificate. The source
  // is read on each handshake; a text that is not PEM is not used.
  virtual void OfferClientAuthorities(std::shared_ptr<const Source<std::string>> ca_pem) = 0;
  // The OpenSSL context of new handshakes. Opaque: only a listener can look into it.
  class Context;
  virtual std::shared_ptr<const Context> context() const = 0;
};
// Makes a server's settings. kInvalid: the pair does not match, or a suite or version is unknown;
// the message names it.
Result<std::shared_ptr<ServerTls>> NewServerTls(const KeyPair& pair,
                                                const ServerTlsOptions& options = {});

// A client's TLS settings: which servers are trusted, and the certificate that is shown.
struct ClientTls {
  // The trusted authorities. Empty, without system_roots: the peer is not verified (for tests).
  std::string ca_pem = {};
  // Trusts the machine's authorities too (OpenSSL's default files, or SSL_CERT_FILE and
  // SSL_CERT_DIR).
  bool system_roots = false;
  std::string server_name = {};  // SNI and the name that is verified; empty: the host dialled.
  KeyPair client = {};           // Both empty: no client certificate.

  friend bool operator==(const ClientTls&, const ClientTls&) = default;
};

// Checks `tls` before it is used. kInvalid: it has material that cannot be read or does not match.
Status CheckClientTls(const ClientTls& tls);

}  // namespace apiserver::inline v0::http
