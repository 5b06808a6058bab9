// What a server offers in handshakes, seen by OpenSSL itself.
#include <catch2/catch.hpp>

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <string>
#include <vector>

#include "support.h"

namespace http_test {
namespace {

using SslClientContext = std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)>;

// One blocking connection of OpenSSL's own client.
class TlsPeer {
 public:
  explicit TlsPeer(int port, const std::string& server_name = "", SSL_SESSION* session = nullptr)
      : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
    SSL_CTX_set_session_cache_mode(context_.get(), SSL_SESS_CACHE_CLIENT);
    bio_ = BIO_new_ssl_connect(context_.get());
    BIO_get_ssl(bio_, &ssl_);
    BIO_set_conn_hostname(bio_, ("127.0.0.1:" + std::to_string(port)).c_str());
    if (!server_name.empty()) SSL_set_tlsext_host_name(ssl_, server_name.c_str());
    if (session != nullptr) SSL_set_session(ssl_, session);
  }
  ~TlsPeer() { BIO_free_all(bio_); }
  TlsPeer(const TlsPeer&) = delete;
  TlsPeer& operator=(const TlsPeer&) = delete;

  bool Handshake() { return BIO_do_connect(bio_) == 1 && BIO_do_handshake(bio_) == 1; }
  SSL* ssl() { return ssl_; }
  SSL_CTX* context() { return context_.get(); }
  std::string CommonName() {
    X509* certificate = SSL_get0_peer_certificate(ssl_);
    if (certificate == nullptr) return "none";
    char name[128] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name,
                              sizeof(name));
    return name;
  }
  // The answer to "GET /", over HTTP/1.1; empty: the connection is gone.
  std::string Get() { return Ask() ? Answer() : ""; }
  bool Ask() {
    constexpr char kRequest[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    return BIO_write(bio_, kRequest, sizeof(kRequest) - 1) > 0;
  }
  std::string Answer() {
    char answer[4096];
    const int count = BIO_read(bio_, answer, sizeof(answer));
    return count > 0 ? std::string(answer, static_cast<std::size_t>(count)) : "";
  }

 private:
  SslClientContext context_;
  BIO* bio_ = nullptr;
  SSL* ssl_ = nullptr;
};

// A connection of OpenSSL's client that sends its hello, and the rest when it is told to.
class HeldTlsPeer {
 public:
  explicit HeldTlsPeer(int port)
      : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free),
        socket_(BIO_new_connect(("127.0.0.1:" + std::to_string(port)).c_str())),
        ssl_(SSL_new(context_.get())) {
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl_);
  }
  ~HeldTlsPeer() {
    SSL_free(ssl_);
    BIO_free_all(socket_);
  }
  HeldTlsPeer(const HeldTlsPeer&) = delete;
  HeldTlsPeer& operator=(const HeldTlsPeer&) = delete;

  bool Connect() { return BIO_do_connect(socket_) == 1; }
  // Returns whether the handshake is over on this side. Its end is held.
  bool Handshake() {
    if (!Connect()) return false;
    (void)SSL_do_handshake(ssl_);  // Only its hello: nothing can be read yet.
    if (!Release()) return false;
    BIO_up_ref(socket_);
    SSL_set0_rbio(ssl_, socket_);
    return SSL_do_handshake(ssl_) == 1;
  }
  bool Ask() {
    constexpr char kRequest[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    return SSL_write(ssl_, kRequest, sizeof(kRequest) - 1) > 0;
  }
  // Sends what is held.
  bool Release() {
    char* bytes = nullptr;
    const int count = static_cast<int>(BIO_get_mem_data(SSL_get_wbio(ssl_), &bytes));
    const bool sent = BIO_write(socket_, bytes, count) == count;
    (void)BIO_reset(SSL_get_wbio(ssl_));
    return sent;
  }
  std::string Answer() {
    char answer[4096];
    const int count = SSL_read(ssl_, answer, sizeof(answer));
    return count > 0 ? std::string(answer, static_cast<std::size_t>(count)) : "";
  }

 private:
  SslClientContext context_;
  BIO* const socket_;
  SSL* const ssl_;
};

