// TLS of this library with that of OpenSSL's default library context, without sockets.
#include "http/tls_library.h"

#include <openssl/core_dispatch.h>
#include <openssl/err.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "http/tls_context.h"
#include "support.h"

namespace http_test {
namespace {

using apiserver::http::HasOwnProvidersOnly;
using apiserver::http::SslContext;
using apiserver::http::TlsLibrary;

std::string ProviderOf(OSSL_LIB_CTX* library, const char* cipher_name) {
  const std::unique_ptr<EVP_CIPHER, void (*)(EVP_CIPHER*)> cipher(
      EVP_CIPHER_fetch(library, cipher_name, nullptr), EVP_CIPHER_free);
  return OSSL_PROVIDER_get0_name(EVP_CIPHER_get0_provider(cipher.get()));
}

// Two ends of a connection, each with a buffer that the other one reads.
struct TlsEnds {
  TlsEnds(SSL_CTX* server_context, SSL_CTX* client_context)
      : server(SSL_new(server_context)), client(SSL_new(client_context)) {
    BIO* to_server = BIO_new(BIO_s_mem());
    BIO* to_client = BIO_new(BIO_s_mem());
    BIO_up_ref(to_server);
    BIO_up_ref(to_client);
    SSL_set_bio(server, to_server, to_client);
    SSL_set_bio(client, to_client, to_server);
    SSL_set_accept_state(server);
    SSL_set_connect_state(client);
  }
  ~TlsEnds() {
    SSL_free(server);
    SSL_free(client);
  }
  TlsEnds(const TlsEnds&) = delete;
  TlsEnds& operator=(const TlsEnds&) = delete;

  bool Handshake() {
    for (int i = 0; i < 6; ++i) {
      SSL_do_handshake(client);
      SSL_do_handshake(server);
    }
    return SSL_is_init_finished(client) == 1 && SSL_is_init_finished(server) == 1;
  }

