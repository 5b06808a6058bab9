#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/auth/authenticator.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/http/message.h"
#include "authn/identity_cache.h"

// Verifies client certificates for both uses: those of users (x509.cc) and those of front proxies
// (request_header.cc).
namespace apiserver::inline v0::authn {

// The parsed bundle; defined in the .cc, which alone knows OpenSSL.
struct Authorities;

// The contents of a verified certificate.
struct ClientCertificate {
  std::string common_name;  // The last one counts, as in Go; may be empty.
  // nullopt: the certificate has no common name and so no user.
  Result<std::optional<auth::AuthenticateResponse>> user;
};

// Longer chains and larger certificates are refused unread: the input of an unknown client must not
// cost much.
inline constexpr std::size_t kChainCertificatesMax = 16;
inline constexpr std::size_t kCertificateBytesMax = 32 << 10;

// Verifies the client certificates of requests against a bundle that may change. A result is kept
// per connection until the bundle changes, a certificate of the chain expires, or, for a
// refusal, ten seconds have passed. Any thread.
class ClientCertificates {
 public:
  struct Options {
    std::shared_ptr<const Source<std::string>> ca;  // Required; PEM.
    const Clock* clock;
    std::size_t connections_max;
    // Gets the remaining life of each request's certificate in seconds. Null: not observed.
    metrics::Histogram* expiration = nullptr;
  };
  explicit ClientCertificates(Options options);
  ~ClientCertificates();

  // Null: the request has no certificate, or no authority is configured. kUnauthorized: its
  // certificate is not trusted.
  Result<std::shared_ptr<const ClientCertificate>> Verify(const http::Request& request) const;

 private:
  struct Finding;
  struct Parsed {
    std::shared_ptr<const std::string> pem;  // The bundle that was read last.
    std::shared_ptr<const Authorities> authorities;
  };

  std::shared_ptr<const Authorities> Current() const;
  std::shared_ptr<const Finding> Find(const std::shared_ptr<const http::PeerCertificates>& peer,
                                      std::shared_ptr<const Authorities> authorities,
                                      Clock::Wall now) const;

  const Options options_;
  mutable Guarded<Parsed> parsed_;
  mutable IdentityCache<http::PeerCertificates, std::shared_ptr<const Finding>> findings_;
};

// kInvalid: `pem` holds no certificate, or one that cannot be read.
Status CheckBundle(const std::string& pem);

}  // namespace apiserver::inline v0::authn
