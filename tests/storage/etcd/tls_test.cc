#include <stdlib.h>

#include <filesystem>

#include "apiserver/base/file_system.h"
#include "apiserver/http/tls.h"
#include "apiserver/storage/etcd/inspection.h"
#include "storage/etcd/fixture.h"

namespace apiserver::inline v0::storage::etcd {
namespace {

// An authority, a server's and a client's certificate, in files.
class Pki {
 public:
  Pki() {
    std::string name = std::filesystem::temp_directory_path() / "apiserver-etcd-pki-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
    const auto ca = Must(http::NewCertificateAuthority("etcd-ca", RealClock()));
    Write("ca", ca);
    Write("other", Must(http::NewCertificateAuthority("other-ca", RealClock())));
    Write("server",
          Must(http::NewCertificate(
              ca,
              {.common_name = "etcd", .dns_names = {"etcd.example"}, .ip_addresses = {"127.0.0.1"}},
              RealClock())));
    Write("client", Must(http::NewCertificate(ca, {.common_name = "apiserver", .client = true},
                                              RealClock())));
  }
  ~Pki() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string Certificate(const std::string& name) const { return path_ + "/" + name + ".crt"; }
  std::string Key(const std::string& name) const { return path_ + "/" + name + ".key"; }
  EtcdServerOptions Server() const {
    return {.arguments = {},
            .cert_file = Certificate("server"),
            .key_file = Key("server"),
            .ca_file = Certificate("ca")};
  }

 private:
  void Write(const std::string& name, const http::KeyPair& pair) {
    REQUIRE(RealFileSystem().WriteAtomically(Certificate(name), pair.certificate_pem, 0600).ok());
    REQUIRE(RealFileSystem().WriteAtomically(Key(name), pair.key_pem, 0600).ok());
  }
  std::string path_;
};

Options With(const Pki& pki, const EtcdServer& server) {
  auto options = OptionsFor(server.urls());
  options.dial_timeout = std::chrono::milliseconds(1500);
  options.ca_file = pki.Certificate("ca");
  options.cert_file = pki.Certificate("client");
  options.key_file = pki.Key("client");
  return options;
}

TEST_CASE("storage.etcd: https with a client certificate works, tails included", "[storage.etcd]") {
  const Pki pki;
  const auto server = StartEtcd(1, pki.Server());
  auto options = With(pki, *server);
  options.dial_timeout = std::chrono::seconds(20);
  const auto s = OpenSubject(options);
  CHECK(Must(s->Create("a", "1")) == 2);
  const auto reader = Must(TailReader::Open(s->engine(), "", 1));
  CHECK(TextOf(Must(reader->ReadTo(2))) == "create a=1@2");

  // A name of the certificate other than the address.
  options.server_name = "etcd.example";
  const auto named = OpenSubject(options);
  CHECK(Must(named->Text("")) == "a=1");
}

TEST_CASE("storage.etcd: without the right certificates the engine does not open",
          "[storage.etcd][slow]") {
  const Pki pki;
  const auto server = StartEtcd(1, pki.Server());
  const auto refused = [](const Options& options) {
    const auto engine = Open(options);
    INFO(engine.status().ToString());
    CHECK(engine.status().reason() == Reason::kServiceUnavailable);
    CHECK(engine.status().message().ends_with("and for https the certificates"));
  };
  SECTION("no client certificate") {
    auto options = With(pki, *server);
    options.cert_file = "";
    options.key_file = "";
    refused(options);
  }
  SECTION("an authority that did not sign it") {
    auto options = With(pki, *server);
    options.ca_file = pki.Certificate("other");
    refused(options);
  }
  SECTION("a name that it does not carry") {
    auto options = With(pki, *server);
    options.server_name = "other.example";
    refused(options);
  }
}

TEST_CASE("storage.etcd: a member's certificate is told, whether it is accepted or not",
          "[storage.etcd]") {
  const Pki pki;
  const auto server = StartEtcd(1, pki.Server());
  const auto plain = StartEtcd();
  auto options = With(pki, *server);
  options.servers.push_back(plain->urls()[0]);
  const auto reports = Must(Inspect(options, std::chrono::seconds(10)));
  CHECK(reports[0].status.ok());
  REQUIRE(reports[0].certificate);
  CHECK(reports[0].certificate->subject == "CN=etcd");
  CHECK(reports[0].certificate->dns_names == std::vector<std::string>{"etcd.example"});
  CHECK(reports[0].certificate->not_after > RealClock().WallNow());
  CHECK_FALSE(reports[1].certificate);

  options.ca_file = pki.Certificate("other");
  options.servers = server->urls();
  options.servers.emplace_back("https://127.0.0.1:1");
  const auto refused = Must(Inspect(options, std::chrono::milliseconds(1500)));
  CHECK_FALSE(refused[0].status.ok());
  REQUIRE(refused[0].certificate);
  CHECK(refused[0].certificate->subject == "CN=etcd");
  CHECK_FALSE(refused[1].certificate);
}

TEST_CASE("storage.etcd: files that do not fit together are named", "[storage.etcd]") {
  const Pki pki;
  auto options = OptionsFor({"https://127.0.0.1:1"});
  options.cert_file = pki.Certificate("client");
  CHECK(Open(options).status().message() == "etcd's client certificate and its key go together");
  options.key_file = "/nonexistent/key";
  CHECK(Open(options).status().message().find("/nonexistent/key") != std::string::npos);
  options.key_file = pki.Key("client");
  options.servers = {"http://127.0.0.1:1"};
  CHECK(Open(options).status().message() ==
        "certificates for etcd are of no use: no server is https");
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