KeyPair PairFor(const std::string& common_name, std::vector<std::string> dns_names = {}) {
  return NewCertificate(Pki().ca, {.common_name = common_name, .dns_names = std::move(dns_names)},
                        RealClock())
      .value();
}

Step Hello(Exchange& exchange) { return Answer(exchange, "hello"); }

std::string CommonNameFor(int port, const std::string& server_name) {
  TlsPeer peer(port, server_name);
  return peer.Handshake() ? peer.CommonName() : "no handshake";
}

TEST_CASE("http: the certificate is chosen by the name that a client asks for", "[http]") {
  const auto tls = NewServerTls(PairFor("default")).value();
  REQUIRE(tls->ReplaceAll(PairFor("default"),
                          {{.pair = PairFor("first"), .names = {"a.example.com"}},
                           {.pair = PairFor("second"), .names = {"a.example.com", "B.example.com"}},
                           {.pair = PairFor("wild"), .names = {"*.example.com"}},
                           {.pair = PairFor("own.example.org", {"also.example.org"})},
                           {.pair = PairFor("by-address"), .names = {"127.0.0.1"}}})
              .ok());
  TestService service(Hello);
  TestServer server(service.service, Wire::kTlsHttp1, {.tls = tls});
  const int port = server.listener().port();

  // The first in the list that has the name.
  CHECK(CommonNameFor(port, "a.example.com") == "first");
  CHECK(CommonNameFor(port, "b.EXAMPLE.com") == "second");
  CHECK(CommonNameFor(port, "c.example.com") == "wild");
  // A wildcard is one label.
  CHECK(CommonNameFor(port, "c.d.example.com") == "default");
  CHECK(CommonNameFor(port, "example.com") == "default");
  // The certificate's own names.
  CHECK(CommonNameFor(port, "own.example.org") == "own.example.org");
  CHECK(CommonNameFor(port, "also.example.org") == "own.example.org");
  // Who names no host, because it dials an address.
  CHECK(CommonNameFor(port, "") == "by-address");

  REQUIRE(tls->ReplaceAll(PairFor("new"), {}).ok());
  CHECK(CommonNameFor(port, "a.example.com") == "new");
}

TEST_CASE("http: a handshake that began before a change of certificates is finished", "[http]") {
  const auto tls = NewServerTls(PairFor("old")).value();
  REQUIRE(tls->ReplaceAll(PairFor("old"), {{.pair = PairFor("sni"), .names = {"a"}}}).ok());
  TestService service(Hello);
  TestServer server(service.service, Wire::kTlsHttp1, {.tls = tls});
  TlsPeer early(server.listener().port(), "a");
  // Connected, and not a byte of TLS yet.
  RawClient silent(server.listener().port());
  const auto until = RealClock().Now() + kPatience;
  while (server.listener().connections() < 1 && RealClock().Now() < until) {
  }

  REQUIRE(tls->ReplaceAll(PairFor("new"), {}).ok());

  CHECK(early.Handshake());
  CHECK(CommonNameFor(server.listener().port(), "a") == "new");
}

TEST_CASE("http: clients are told whose certificates are wanted, and of a change", "[http]") {
  const auto authority = std::make_shared<Variable<std::string>>(Pki().ca.certificate_pem);
  const auto tls = NewServerTls(Pki().server).value();
  tls->OfferClientAuthorities(authority);
  TestService service(Hello);
  TestServer server(service.service, Wire::kTlsHttp1, {.tls = tls});
  const auto offered = [&server] {
    TlsPeer peer(server.listener().port());
    REQUIRE(peer.Handshake());
    std::vector<std::string> names;
    const STACK_OF(X509_NAME)* list = SSL_get_client_CA_list(peer.ssl());
    for (int i = 0; i < sk_X509_NAME_num(list); ++i) {
      char name[128] = "";
      X509_NAME_get_text_by_NID(sk_X509_NAME_value(list, i), NID_commonName, name, sizeof(name));
      names.emplace_back(name);
    }
    return names;
  };
  const auto first = offered();
  REQUIRE(first.size() == 1);

  const auto other = NewCertificateAuthority("other-ca", RealClock()).value();
  authority->Set(Pki().ca.certificate_pem + other.certificate_pem);
  CHECK(offered() == std::vector<std::string>{first[0], "other-ca"});
  authority->Set("not PEM");
  CHECK(offered() == std::vector<std::string>{first[0], "other-ca"});
}

