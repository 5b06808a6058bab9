#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0::http {

// A certificate (chain) and its private key, PEM.
struct KeyPair {
  std::string certificate_pem = {};
  std::string key_pem = {};
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

// A server's TLS settings: TLS 1.2 at least, ALPN h2 and http/1.1, client certificates requested
// but not verified. Shared by listeners; Replace() may be called while connections are made.
class ServerTls {
 public:
  virtual ~ServerTls() = default;
  // New handshakes use `pair`; old connections go on. kInvalid: not a matching pair.
  virtual Status Replace(const KeyPair& pair) = 0;
};
// kInvalid: not a matching pair; the message names what is wrong.
Result<std::shared_ptr<ServerTls>> NewServerTls(const KeyPair& pair);

// A client's TLS settings.
struct ClientTls {
  std::string ca_pem = {};       // Empty: the peer is not verified (tests).
  std::string server_name = {};  // SNI and the name that is verified; empty: the host dialled.
  KeyPair client = {};           // Both empty: no client certificate.
};

}  // namespace apiserver::inline v0::http
