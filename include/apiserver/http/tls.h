#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0::http {

// A certificate (chain) and its private key, PEM.
struct KeyPair {
  std::string certificate_pem = {};
  std::string key_pem = {};

  friend bool operator==(const KeyPair&, const KeyPair&) = default;
};

// What a certificate is for. Keys are ECDSA P-256.
struct CertificateRequest {
  std::string common_name = {};                 // For a client: the user.
  std::vector<std::string> organizations = {};  // For a client: its groups.
  std::vector<std::string> dns_names = {};
  std::vector<std::string> ip_addresses = {};
  std::chrono::hours valid_for = std::chrono::hours(24 * 365);
  bool client = false;  // Extended key usage: client, else server.
};

// A new self-signed CA.
Result<KeyPair> NewCertificateAuthority(const std::string& common_name, const Clock& clock,
                                        std::chrono::hours valid_for = std::chrono::hours(87'600));
// A new key and a certificate for it signed by `authority`.
Result<KeyPair> NewCertificate(const KeyPair& authority, const CertificateRequest& request,
                               const Clock& clock);

// When the first certificate of a chain ends. kInvalid: no certificate.
Result<Clock::Wall> ExpirationOf(const std::string& certificate_pem);

// A pair for clients that ask for one of these names.
struct SniKeyPair {
  KeyPair pair = {};
  // "x.example.com", "*.example.com", or an IP address, which is matched with the address that a
  // client that names no host has connected to. Empty: the certificate's names.
  std::vector<std::string> names = {};
};

// What a server offers in a handshake.
struct ServerTlsOptions {
  // IANA's names of suites of TLS 1.2, in order of preference; empty: all with forward secrecy and
  // authenticated encryption. Those of TLS 1.3 are always on and may be named.
  std::vector<std::string> cipher_suites = {};
  // "VersionTLS12" or "VersionTLS13"; empty: VersionTLS12.
  std::string min_version = {};
};

// A server's TLS settings: ALPN h2 and http/1.1, client certificates requested but not verified, no
// session resumption (it would outlive a change of the client authorities), no renegotiation.
// Shared by listeners; may be changed while connections are made: new handshakes use what is new,
// old connections go on.
class ServerTls {
 public:
  virtual ~ServerTls() = default;
  // kInvalid: not a matching pair; the old one stays.
  virtual Status Replace(const KeyPair& pair) = 0;
  // As Replace; the first of `sni` with a name that matches exactly, or else by a wildcard for the
  // first label, is used instead of `pair`. kInvalid: all stay as they were.
  virtual Status ReplaceAll(const KeyPair& pair, const std::vector<SniKeyPair>& sni) = 0;
  // Names these authorities (PEM) to clients, so that they choose the right certificate; looked at
  // on each handshake. What is no PEM is not used.
  virtual void OfferClientAuthorities(std::shared_ptr<const Source<std::string>> ca_pem) = 0;
  // The OpenSSL context of new handshakes; only a listener can look into it.
  class Context;
  virtual std::shared_ptr<const Context> context() const = 0;
};
// kInvalid: not a matching pair, or an unknown suite or version; the message names what is wrong.
Result<std::shared_ptr<ServerTls>> NewServerTls(const KeyPair& pair,
                                                const ServerTlsOptions& options = {});

// A client's TLS settings.
struct ClientTls {
  std::string ca_pem = {};  // Empty, without system_roots: the peer is not verified (tests).
  // Trusts the machine's authorities too (OpenSSL's default files, or SSL_CERT_FILE and
  // SSL_CERT_DIR).
  bool system_roots = false;
  std::string server_name = {};  // SNI and the name that is verified; empty: the host dialled.
  KeyPair client = {};           // Both empty: no client certificate.

  friend bool operator==(const ClientTls&, const ClientTls&) = default;
};

// kInvalid: `tls` has material that cannot be read or does not match.
Status CheckClientTls(const ClientTls& tls);

}  // namespace apiserver::inline v0::http
