#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/http/tls.h"
#include "base/status_macros.h"
#include "http/asn1_time.h"
#include "http/pem.h"
#include "http/socket.h"
#include "http/tls_context.h"

namespace apiserver::v0::http {
namespace {

// Prefers HTTP/2, as Go's server does.
constexpr std::string_view kServerAlpn("\x02h2\x08http/1.1", 12);
// The order of crypto/tls. OpenSSL's own begins with AES-256, which takes a quarter more time.
constexpr char kDefaultCiphers[] = "ECDHE+AESGCM+AES128:ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr char kSuitesOfTls13[] =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

// NOLINTNEXTLINE(readability-function-size): the parameters are OpenSSL's
int SelectAlpn(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_size,
               const unsigned char* in, unsigned in_size, void* /*argument*/) {
  unsigned char* chosen = nullptr;
  const auto* ours = reinterpret_cast<const unsigned char*>(kServerAlpn.data());
  if (SSL_select_next_proto(&chosen, out_size, ours, kServerAlpn.size(), in, in_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// Accepts any certificate: TLS has proven that the peer holds its key, and authentication decides
// whose it is.
int AcceptAnyClient(int /*verified*/, X509_STORE_CTX* /*chain*/) { return 1; }

// NOLINTNEXTLINE(readability-function-size): the parameters are OpenSSL's
void OnTlsMessage(int written, int /*version*/, int type, const void* bytes, std::size_t size,
                  SSL* ssl, void* /*argument*/) {
  // Each request for new keys costs work here, and TLS 1.3 sets no limit for them.
  if (written != 0 || type != SSL3_RT_HANDSHAKE || size == 0) return;
  if (*static_cast<const unsigned char*>(bytes) == SSL3_MT_KEY_UPDATE) {
    Socket::Of(ssl).CountKeyUpdate();
  }
}

std::string LowerName(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return lower;
}

// The contexts of SniKeyPairs by name. Owned by the context that chooses among them, so that a
// change of certificates cannot take them from a handshake in progress.
using ByName = std::map<std::string, SslContext, std::less<>>;

// NOLINTNEXTLINE(readability-function-size): the parameters are OpenSSL's
void FreeByName(void* /*parent*/, void* by_name, CRYPTO_EX_DATA* /*data*/, int /*index*/,
                long /*number*/, void* /*pointer*/) {
  delete static_cast<ByName*>(by_name);
}

int ByNameIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, FreeByName);
  return index;
}

SSL_CTX* FindByName(const ByName& by_name, std::string_view name) {
  auto found = by_name.find(name);
  if (found == by_name.end()) {
    // A wildcard stands for the first label, as in crypto/tls.
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return nullptr;
    found = by_name.find("*" + std::string(name.substr(dot)));
  }
  return found == by_name.end() ? nullptr : found->second.get();
}

int OnServerName(SSL* ssl, int* /*alert*/, void* /*argument*/) {
  const auto* by_name =
      static_cast<const ByName*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), ByNameIndex()));
  if (by_name == nullptr) return SSL_TLSEXT_ERR_OK;
  const char* asked = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  // Clients that dial an IP address name no host.
  const std::string name = asked != nullptr ? LowerName(asked) : Socket::Of(ssl).LocalIp();
  if (SSL_CTX* chosen = FindByName(*by_name, name)) SSL_set_SSL_CTX(ssl, chosen);
  return SSL_TLSEXT_ERR_OK;
}

std::string TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

// Returns the subject's common name and the DNS names. IP addresses are left out, because clients
// cannot ask for them.
std::vector<std::string> NamesOf(X509* certificate) {
  std::vector<std::string> names;
  X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at >= 0) names.push_back(TextOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
  auto* others = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(others); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(others, i);
    if (name->type == GEN_DNS) names.push_back(TextOf(name->d.dNSName));
  }
  GENERAL_NAMES_free(others);
  return names;
}

// The checked settings that do not change while a server runs.
struct Settings {
  int min_version = TLS1_2_VERSION;
  std::string ciphers = kDefaultCiphers;  // In OpenSSL's words.
};

