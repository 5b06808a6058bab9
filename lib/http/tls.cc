#include "apiserver/http/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <string_view>
#include <utility>

#include "apiserver/base/sync.h"
#include "base/status_macros.h"
#include "http/pem.h"
#include "http/tls_context.h"
#include "http/tls_library.h"

namespace apiserver::v0::http {
namespace {

constexpr std::string_view kAlpnBoth("\x02h2\x08http/1.1", 12);
constexpr std::string_view kAlpnHttp1("\x08http/1.1", 9);

}  // namespace

Status SslError(const std::string& what) {
  const std::string why = TakeSslError();
  return Status(Reason::kInvalid, why.empty() ? what : what + ": " + why);
}

Result<SslContext> NewContext(const SSL_METHOD* method) {
  SslContext context(SSL_CTX_new_ex(TlsLibrary(), nullptr, method), SSL_CTX_free);
  if (!context) return SslError("tls: no context");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Idle connections keep no buffers, and writes may be cut and moved. Reading ahead makes one
  // system call of a record's header and body.
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_read_ahead(context.get(), 1);
  // A resumed session would outlive a change of the client authorities. Renegotiation only serves
  // to overload servers.
  SSL_CTX_set_options(context.get(),
                      SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  return context;
}

Status UsePair(SSL_CTX* context, const KeyPair& pair) {
  ASSIGN_OR_RETURN(const auto chain, ReadCertificates(pair.certificate_pem));
  ASSIGN_OR_RETURN(const auto key, ReadPrivateKey(pair.key_pem));
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1) {
    return SslError("tls: certificate cannot be used");
  }
  for (std::size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) {
      return SslError("tls: certificate chain cannot be used");
    }
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return SslError("tls: private key does not match the certificate");
  }
  return Status::Ok();
}

// The first error of the queue is the cause; those after it say where it passed through.
std::string TakeSslError() {
  std::string text;
  while (const unsigned long code = ERR_get_error()) {
    if (!text.empty()) continue;
    const char* reason = ERR_reason_error_string(code);
    text = reason != nullptr ? reason : "error " + std::to_string(code);
  }
  return text;
}

// Building a context and dropping it is the only check that agrees with what a dial will do.
Status CheckClientTls(const ClientTls& tls) { return NewClientContext(tls, true).status(); }

Result<SslContext> NewClientContext(const ClientTls& tls, bool http2) {
  ASSIGN_OR_RETURN(SslContext context, NewContext(TLS_client_method()));
  if (tls.client.certificate_pem.empty() != tls.client.key_pem.empty()) {
    return Status(Reason::kInvalid, "tls: a client certificate and its key come together");
  }
  if (!tls.client.certificate_pem.empty()) RETURN_IF_ERROR(UsePair(context.get(), tls.client));
  if (tls.system_roots) {
    SSL_CTX_set_default_verify_paths(context.get());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  }
  if (!tls.ca_pem.empty()) {
    ASSIGN_OR_RETURN(const auto authorities, ReadCertificates(tls.ca_pem));
    for (const auto& authority : authorities) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority.get());
    }
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  }
  const std::string_view alpn = http2 ? kAlpnBoth : kAlpnHttp1;
  SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(alpn.data()),
                          static_cast<unsigned>(alpn.size()));
  return context;
}

}  // namespace apiserver::v0::http