  SSL* server;
  SSL* client;
};

// Returns what the other end reads of `text`.
std::string SentBetween(SSL* from, SSL* to, const std::string& text) {
  std::string got(text.size(), '\0');
  std::size_t sent = 0, at = 0, count = 0;
  while (sent < text.size()) {
    if (SSL_write_ex(from, text.data() + sent, text.size() - sent, &count) != 1) break;
    sent += count;
  }
  while (at < sent && SSL_read_ex(to, got.data() + at, got.size() - at, &count) == 1) at += count;
  got.resize(at);
  return got;
}

struct TlsSuite {
  int version;
  const char* name;
};

void Restrict(SSL_CTX* context, const TlsSuite& suite) {
  REQUIRE(SSL_CTX_set_min_proto_version(context, suite.version) == 1);
  REQUIRE(SSL_CTX_set_max_proto_version(context, suite.version) == 1);
  REQUIRE((suite.version == TLS1_3_VERSION ? SSL_CTX_set_ciphersuites(context, suite.name)
                                           : SSL_CTX_set_cipher_list(context, suite.name)) == 1);
}

SslContext Ours(const SSL_METHOD* method) {
  SslContext context = apiserver::http::NewContext(method).value();
  if (method == TLS_server_method()) {
    REQUIRE(apiserver::http::UsePair(context.get(), Pki().server).ok());
  }
  return context;
}

SslContext OpenSsls(const SSL_METHOD* method) {
  SslContext context(SSL_CTX_new(method), SSL_CTX_free);
  if (method == TLS_server_method()) {
    REQUIRE(apiserver::http::UsePair(context.get(), Pki().server).ok());
  }
  return context;
}

TlsSuite AnySuite() {
  return GENERATE(TlsSuite{TLS1_3_VERSION, "TLS_AES_128_GCM_SHA256"},
                  TlsSuite{TLS1_3_VERSION, "TLS_AES_256_GCM_SHA384"},
                  TlsSuite{TLS1_3_VERSION, "TLS_CHACHA20_POLY1305_SHA256"},
                  TlsSuite{TLS1_2_VERSION, "ECDHE-ECDSA-AES128-GCM-SHA256"},
                  TlsSuite{TLS1_2_VERSION, "ECDHE-ECDSA-AES256-GCM-SHA384"},
                  TlsSuite{TLS1_2_VERSION, "ECDHE-ECDSA-CHACHA20-POLY1305"});
}

TEST_CASE("http: TLS has a faster AES-GCM, and the host does not see it", "[http]") {
  for (const char* name : {"AES-128-GCM", "id-aes256-GCM"}) {
    CHECK(ProviderOf(nullptr, name) == "default");
    if (TlsLibrary() == nullptr) continue;
    CHECK(ProviderOf(TlsLibrary(), name) == "libapiserver");
  }
  if (TlsLibrary() == nullptr) WARN("TLS uses OpenSSL's own ciphers here");
  CHECK(ERR_peek_error() == 0);
}

TEST_CASE("http: TLS of each suite agrees with OpenSSL's own at the other end", "[http]") {
  const TlsSuite suite = AnySuite();
  const bool serves = GENERATE(true, false);
  const SslContext server = serves ? Ours(TLS_server_method()) : OpenSsls(TLS_server_method());
  const SslContext client = serves ? OpenSsls(TLS_client_method()) : Ours(TLS_client_method());
  Restrict(server.get(), suite);
  Restrict(client.get(), suite);
  TlsEnds ends(server.get(), client.get());
  CAPTURE(suite.name, serves);

  REQUIRE(ends.Handshake());

  CHECK(SSL_get_cipher_name(ends.client) == std::string(suite.name));
  std::string text;
  for (const std::size_t size : {1U, 15U, 16U, 17U, 100U, 1024U, 16384U, 16385U, 50000U}) {
    CAPTURE(size);
    for (std::size_t i = 0; text.size() < size; ++i) text += static_cast<char>(i * 31 + size);
    CHECK(SentBetween(ends.server, ends.client, text) == text);
    CHECK(SentBetween(ends.client, ends.server, text) == text);
  }
}

TEST_CASE("http: TLS of each suite refuses a record that was changed on its way", "[http]") {
  const TlsSuite suite = AnySuite();
  const SslContext server = Ours(TLS_server_method());
  const SslContext client = OpenSsls(TLS_client_method());
  Restrict(server.get(), suite);
  Restrict(client.get(), suite);
  TlsEnds ends(server.get(), client.get());
  REQUIRE(ends.Handshake());
  REQUIRE(SSL_write(ends.client, "hello", 5) == 5);
  char* record = nullptr;
  const long size = BIO_get_mem_data(SSL_get_wbio(ends.client), &record);
  REQUIRE(size > 10);
  record[size - 1] ^= 1;

  char got[16];
  const int count = SSL_read(ends.server, got, sizeof(got));

  CHECK(count <= 0);
  CHECK(SSL_get_error(ends.server, count) == SSL_ERROR_SSL);
}

int StartNothing(const OSSL_CORE_HANDLE* /*handle*/, const OSSL_DISPATCH* /*core*/,
                 const OSSL_DISPATCH** functions, void** /*context*/) {
  static const OSSL_DISPATCH none[] = {{0, nullptr}};
  *functions = none;
  return 1;
}

using Provider = std::unique_ptr<OSSL_PROVIDER, int (*)(OSSL_PROVIDER*)>;

Provider Load(OSSL_LIB_CTX* library, const char* name) {
  Provider provider(OSSL_PROVIDER_load(library, name), OSSL_PROVIDER_unload);
  REQUIRE(provider);
  return provider;
}

TEST_CASE("http: TLS leaves ciphers to providers that a host has chosen", "[http]") {
  using Library = std::unique_ptr<OSSL_LIB_CTX, void (*)(OSSL_LIB_CTX*)>;
  const Library library(OSSL_LIB_CTX_new(), OSSL_LIB_CTX_free);
  CHECK(HasOwnProvidersOnly(library.get()));
  const Provider standard = Load(library.get(), "default");
  CHECK(HasOwnProvidersOnly(library.get()));

  REQUIRE(OSSL_PROVIDER_add_builtin(library.get(), "card", StartNothing) == 1);
  const Provider card = Load(library.get(), "card");

  CHECK_FALSE(HasOwnProvidersOnly(library.get()));
  const Library without_default(OSSL_LIB_CTX_new(), OSSL_LIB_CTX_free);
  const Provider base = Load(without_default.get(), "base");
  CHECK_FALSE(HasOwnProvidersOnly(without_default.get()));
  const Library fips(OSSL_LIB_CTX_new(), OSSL_LIB_CTX_free);
  REQUIRE(EVP_default_properties_enable_fips(fips.get(), 1) == 1);
  CHECK_FALSE(HasOwnProvidersOnly(fips.get()));
}

}  // namespace
}  // namespace http_test