// CVE-2025-68121: a resumed session would bring an identity past a change of the authorities.
TEST_CASE("http: no session is resumed", "[http]") {
  const int version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
  TestService service(Hello);
  TestServer server(service.service, Wire::kTlsHttp1);
  TlsPeer first(server.listener().port());
  SSL_set_max_proto_version(first.ssl(), version);
  REQUIRE(first.Handshake());
  REQUIRE(first.Get().find("hello") != std::string::npos);
  SSL_SESSION* session = SSL_get1_session(first.ssl());

  TlsPeer again(server.listener().port(), "", session);
  SSL_set_max_proto_version(again.ssl(), version);
  REQUIRE(again.Handshake());

  CHECK(SSL_SESSION_is_resumable(session) == 0);
  CHECK(SSL_session_reused(again.ssl()) == 0);
  CHECK(again.Get().find("hello") != std::string::npos);
  SSL_SESSION_free(session);
}

// CVE-2026-32283: key updates without end.
TEST_CASE("http: a flood of key updates ends the connection, a few do not", "[http]") {
  TestService service(Hello);
  TestServer server(service.service, Wire::kTlsHttp1);
  TlsPeer peer(server.listener().port());
  SSL_set_min_proto_version(peer.ssl(), TLS1_3_VERSION);
  REQUIRE(peer.Handshake());
  for (int i = 0; i < 8; ++i) {
    REQUIRE(SSL_key_update(peer.ssl(), SSL_KEY_UPDATE_REQUESTED) == 1);
    REQUIRE(peer.Get().find("hello") != std::string::npos);
  }

  // OpenSSL's own sockets raise it.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  int updates = 0;
  while (updates < 100'000 && SSL_key_update(peer.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1 &&
         SSL_do_handshake(peer.ssl()) == 1) {
    ++updates;
  }

  CHECK(updates < 100'000);
  CHECK(peer.Get().empty());
  std::signal(SIGPIPE, before);
}

// Writes shared bytes, which do not count, in steps of 64 KiB.
class SharedBytes final : public BodySource {
 public:
  explicit SharedBytes(std::shared_ptr<const std::string> bytes) : bytes_(std::move(bytes)) {}
  Pull Next(ChunkWriter& out, const Waker& /*waker*/) override {
    const std::string_view piece = std::string_view(*bytes_).substr(at_, 64 << 10);
    out.Write(bytes_, piece);
    at_ += piece.size();
    return at_ < bytes_->size() ? Pull::kMore : Pull::kEnd;
  }

 private:
  const std::shared_ptr<const std::string> bytes_;
  std::size_t at_ = 0;
};

TEST_CASE("http: records that a slow peer does not take are kept, counted and sent in order",
          "[http]") {
  auto bytes = std::make_shared<std::string>(24 << 20, '\0');
  for (std::size_t i = 0; i < bytes->size(); ++i) (*bytes)[i] = static_cast<char>(i * i >> 9);
  TestService service([&](Exchange& exchange) {
    ResponseHead head{.headers = {{"Content-Length", std::to_string(bytes->size())}}};
    head.close_connection = true;
    exchange.writer().Stream(std::move(head), std::make_unique<SharedBytes>(bytes));
    return Step::Done();
  });
  service.service.memory = std::make_shared<MemoryBudget>();
  const FairShare& share = service.service.memory->output;
  TestServer server(service.service, Wire::kTlsHttp1);
  TlsPeer peer(server.listener().port());
  const int version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
  REQUIRE(SSL_set_max_proto_version(peer.ssl(), version) == 1);
  REQUIRE(peer.Handshake());

  REQUIRE(peer.Ask());
  const auto until = RealClock().Now() + kPatience;
  while (share.used() == 0 && RealClock().Now() < until) {
    Notification().WaitFor(std::chrono::milliseconds(1));
  }
  CHECK(share.used() > 0);
  CHECK(share.used() < 128 << 10);

  std::string came;
  char part[20'000];
  while (came.size() <= bytes->size() + 4096) {
    const int count = SSL_read(peer.ssl(), part, sizeof(part));
    if (count <= 0) break;
    came.append(part, static_cast<std::size_t>(count));
  }

  const std::string_view body = std::string_view(came).substr(came.find("\r\n\r\n") + 4);
  CHECK(body.size() == bytes->size());
  CHECK(bytes->starts_with(body));
  // Its close_notify is the last of all.
  CHECK(SSL_get_shutdown(peer.ssl()) == SSL_RECEIVED_SHUTDOWN);
  CHECK(Comes(share, 0));
}

TEST_CASE("http: versions and suites are those that were set", "[http]") {
  const auto handshake = [](const ServerTlsOptions& options, int max_version,
                            const char* ciphers) -> std::string {
    TestService service(Hello);
    TestServer server(service.service, Wire::kTlsHttp1,
                      {.tls = NewServerTls(Pki().server, options).value()});
    TlsPeer peer(server.listener().port());
    SSL_set_max_proto_version(peer.ssl(), max_version);
    if (ciphers != nullptr) SSL_set_cipher_list(peer.ssl(), ciphers);
    if (!peer.Handshake()) return "none";
    return SSL_CIPHER_standard_name(SSL_get_current_cipher(peer.ssl()));
  };
  const ServerTlsOptions chacha{
      .cipher_suites = {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"}};

  CHECK(handshake({.min_version = "VersionTLS13"}, TLS1_2_VERSION, nullptr) == "none");
  CHECK(handshake({.min_version = "VersionTLS13"}, TLS1_3_VERSION, nullptr) != "none");
  CHECK(handshake({.min_version = "VersionTLS12"}, TLS1_2_VERSION, nullptr) != "none");
  CHECK(handshake({}, TLS1_1_VERSION, "ALL:@SECLEVEL=0") == "none");
  CHECK(handshake(chacha, TLS1_2_VERSION, nullptr) ==
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256");
  CHECK(handshake(chacha, TLS1_2_VERSION, "ECDHE-ECDSA-AES128-GCM-SHA256") == "none");
}

// crypto/tls: cipherSuitesPreferenceOrder, defaultCipherSuitesTLS13, isAESGCMPreferred
TEST_CASE("http: the server chooses a suite as Go does, whatever the client's order", "[http]") {
  TestService service(Hello);
  TestServer server(service.service, Wire::kTlsHttp1, {.tls = NewServerTls(Pki().server).value()});
  const auto chosen = [&](const char* of_tls13, const char* of_tls12) -> std::string {
    TlsPeer peer(server.listener().port());
    SSL_set_ciphersuites(peer.ssl(), of_tls13);
    SSL_set_cipher_list(peer.ssl(), of_tls12);
    if (*of_tls13 == 0) SSL_set_max_proto_version(peer.ssl(), TLS1_2_VERSION);
    if (!peer.Handshake()) return "none";
    return SSL_CIPHER_standard_name(SSL_get_current_cipher(peer.ssl()));
  };

  CHECK(chosen("TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256",
               "ECDHE+AESGCM") == "TLS_AES_128_GCM_SHA256");
  CHECK(chosen("TLS_AES_256_GCM_SHA384", "ECDHE+AESGCM") == "TLS_AES_256_GCM_SHA384");
  CHECK(chosen("TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256", "ECDHE+AESGCM") ==
        "TLS_CHACHA20_POLY1305_SHA256");
  CHECK(chosen("", "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256") ==
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256");
  CHECK(chosen("", "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256") ==
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256");
}

TEST_CASE("http: failed handshakes are told, with who and why", "[http][slow]") {
  Journal errors;
  TestService service(Hello);
  ListenerOptions options{.tls = NewServerTls(Pki().server).value(),
                          .handshake_timeout = std::chrono::seconds(3)};
  options.on_handshake_error = [&errors](const std::string& peer, const Status& why) {
    errors.Add(peer.substr(0, peer.rfind(':')) + " " + std::string(why.message()));
  };
  TestServer server(service.service, Wire::kTlsHttp1, options);
  TlsPeer good(server.listener().port());
  REQUIRE(good.Handshake());

  RawClient silent(server.listener().port());
  CHECK(silent.ReadAll().empty());
  RawClient plain(server.listener().port());
  plain.Send("GET / HTTP/1.1\r\n\r\n");
  CHECK(plain.ReadAll().find("200") == std::string::npos);

  CHECK(errors.Await("127.0.0.1 tls: the handshake did not come"));
  CHECK(errors.Await("127.0.0.1 tls: http request"));
  CHECK(errors.lines().size() == 2);
}

// Row 73 of docs/security.md.
TEST_CASE("http: handshakes that pile up leave open connections their turn", "[http]") {
  constexpr int kHandshakes = 1000;
  Notification held;
  Notification let_go;
  std::atomic<int> failed{0};
  std::atomic<int> failed_before{-1};
  TestService service([&](Exchange& exchange) {
    if (exchange.request().target == "/hold") {
      held.Notify();
      let_go.WaitFor(kPatience);
    } else {
      failed_before = failed.load();
    }
    return Hello(exchange);
  });
  ListenerOptions options;
  options.on_handshake_error = [&](const std::string&, const Status&) { ++failed; };
  TestServer server(service.service, Wire::kTlsHttp1, options);
  const auto holder = server.Connect();
  TlsPeer open(server.listener().port());
  REQUIRE(open.Handshake());
  const auto holding = holder->Open({.target = "/hold"}).value();
  REQUIRE(held.WaitFor(kPatience));

  std::vector<std::unique_ptr<RawClient>> flood;
  for (int i = 0; i < kHandshakes; ++i) {
    flood.push_back(std::make_unique<RawClient>(server.listener().port()));
    flood.back()->Send("no ClientHello");
  }
  const auto until = RealClock().Now() + kPatience;
  while (server.listener().connections() < kHandshakes + 2 && RealClock().Now() < until) {
    Notification().WaitFor(std::chrono::milliseconds(1));
  }
  REQUIRE(server.listener().connections() == kHandshakes + 2);
  REQUIRE(open.Ask());
  let_go.Notify();

  CHECK(open.Answer().starts_with("HTTP/1.1 200"));
  CHECK(failed_before >= 0);
  CHECK(failed_before < kHandshakes);
}

// A server that closed them at once lost the request that came with the end of the handshake.
TEST_CASE("http: a drain waits a moment for clients whose handshakes have not ended", "[http]") {
  TestService service(Hello);
  TestServer server(service.service, Wire::kTlsHttp1, {.handshake_timeout = std::chrono::hours(1)});
  TlsPeer idle(server.listener().port());
  REQUIRE(idle.Handshake());
  REQUIRE(idle.Get().starts_with("HTTP/1.1 200 OK"));
  HeldTlsPeer stays(server.listener().port());
  REQUIRE(stays.Handshake());
  RawClient silent(server.listener().port());
  const bool hello = GENERATE(true, false);
  HeldTlsPeer asks(server.listener().port());
  REQUIRE(asks.Connect());
  if (hello) REQUIRE(asks.Handshake());
  const auto until = RealClock().Now() + kPatience;
  while (server.listener().connections() < 4 && RealClock().Now() < until) {
    Notification().WaitFor(std::chrono::milliseconds(1));
  }

  server.listener().Drain();
  CHECK(idle.Answer().empty());  // The loop has drained all of them.
  if (!hello) REQUIRE(asks.Handshake());
  REQUIRE(asks.Ask());
  CHECK(asks.Release());

  CHECK(asks.Answer().starts_with("HTTP/1.1 200 OK"));
  CHECK(server.listener().WaitUntilNoConnections(kPatience));
}

}  // namespace
}  // namespace http_test
