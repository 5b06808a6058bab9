// Where a standalone server is reached, and how it is verified there.
#include "apiserver/server/standalone.h"

#include <catch2/catch.hpp>

#include "apiserver/base/sync.h"
#include "apiserver/client/client.h"
#include "apiserver/client/kubeconfig.h"
#include "apiserver/http/dialer.h"
#include "contains.h"

using apiserver::Context;
using apiserver::RealClock;
using apiserver::testing::Contains;
namespace client = apiserver::client;
namespace http = apiserver::http;
namespace server = apiserver::server;

namespace {

// Keeps the address that the server says it serves on.
class ServingLog final : public apiserver::LogSink {
 public:
  bool Enabled(apiserver::LogLevel) const override { return true; }
  void Write(apiserver::LogLevel, std::string_view message,
             std::span<const apiserver::LogField> fields) override {
    if (message == "serving") *address_.Lock() = fields[1].value;
  }
  std::string address() const { return *address_.Lock(); }

 private:
  apiserver::Guarded<std::string> address_;
};

struct Serving {
  explicit Serving(const server::StandaloneOptions& options) {
    standalone = server::NewStandalone(options).value();
    server::Config config;
    standalone.Apply(config);
    config.log = &log;
    api = std::move(*std::move(config).Complete()).New().value();
    REQUIRE(api->PrepareRun().ok());
    REQUIRE(api->Start().ok());
  }
  // The code that whoever has the kubeconfig gets, or why it gets none. `name`: the server that is
  // verified; empty: that of the kubeconfig.
  std::string Ask(const std::string& name = "") {
    const auto config = client::ReadKubeconfig(standalone.Kubeconfig(api->port())).value();
    const auto dialer = http::NewDialer();
    http::DialOptions options = client::DialOptionsFor(config).value();
    if (!name.empty()) options.tls->server_name = name;
    const auto connection = dialer->Dial(Context::Background(), options);
    if (!connection.ok()) return std::string(connection.status().message());
    return std::to_string(
        (*connection)->Call(Context::Background(), {.target = "/version"}).value().code);
  }

  ServingLog log;
  server::Standalone standalone;
  std::unique_ptr<server::GenericAPIServer> api;
};

// A pair that an authority of one's own has signed, as files.
struct OwnFiles {
  explicit OwnFiles(http::CertificateRequest request) {
    const auto authority = http::NewCertificateAuthority("own", RealClock()).value();
    const auto pair = http::NewCertificate(authority, request, RealClock()).value();
    chain = pair.certificate_pem + authority.certificate_pem;
    REQUIRE(files->WriteAtomically("a.crt", chain, 0600).ok());
    REQUIRE(files->WriteAtomically("a.key", pair.key_pem, 0600).ok());
  }
  server::StandaloneOptions Options() const {
    return {.tls_cert_file = "a.crt", .tls_key_file = "a.key", .file_system = files.get()};
  }

  std::unique_ptr<apiserver::FileSystem> files = apiserver::NewMemoryFileSystem();
  std::string chain;
};

}  // namespace

TEST_CASE("server: the kubeconfig names the address that the server listens on", "[server]") {
  struct Row {
    std::string address, url, listens;
  };
  for (const Row& row :
       {Row{"127.0.0.1", "https://127.0.0.1:", "127.0.0.1:"},
        Row{"127.0.0.2", "https://127.0.0.2:", "127.0.0.2:"},
        Row{"::1", "https://[::1]:", "[::1]:"}, Row{"0:0::1", "https://[::1]:", "[::1]:"},
        Row{"0.0.0.0", "https://127.0.0.1:", "0.0.0.0:"}, Row{"::", "https://[::1]:", "[::]:"}}) {
    CAPTURE(row.address);
    Serving serving({.address = row.address});
    const std::string port = std::to_string(serving.api->port());

    CHECK(serving.standalone.Url(serving.api->port()) == row.url + port);
    CHECK(Contains(serving.standalone.Kubeconfig(serving.api->port()),
                   "server: \"" + row.url + port + "\""));
    CHECK(serving.log.address() == row.listens + port);
    CHECK(serving.Ask() == "200");
  }
}

TEST_CASE("server: a certificate that is made has the names that are asked for", "[server]") {
  Serving serving(
      {.alternate_names = {"kubernetes.default"}, .alternate_ips = {"10.0.0.1", "fd00::1"}});
  CHECK(serving.Ask() == "200");
  for (const char* name : {"kubernetes.default", "10.0.0.1", "fd00::1", "localhost"}) {
    CAPTURE(name);
    CHECK(serving.Ask(name) == "200");
  }
  CHECK(serving.Ask("kubernetes") != "200");
}

TEST_CASE("server: an address that is none is refused with the flag and what to give", "[server]") {
  for (const char* address : {"foo", "", "localhost", "1.2.3.4.5", "[::1]", "unix:/tmp/x"}) {
    CHECK(server::NewStandalone({.address = address}).status().message() ==
          "--bind-address: \"" + std::string(address) +
              "\" is no IP address; give one of this machine's, e.g. 127.0.0.1 or ::1, or 0.0.0.0 "
              "for all");
  }
}

TEST_CASE("server: the kubeconfig holds what verifies a certificate of one's own", "[server]") {
  SECTION("for the address") {
    const OwnFiles own({.common_name = "a", .ip_addresses = {"127.0.0.1"}});
    Serving serving(own.Options());
    CHECK(serving.standalone.serving_ca_pem == own.chain);
    CHECK(serving.standalone.server_name.empty());
    CHECK(serving.Ask() == "200");
  }
  SECTION("for names: the first that is no wildcard is verified") {
    const OwnFiles own(
        {.common_name = "a", .dns_names = {"*.example.com", "api.example.com", "b.example.com"}});
    Serving serving(own.Options());
    CHECK(Contains(serving.standalone.Kubeconfig(1), "tls-server-name: \"api.example.com\""));
    CHECK(serving.standalone.unverifiable.empty());
    CHECK(serving.Ask() == "200");
  }
  SECTION("for neither: it says so") {
    const OwnFiles own({.common_name = "a", .dns_names = {"*.example.com"}});
    Serving serving(own.Options());
    CHECK(serving.standalone.unverifiable ==
          "--tls-cert-file: a.crt: the certificate is neither for 127.0.0.1 nor for a DNS name: "
          "clients cannot verify it; use one with such a name");
    CHECK(serving.Ask() != "200");
  }
}
