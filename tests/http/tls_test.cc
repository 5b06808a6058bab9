#include <catch2/catch.hpp>

#include "apiserver/http/certificates.h"
#include "support.h"

namespace http_test {
namespace {

Step TellPeer(Exchange& exchange) {
  const auto& peer = exchange.request().peer;
  return Answer(exchange, peer ? "certificates: " + std::to_string(peer->der.size()) : "none");
}

TEST_CASE("http: a client certificate is handed to the request, none is fine", "[http]") {
  TestService service(TellPeer);
  TestServer server(service.service, GENERATE(Wire::kTlsHttp1, Wire::kTlsHttp2));
  DialOptions options = server.dial_options();
  options.tls->client = Pki().client;

  const auto with = server.dialer().Dial(Soon(), options).value();
  const auto without = server.Connect();

  CHECK(with->Call(Soon(), {.target = "/"})->body == "certificates: 1");
  CHECK(without->Call(Soon(), {.target = "/"})->body == "none");
}

TEST_CASE("http: a client certificate of an unknown CA is handed over, not judged", "[http]") {
  TestService service(TellPeer);
  TestServer server(service.service, Wire::kTlsHttp2);
  const KeyPair other = NewCertificateAuthority("other", RealClock()).value();
  DialOptions options = server.dial_options();
  options.tls->client =
      NewCertificate(other, {.common_name = "mallory", .client = true}, RealClock()).value();

  const auto connection = server.dialer().Dial(Soon(), options).value();

  CHECK(connection->Call(Soon(), {.target = "/"})->body == "certificates: 1");
}

TEST_CASE("http: a client refuses a server it cannot verify", "[http]") {
  TestService service(TellPeer);
  TestServer server(service.service, Wire::kTlsHttp2);
  DialOptions unknown_ca = server.dial_options();
  unknown_ca.tls->ca_pem = NewCertificateAuthority("other", RealClock())->certificate_pem;
  DialOptions wrong_name = server.dial_options();
  wrong_name.tls->server_name = "elsewhere";
  DialOptions right_name = server.dial_options();
  right_name.tls->server_name = "localhost";
  DialOptions anyone = server.dial_options();
  anyone.tls->ca_pem.clear();

  CHECK(server.dialer().Dial(Soon(), unknown_ca).status().message() ==
        "tls: unable to get local issuer certificate");
  CHECK(server.dialer().Dial(Soon(), wrong_name).status().message() == "tls: hostname mismatch");
  CHECK(server.dialer().Dial(Soon(), right_name).ok());
  // Dials to servers of other names share their TLS context, and not the name.
  CHECK(server.dialer().Dial(Soon(), wrong_name).status().message() == "tls: hostname mismatch");
  CHECK(server.dialer().Dial(Soon(), anyone).ok());
}

TEST_CASE("http: a replaced certificate is used by new handshakes only", "[http]") {
  TestService service(TellPeer);
  const auto tls = NewServerTls(Pki().server).value();
  TestServer server(service.service, Wire::kTlsHttp2, {.tls = tls});
  const auto old = server.Connect();
  const KeyPair new_ca = NewCertificateAuthority("new-ca", RealClock()).value();
  const KeyPair pair =
      NewCertificate(new_ca, {.common_name = "s", .ip_addresses = {"127.0.0.1"}}, RealClock())
          .value();
  DialOptions trusts_new = server.dial_options();
  trusts_new.tls->ca_pem = new_ca.certificate_pem;

  REQUIRE(tls->Replace(pair).ok());

  CHECK(old->Call(Soon(), {.target = "/"}).ok());
  CHECK(server.dialer().Dial(Soon(), trusts_new).ok());
  CHECK_FALSE(server.dialer().Dial(Soon(), server.dial_options()).ok());
}

TEST_CASE("http: pairs that do not match, and text that is no PEM, are refused", "[http]") {
  KeyPair mixed = Pki().server;
  mixed.key_pem = Pki().client.key_pem;
  KeyPair no_key = Pki().server;
  no_key.key_pem = "-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----\n";

  CHECK(NewServerTls(mixed).status().message() ==
        "tls: private key does not match the certificate: key values mismatch");
  CHECK(NewServerTls(no_key).status().reason() == Reason::kInvalid);
  CHECK(NewServerTls({}).status().message() == "tls: no certificate in PEM text");
  CHECK(NewCertificate(mixed, {.common_name = "x"}, RealClock()).status().reason() ==
        Reason::kInvalid);
  CHECK(NewCertificate(Pki().ca, {.common_name = "x", .dns_names = {"a,IP:1.2.3.4"}}, RealClock())
            .status()
            .reason() == Reason::kInvalid);
}

TEST_CASE("http: a client's certificate is verified by its authority, purpose and dates",
          "[http]") {
  const std::string& ca = Pki().ca.certificate_pem;
  const KeyPair server = NewCertificate(Pki().ca, {.common_name = "x"}, RealClock()).value();
  const KeyPair other = NewCertificateAuthority("other", RealClock()).value();
  const KeyPair past =
      NewCertificate(Pki().ca,
                     {.common_name = "x", .valid_for = std::chrono::hours(-1), .client = true},
                     RealClock())
          .value();

  CHECK(VerifyClientCertificate(Pki().client.certificate_pem, ca, RealClock()).ok());
  CHECK(VerifyClientCertificate(server.certificate_pem, ca, RealClock()).reason() ==
        Reason::kInvalid);
  CHECK(VerifyClientCertificate(Pki().client.certificate_pem, other.certificate_pem, RealClock())
            .message() == "unable to get local issuer certificate");
  CHECK(VerifyClientCertificate(past.certificate_pem, ca, RealClock()).message() ==
        "certificate has expired");
}

TEST_CASE("http: a handshake that does not come is given up", "[http]") {
  TestService service(TellPeer);
  TestServer server(service.service, Wire::kTlsHttp2,
                    {.handshake_timeout = std::chrono::milliseconds(50)});
  RawClient silent(server.listener().port());

  CHECK(silent.ReadAll().empty());
}

TEST_CASE("http: plain text sent to TLS ends the connection", "[http]") {
  TestService service(TellPeer);
  TestServer server(service.service, Wire::kTlsHttp2);
  RawClient client(server.listener().port());

  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");

  CHECK(client.ReadAll().find("200") == std::string::npos);
  CHECK(server.Connect()->Call(Soon(), {.target = "/"}).ok());
}

}  // namespace
}  // namespace http_test
