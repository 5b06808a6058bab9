// Certificates that come from files.
#include <catch2/catch.hpp>

#include "apiserver/server/certificate_files.h"
#include "apiserver/server/standalone.h"
#include "filter_fixture.h"
#include "widget_server.h"

using apiserver::Context;
using apiserver::RealClock;
using apiserver::Reason;
using apiserver::testing::Contains;
namespace http = apiserver::http;
namespace server = apiserver::server;

namespace {

constexpr auto kPatience = std::chrono::seconds(60);

// Authorities and the pairs they sign, as files.
struct Files {
  Files() {
    REQUIRE(files->MakeDirectories("/pki", 0700).ok());
    Write("a", "localhost");
  }

  void Write(const std::string& name, const std::string& host) const {
    const auto pair =
        http::NewCertificate(authority, {.common_name = host, .dns_names = {host}}, RealClock())
            .value();
    Put(name + ".crt", pair.certificate_pem);
    Put(name + ".key", pair.key_pem);
  }
  void Put(const std::string& name, const std::string& text) const {
    REQUIRE(files->WriteAtomically("/pki/" + name, text, 0600).ok());
  }
  server::CertificateFiles Config() const {
    return {.cert_file = "/pki/a.crt",
            .key_file = "/pki/a.key",
            .period = std::chrono::milliseconds(5),
            .file_system = files.get()};
  }

  std::unique_ptr<apiserver::FileSystem> files = apiserver::NewMemoryFileSystem();
  http::KeyPair authority = http::NewCertificateAuthority("ca", RealClock()).value();
};

std::unique_ptr<server::GenericAPIServer> Serve(const server::CertificateFiles& certificates) {
  server::Config config;
  config.authenticator = std::make_shared<const apiserver::testing::Anybody>();
  config.serving.emplace();
  config.certificates = certificates;
  auto api = std::move(*std::move(config).Complete()).New().value();
  REQUIRE(api->PrepareRun().ok());
  REQUIRE(api->Start().ok());
  return api;
}

// Whether a client that trusts `files` and wants `name` is answered.
bool Answers(const Files& files, server::GenericAPIServer& api, const std::string& name) {
  const auto dialer = http::NewDialer();
  const auto connection = dialer->Dial(
      Context::Background(),
      {.port = api.port(),
       .tls = http::ClientTls{.ca_pem = files.authority.certificate_pem, .server_name = name}});
  return connection.ok() &&
         (*connection)->Call(Context::Background(), {.target = "/healthz"})->code == 200;
}

bool AnswersSoon(const Files& files, server::GenericAPIServer& api, const std::string& name) {
  const auto until = RealClock().Now() + kPatience;
  while (RealClock().Now() < until) {
    if (Answers(files, api, name)) return true;
  }
  return false;
}

std::string Scrape(server::GenericAPIServer& api) {
  return api.LoopbackConnection()->Call(Context::Background(), {.target = "/metrics"})->body;
}

}  // namespace

TEST_CASE("server: certificates are taken from their files again when those change", "[server]") {
  const Files files;
  const auto api = Serve(files.Config());
  const auto dialer = http::NewDialer();
  const auto old = dialer
                       ->Dial(Context::Background(),
                              {.port = api->port(),
                               .tls = http::ClientTls{.ca_pem = files.authority.certificate_pem,
                                                      .server_name = "localhost"}})
                       .value();
  REQUIRE(old->Call(Context::Background(), {.target = "/healthz"})->code == 200);
  CHECK(Contains(Scrape(*api),
                 "apiserver_serving_certificate_expiration_timestamp_seconds{file="
                 "\"/pki/a.crt\"}"));

  // Half of a change: the key does not fit yet, so the old pair stays.
  const auto next =
      http::NewCertificate(files.authority, {.common_name = "b", .dns_names = {"b.example.com"}},
                           RealClock())
          .value();
  files.Put("a.crt", next.certificate_pem);
  CHECK(Answers(files, *api, "localhost"));
  files.Put("a.key", next.key_pem);

  CHECK(AnswersSoon(files, *api, "b.example.com"));
  CHECK_FALSE(Answers(files, *api, "localhost"));
  // The old connection goes on.
  CHECK_FALSE(old->closed());
  CHECK(old->Call(Context::Background(), {.target = "/healthz"})->code == 200);
  // The two who were disappointed are counted.
  CHECK(Contains(Scrape(*api), "apiserver_tls_handshake_errors_total"));
  CHECK_FALSE(Contains(Scrape(*api), "apiserver_tls_handshake_errors_total 0\n"));
}

