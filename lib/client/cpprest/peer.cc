#include "client/cpprest/peer.h"

#include <openssl/err.h>
#include <openssl/ssl3.h>
#include <openssl/x509v3.h>

#include <stdexcept>
#include <utility>

#include "base/status_macros.h"
#include "http/tls_context.h"

namespace apiserver::v0::client {
namespace {

// NOLINTNEXTLINE(readability-function-size): the parameters are OpenSSL's
void FreePeer(void* /*parent*/, void* data, CRYPTO_EX_DATA* /*all*/, int /*index*/, long /*argl*/,
              void* /*argp*/) {
  delete static_cast<std::shared_ptr<Peer>*>(data);
}

int PeerIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, FreePeer);
  return index;
}

Peer* PeerOf(const SSL* ssl) {
  auto* held =
      static_cast<std::shared_ptr<Peer>*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), PeerIndex()));
  return held != nullptr ? held->get() : nullptr;
}

void Require(int done, const char* what) {
  if (done != 1) throw std::runtime_error(what);
}

// Replaces cpprestsdk's callback, which checks the name that it connects to. A null one would leave
// that in place.
int AsVerified(int verified, X509_STORE_CTX* /*chain*/) { return verified; }

bool IsIp(const std::string& name) {
  ASN1_OCTET_STRING* ip = a2i_IPADDRESS(name.c_str());
  ASN1_OCTET_STRING_free(ip);
  return ip != nullptr;
}

}  // namespace

Result<std::shared_ptr<const TlsMaterial>> ReadTlsMaterial(const http::ClientTls& tls) {
  auto material = std::make_shared<TlsMaterial>();
  material->server_name = tls.server_name;
  if (!tls.ca_pem.empty()) {
    ASSIGN_OR_RETURN(const auto authorities, http::ReadCertificates(tls.ca_pem));
    material->authorities.reset(X509_STORE_new());
    for (const auto& authority : authorities) {
      X509_STORE_add_cert(material->authorities.get(), authority.get());
    }
  }
  if (tls.client.certificate_pem.empty() != tls.client.key_pem.empty()) {
    return Status(Reason::kInvalid, "tls: a client certificate and its key come together");
  }
  if (!tls.client.key_pem.empty()) {
    ASSIGN_OR_RETURN(material->chain, http::ReadCertificates(tls.client.certificate_pem));
    ASSIGN_OR_RETURN(material->key, http::ReadPrivateKey(tls.client.key_pem));
    if (X509_check_private_key(material->chain.front().get(), material->key.get()) != 1) {
      http::TakeSslError();
      return Status(Reason::kInvalid, "tls: private key does not match the client certificate");
    }
  }
  return std::shared_ptr<const TlsMaterial>(std::move(material));
}

void Peer::Prepare(const std::shared_ptr<Peer>& peer, SSL_CTX* context) {
  const TlsMaterial& material = *peer->material_;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_NO_AUTO_CHAIN);  // The chain is the configured one.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  if (material.authorities) SSL_CTX_set1_cert_store(context, material.authorities.get());
  if (!material.chain.empty()) {
    Require(SSL_CTX_use_certificate(context, material.chain.front().get()), "client certificate");
    for (std::size_t i = 1; i < material.chain.size(); ++i) {
      Require(static_cast<int>(SSL_CTX_add1_chain_cert(context, material.chain[i].get())),
              "client certificate chain");
    }
    Require(SSL_CTX_use_PrivateKey(context, material.key.get()), "client key");
  }
  auto held = std::make_unique<std::shared_ptr<Peer>>(peer);
  Require(SSL_CTX_set_ex_data(context, PeerIndex(), held.get()), "no room for a peer");
  held.release();  // NOLINT(bugprone-unused-return-value): FreePeer has it
  SSL_CTX_set_info_callback(context, &Peer::OnInfo);
  SSL_CTX_set_msg_callback(context, &Peer::OnMessage);
}

// cpprestsdk would verify the name that it connects to; another one can only be set here.
void Peer::Begin(SSL* ssl) const {
  const std::string& name = material_->server_name.empty() ? name_ : material_->server_name;
  X509_VERIFY_PARAM* verify = SSL_get0_param(ssl);
  X509_VERIFY_PARAM_set_hostflags(
      verify, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (IsIp(name)) {
    X509_VERIFY_PARAM_set1_ip_asc(verify, name.c_str());
  } else {
    X509_VERIFY_PARAM_set1_host(verify, name.data(), name.size());
    SSL_set_tlsext_host_name(ssl, name.c_str());
  }
  SSL_set_verify(ssl, SSL_VERIFY_PEER, AsVerified);
}

void Peer::OnInfo(const SSL* ssl, int where, int result) {
  Peer* peer = PeerOf(ssl);
  if (peer == nullptr) return;
  // Const by an oversight of the interface; nothing has been sent yet.
  if ((where & SSL_CB_HANDSHAKE_START) != 0) return peer->Begin(const_cast<SSL*>(ssl));
  if ((where & SSL_CB_ALERT) == 0 || (result & 0xff) == SSL_AD_CLOSE_NOTIFY) return;
  const long verified = SSL_get_verify_result(ssl);
  *peer->why_.Lock() = verified != X509_V_OK
                           ? X509_verify_cert_error_string(verified)
                           : std::string((where & SSL_CB_READ) != 0 ? "the server says: " : "") +
                                 SSL_alert_desc_string_long(result);
}

// NOLINTNEXTLINE(readability-function-size): the parameters are OpenSSL's
void Peer::OnMessage(int written, int /*version*/, int type, const void* bytes, std::size_t size,
                     SSL* ssl, void* /*argument*/) {
  if (written != 0 || type != SSL3_RT_HEADER || size < SSL3_RT_HEADER_LENGTH) return;
  const auto* header = static_cast<const unsigned char*>(bytes);
  if (Peer* peer = PeerOf(ssl)) peer->Count(std::size_t{header[3]} << 8 | header[4]);
}

void Peer::Allow(std::size_t bytes, UniqueFunction<void()> on_excess) {
  *on_excess_.Lock() = std::move(on_excess);
  *why_.Lock() = "";
  left_ = bytes;
}

void Peer::Count(std::size_t bytes) {
  const std::size_t left = left_;
  left_ = left - std::min(left, bytes);
  if (bytes <= left) return;
  UniqueFunction<void()> excess = std::exchange(*on_excess_.Lock(), nullptr);
  if (excess) excess();
}

}  // namespace apiserver::v0::client
