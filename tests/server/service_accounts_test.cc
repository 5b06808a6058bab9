// Service accounts' tokens as flags set them up, and what the server says of their issuer.
#include "apiserver/server/service_accounts.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/testing/server/test_server.h"

namespace {

namespace authn = apiserver::authn;
namespace server = apiserver::server;
using apiserver::Reason;
using apiserver::Status;
using Lines = std::vector<std::string>;

const std::string& PublicKey() {
  static const std::string pem = [] {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
        EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), EVP_PKEY_free);
    const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_PUBKEY(bio.get(), key.get());
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &text);
    return std::string(text, static_cast<std::size_t>(size));
  }();
  return pem;
}

// Files by name: `good.pem`, `bad.pem`.
struct KeyFiles {
  KeyFiles() {
    REQUIRE(memory->WriteAtomically("good.pem", PublicKey(), 0600).ok());
    REQUIRE(memory->WriteAtomically("bad.pem", "no key", 0600).ok());
  }
  server::ServiceAccountOptions Options() const {
    return {.key_files = {"good.pem"},
            .issuers = {"https://issuer"},
            .lookup = false,
            .file_system = memory.get()};
  }
  std::string ErrorOf(const server::ServiceAccountOptions& options) const {
    const auto made = server::NewServiceAccountAuthentication(options);
    CHECK(made.status().reason() == Reason::kInvalid);
    return std::string(made.status().message());
  }
  std::unique_ptr<apiserver::FileSystem> memory = apiserver::NewMemoryFileSystem();
};

}  // namespace

// pkg/kubeapiserver/options/authentication_test.go TestAuthenticationValidate, its rows on service
// accounts.
TEST_CASE("server: flags of service accounts are checked in kube-apiserver's words", "[server]") {
  struct Row {
    server::ServiceAccountOptions options;
    Lines errors;
  };
  const Lines key = {"k.pem"};
  const std::string bar = "http://foo.bar.com";
  const Row rows[] = {
      {{.key_files = key, .issuers = {bar}}, {}},
      {{.key_files = key, .issuers = {bar}, .jwks_uri = "https://qux.com"}, {}},
      {{.issuers = {bar}}, {"service-account-key-file is a required flag"}},
      {{.key_files = key}, {"service-account-issuer is a required flag"}},
      {{.key_files = key, .issuers = {""}},
       {"service-account-issuer should not be an empty string"}},
      {{.key_files = key, .issuers = {bar, bar}},
       {"service-account-issuer \"http://foo.bar.com\" is already specified"}},
      {{.key_files = key, .issuers = {"http://[::1]:namedport"}},
       {"service-account-issuer \"http://[::1]:namedport\" contained a ':' but was not a valid "
        "URL: parse \"http://[::1]:namedport\": invalid port \":namedport\" after host"}},
      {{.key_files = key, .issuers = {bar}, .jwks_uri = "https://host:port"},
       {"service-account-jwks-uri must be a valid URL: parse \"https://host:port\": invalid port "
        "\":port\" after host"}},
      {{.key_files = key, .issuers = {bar}, .jwks_uri = "http://baz.com"},
       {"service-account-jwks-uri requires https scheme, parsed as: http://baz.com"}},
      {{},
       {"service-account-issuer is a required flag",
        "service-account-key-file is a required flag"}},
  };
  for (const Row& row : rows) {
    CHECK(server::ValidateServiceAccountOptions(row.options) == row.errors);
  }
}

TEST_CASE("server: a key file of service accounts that cannot be used is named", "[server]") {
  const KeyFiles files;
  server::ServiceAccountOptions options = files.Options();
  options.key_files = {"good.pem", "gone.pem"};
  CHECK(files.ErrorOf(options).starts_with("--service-account-key-file: gone.pem: cannot be read"));
  options.key_files = {"good.pem", "bad.pem"};
  const std::string bad = files.ErrorOf(options);
  CHECK(bad.starts_with("--service-account-key-file: bad.pem: "));
  CHECK(bad.ends_with("; give PEM of RSA or EC keys, public or private"));
  CHECK(bad.find('\n') == std::string::npos);
  options = files.Options();
  options.lookup = true;
  CHECK(files.ErrorOf(options).starts_with("service-account-lookup needs"));
}

TEST_CASE("server: tokens are for the issuers unless told otherwise", "[server]") {
  const KeyFiles files;
  server::ServiceAccountOptions options = files.Options();
  options.issuers = {"https://issuer", "https://issuer-before"};

  CHECK(server::NewServiceAccountAuthentication(options)->api_audiences == options.issuers);
  options.api_audiences = {"api"};
  CHECK(server::NewServiceAccountAuthentication(options)->api_audiences == Lines{"api"});
  CHECK(server::NewServiceAccountAuthentication(options)->issuer == "https://issuer");
}

// openidmetadata_test.go TestServeConfiguration, TestServeKeys, TestURLBoundaries.
TEST_CASE("server: an issuer's metadata are served as they are, for caches to keep", "[server]") {
  const KeyFiles files;
  const auto made = server::NewServiceAccountAuthentication(files.Options());
  REQUIRE(made.status() == Status());
  const auto metadata = made->Metadata("192.0.2.1:6443");
  REQUIRE(metadata.status() == Status());
  const auto api = std::move(apiserver::testing::StartTestServer({})).value();
  REQUIRE(server::ServeOpenIDMetadata(api->server(), *metadata).ok());

  const auto config = api->Call("GET", "/.well-known/openid-configuration");
  const auto keys = api->Call("GET", "/openid/v1/jwks");

  CHECK(config.code == 200);
  CHECK(config.headers.Get("Content-Type") == "application/json");
  CHECK(config.headers.Get("Cache-Control") == "public, max-age=3600");
  CHECK(config.body == metadata->config_json);
  CHECK(keys.code == 200);
  CHECK(keys.headers.Get("Content-Type") == "application/jwk-set+json");
  CHECK(keys.headers.Get("Cache-Control") == "public, max-age=3600");
  CHECK(keys.body == metadata->keyset_json);
  CHECK(api->Call("GET", "/openid/v1/jwks?format=yaml").code == 200);
  CHECK(api->Call("GET", "/.well-known").code == 404);
  CHECK(api->Call("GET", "/openid/v1/jwks/foo").code == 404);
  CHECK(api->Call("POST", "/openid/v1/jwks").code == 405);
  CHECK(server::ServeOpenIDMetadata(api->server(), *metadata).reason() == Reason::kConflict);
}

TEST_CASE("server: an issuer that is no https URL has no metadata, but its tokens", "[server]") {
  const KeyFiles files;
  server::ServiceAccountOptions options = files.Options();
  options.issuers = {"kubernetes"};

  const auto made = server::NewServiceAccountAuthentication(options);

  REQUIRE(made.status() == Status());
  CHECK(made->Metadata("192.0.2.1:6443").status().message() ==
        "issuer URL must use https scheme, got: kubernetes");
}