TEST_CASE("server: SNI certificates follow their files too", "[server]") {
  const Files files;
  files.Write("sni", "one.example.com");
  auto config = files.Config();
  config.sni = {server::ParseSniCertificateFiles("/pki/sni.crt,/pki/sni.key").value()};
  const auto api = Serve(config);
  REQUIRE(Answers(files, *api, "one.example.com"));
  REQUIRE(Answers(files, *api, "localhost"));

  files.Write("sni", "two.example.com");

  CHECK(AnswersSoon(files, *api, "two.example.com"));
  CHECK_FALSE(Answers(files, *api, "one.example.com"));
}

// TestNamedCertKeyArrayFlag of component-base/cli/flag
TEST_CASE("server: a pair of files and its names are read from a flag", "[server]") {
  const auto plain = server::ParseSniCertificateFiles("foo.crt,foo.key");
  const auto named = server::ParseSniCertificateFiles("foo.crt,foo.key:bar,*.bar");

  REQUIRE(plain.ok());
  CHECK(plain->cert_file == "foo.crt");
  CHECK(plain->key_file == "foo.key");
  CHECK(plain->names.empty());
  REQUIRE(named.ok());
  CHECK(named->key_file == "foo.key");
  CHECK(named->names == std::vector<std::string>{"bar", "*.bar"});
  for (const char* wrong : {"", "foo.crt", "foo.crt,", ",foo.key", "a,b,c", "foo.crt,foo.key:"}) {
    INFO(wrong);
    CHECK(server::ParseSniCertificateFiles(wrong).status().reason() == Reason::kInvalid);
  }
}

TEST_CASE("server: a certificate that cannot be used stops the start with flag and file",
          "[server]") {
  struct Case {
    std::string expected;
    std::function<void(const Files&, server::Config&)> change;
  };
  const auto test = GENERATE(values<Case>({
      {"--tls-cert-file: ",
       [](const Files& files, server::Config&) { (void)files.files->Remove("/pki/a.crt"); }},
      {"--tls-private-key-file: ",
       [](const Files& files, server::Config&) { (void)files.files->Remove("/pki/a.key"); }},
      {"--tls-cert-file and --tls-private-key-file go together",
       [](const Files&, server::Config& config) { config.certificates.key_file.clear(); }},
      {"--tls-cert-file: /pki/a.crt, /pki/a.key: tls: no certificate in PEM text",
       [](const Files& files, server::Config&) { files.Put("a.crt", "not PEM"); }},
      {"--tls-sni-cert-key: /pki/a.crt, /pki/b.key: tls: private key does not match",
       [](const Files& files, server::Config& config) {
         files.Write("b", "b");
         config.certificates.sni = {{.cert_file = "/pki/a.crt", .key_file = "/pki/b.key"}};
       }},
      {"cipher suite TLS_NONSENSE is unknown",
       [](const Files&, server::Config& config) { config.tls.cipher_suites = {"TLS_NONSENSE"}; }},
      {"cipher suite TLS_RSA_WITH_AES_128_CBC_SHA is not safe",
       [](const Files&, server::Config& config) {
         config.tls.cipher_suites = {"TLS_RSA_WITH_AES_128_CBC_SHA"};
       }},
      {"minimum version VersionTLS10 is not one of VersionTLS12, VersionTLS13",
       [](const Files&, server::Config& config) { config.tls.min_version = "VersionTLS10"; }},
  }));
  const Files files;
  server::Config config;
  config.authenticator = std::make_shared<const apiserver::testing::Anybody>();
  config.serving.emplace();
  config.certificates = files.Config();
  test.change(files, config);

  const auto status = std::move(config).Complete().status();

  CHECK_FALSE(status.ok());
  CHECK(Contains(std::string(status.message()), test.expected));
}