Result<Settings> ReadSettings(const ServerTlsOptions& options) {
  Settings settings;
  if (options.min_version == "VersionTLS13") {
    settings.min_version = TLS1_3_VERSION;
  } else if (!options.min_version.empty() && options.min_version != "VersionTLS12") {
    return Status(Reason::kInvalid, "tls: minimum version " + options.min_version +
                                        " is not one of VersionTLS12, VersionTLS13");
  }
  std::string ciphers;
  for (const std::string& suite : options.cipher_suites) {
    const std::string name = OPENSSL_cipher_name(suite.c_str());
    if (name == "(NONE)") {
      return Status(Reason::kInvalid, "tls: cipher suite " + suite +
                                          " is unknown; suites are named as by IANA, e.g. "
                                          "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
    }
    if (name.starts_with("TLS_")) continue;  // TLS 1.3 suites are always on.
    if (!name.starts_with("ECDHE-") ||
        (name.find("GCM") == std::string::npos && name.find("POLY1305") == std::string::npos)) {
      return Status(Reason::kInvalid, "tls: cipher suite " + suite +
                                          " is not safe; use one of ECDHE with AES GCM or "
                                          "CHACHA20 POLY1305");
    }
    ciphers += (ciphers.empty() ? "" : ":") + name;
  }
  if (!ciphers.empty()) settings.ciphers = ciphers;
  return settings;
}

Result<SslContext> NewServerContext(const KeyPair& pair, const Settings& settings,
                                    const std::vector<Certificate>& client_authorities) {
  ASSIGN_OR_RETURN(SslContext context, NewContext(TLS_server_method()));
  RETURN_IF_ERROR(UsePair(context.get(), pair));
  // As in crypto/tls, clients that name ChaCha20 first have no fast AES and are given that.
  SSL_CTX_set_options(context.get(), SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  if (SSL_CTX_set_ciphersuites(context.get(), kSuitesOfTls13) != 1 ||
      SSL_CTX_set_cipher_list(context.get(), settings.ciphers.c_str()) != 1 ||
      SSL_CTX_set_min_proto_version(context.get(), settings.min_version) != 1) {
    return SslError("tls: ciphers");
  }
  SSL_CTX_set_alpn_select_cb(context.get(), SelectAlpn, nullptr);
  // Asks for a certificate but does not demand one: most clients have other credentials.
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, AcceptAnyClient);
  SSL_CTX_set_msg_callback(context.get(), OnTlsMessage);
  for (const Certificate& authority : client_authorities) {
    if (SSL_CTX_add_client_CA(context.get(), authority.get()) != 1) {
      return SslError("tls: client authorities");
    }
  }
  return context;
}

Result<std::unique_ptr<ByName>> ContextsByName(const std::vector<SniKeyPair>& sni,
                                               const Settings& settings,
                                               const std::vector<Certificate>& authorities) {
  auto by_name = std::make_unique<ByName>();
  for (const SniKeyPair& each : sni) {
    ASSIGN_OR_RETURN(SslContext context, NewServerContext(each.pair, settings, authorities));
    std::vector<std::string> names = each.names;
    if (names.empty()) {
      ASSIGN_OR_RETURN(const auto chain, ReadCertificates(each.pair.certificate_pem));
      names = NamesOf(chain.front().get());
    }
    // The first that has a name keeps it.
    for (const std::string& name : names) by_name->try_emplace(LowerName(name), context);
  }
  return by_name;
}

class RealServerTls final : public ServerTls {
 public:
  explicit RealServerTls(Settings settings) : settings_(std::move(settings)) {}

  Status Replace(const KeyPair& pair) override {
    auto state = state_.Lock();
    return Use(*state, pair, state->sni, state->ca_pem);
  }

  Status ReplaceAll(const KeyPair& pair, const std::vector<SniKeyPair>& sni) override {
    auto state = state_.Lock();
    return Use(*state, pair, sni, state->ca_pem);
  }

  void OfferClientAuthorities(std::shared_ptr<const Source<std::string>> ca_pem) override {
    state_.Lock()->authorities = std::move(ca_pem);
  }

  std::shared_ptr<const Context> context() const override {
    auto state = state_.Lock();
    if (state->authorities) {
      auto now = state->authorities->Get();
      // Asked once about each state, whether it can be used or not.
      if (now != state->seen) {
        state->seen = now;
        (void)Use(*state, state->pair, state->sni, *now);
      }
    }
    return std::make_shared<const Context>(state->context);
  }

 private:
  struct State {
    KeyPair pair;
    std::vector<SniKeyPair> sni;
    std::string ca_pem;
    std::shared_ptr<const Source<std::string>> authorities;
    std::shared_ptr<const std::string> seen;
    SslContext context;
  };

  // Builds everything before it changes the state, so that bad material leaves the old in place.
  Status Use(State& state, const KeyPair& pair, const std::vector<SniKeyPair>& sni,
             const std::string& ca_pem) const {
    std::vector<Certificate> authorities;
    if (!ca_pem.empty()) {
      ASSIGN_OR_RETURN(authorities, ReadCertificates(ca_pem));
    }
    ASSIGN_OR_RETURN(SslContext context, NewServerContext(pair, settings_, authorities));
    ASSIGN_OR_RETURN(auto by_name, ContextsByName(sni, settings_, authorities));
    if (!by_name->empty()) {
      if (SSL_CTX_set_ex_data(context.get(), ByNameIndex(), by_name.get()) != 1) {
        return SslError("tls: names");
      }
      (void)by_name.release();  // NOLINT(bugprone-unused-return-value): FreeByName deletes it
      SSL_CTX_set_tlsext_servername_callback(context.get(), OnServerName);
    }
    state.pair = pair;
    state.sni = sni;
    state.ca_pem = ca_pem;
    state.context = std::move(context);
    return Status::Ok();
  }

  const Settings settings_;
  mutable Guarded<State> state_;
};

}  // namespace

Result<Clock::Wall> ExpirationOf(const std::string& certificate_pem) {
  ASSIGN_OR_RETURN(const auto chain, ReadCertificates(certificate_pem));
  Clock::Wall first = Clock::Wall::max();
  for (const Certificate& certificate : chain) {
    first = std::min(first, WallOf(X509_get0_notAfter(certificate.get())));
  }
  return first;
}

Result<std::shared_ptr<ServerTls>> NewServerTls(const KeyPair& pair,
                                                const ServerTlsOptions& options) {
  ASSIGN_OR_RETURN(Settings settings, ReadSettings(options));
  auto tls = std::make_shared<RealServerTls>(std::move(settings));
  RETURN_IF_ERROR(tls->Replace(pair));
  return std::shared_ptr<ServerTls>(std::move(tls));
}

}  // namespace apiserver::v0::http
