#include "apiserver/authn/x509.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/http/tls.h"
#include "authn/certificates.h"
#include "authn/fakes.h"

namespace apiserver::inline v0::authn {
namespace {

struct OddCertificate {
  std::vector<std::pair<std::string, std::string>> subject = {};
  std::string usage = {};  // Of OpenSSL's extendedKeyUsage; empty: none.
};

std::string SignedPem(const OddCertificate& odd, const http::KeyPair& authority) {
  CertificateSpec spec{.subject = odd.subject};
  if (!odd.usage.empty()) spec.extensions = {{"extendedKeyUsage", odd.usage}};
  return MakeCertificate(spec, &authority).certificate_pem;
}

struct CertificateFixture {
  FakeClock clock;
  http::KeyPair authority = http::NewCertificateAuthority("test-ca", clock).value();

  std::string Client(http::CertificateRequest request = {.common_name = "jane",
                                                         .organizations = {"dev", "ops"}}) {
    request.client = true;
    return http::NewCertificate(authority, request, clock)->certificate_pem;
  }
  std::unique_ptr<auth::Authenticator> Authenticator() {
    return NewX509({.ca_pem = authority.certificate_pem, .clock = &clock}).value();
  }
};

Answer Ask(const auth::Authenticator& authenticator, const http::Request& request) {
  return authenticator.Authenticate(Context::Background(), request);
}

}  // namespace

TEST_CASE("authn: a client certificate names the user and its groups", "[authn]") {
  CertificateFixture f;

  const Answer answer = Ask(*f.Authenticator(), From({f.Client()}));

  REQUIRE(answer.status() == Status::Ok());
  REQUIRE(answer->has_value());
  const auth::UserInfo& user = *answer->value().user;
  CHECK(user.name == "jane");
  CHECK(user.groups == std::vector<std::string>{"dev", "ops"});
  CHECK(user.uid.empty());
  REQUIRE(user.extra.count("authentication.kubernetes.io/credential-id") == 1);
  const std::string id = user.extra.at("authentication.kubernetes.io/credential-id").front();
  CHECK(id.starts_with("X509SHA256="));
  CHECK(id.size() == 11 + 64);
}

TEST_CASE("authn: a request without client certificate has no credentials", "[authn]") {
  CertificateFixture f;
  http::Request empty;
  empty.peer = std::make_shared<const http::PeerCertificates>();

  CHECK_FALSE(Ask(*f.Authenticator(), http::Request())->has_value());
  CHECK_FALSE(Ask(*f.Authenticator(), empty)->has_value());
}

TEST_CASE("authn: a certificate without a common name names nobody", "[authn]") {
  CertificateFixture f;

  const Answer answer =
      Ask(*f.Authenticator(), From({SignedPem({.subject = {{"O", "dev"}}}, f.authority)}));

  REQUIRE(answer.status() == Status::Ok());
  CHECK_FALSE(answer->has_value());
}

TEST_CASE("authn: a certificate may carry the user's uid", "[authn]") {
  CertificateFixture f;
  constexpr const char* kUid = "1.3.6.1.4.1.57683.2";
  const auto ask = [&](std::vector<std::pair<std::string, std::string>> subject) {
    return Ask(*f.Authenticator(), From({SignedPem({.subject = std::move(subject)}, f.authority)}));
  };

  CHECK(ask({{"CN", "jane"}, {kUid, "u-1"}})->value().user->uid == "u-1");
  CHECK(ask({{"CN", "jane"}, {kUid, "u-1"}, {kUid, "u-2"}}).status().message() ==
        "expected 1 UID, but found multiple");
}

TEST_CASE("authn: the last common name of a certificate counts", "[authn]") {
  CertificateFixture f;

  const Answer answer = Ask(
      *f.Authenticator(), From({SignedPem({.subject = {{"CN", "a"}, {"CN", "b"}}}, f.authority)}));

  CHECK(answer->value().user->name == "b");
}

TEST_CASE("authn: a certificate for any use, or for no stated one, is a client's", "[authn]") {
  CertificateFixture f;
  const auto known = [&](const std::string& usage) {
    const OddCertificate odd{.subject = {{"CN", "jane"}}, .usage = usage};
    return Ask(*f.Authenticator(), From({SignedPem(odd, f.authority)})).ok();
  };

  CHECK(known(""));
  CHECK(known("anyExtendedKeyUsage"));
  CHECK(known("serverAuth,clientAuth"));
  CHECK_FALSE(known("codeSigning"));
}

TEST_CASE("authn: a certificate of another authority is unauthorized", "[authn]") {
  CertificateFixture f;
  CertificateFixture other;

  const Answer answer = Ask(*f.Authenticator(), From({other.Client()}));

  CHECK(answer.status().reason() == Reason::kUnauthorized);
}

TEST_CASE("authn: a server's certificate is no client's", "[authn]") {
  CertificateFixture f;
  const http::KeyPair server =
      http::NewCertificate(f.authority, {.common_name = "jane", .dns_names = {"localhost"}},
                           f.clock)
          .value();

  const Answer answer = Ask(*f.Authenticator(), From({server.certificate_pem}));

  CHECK(answer.status().reason() == Reason::kUnauthorized);
  CHECK(answer.status().message() ==
        "verifying certificate failed: it must not be used by clients");
}

TEST_CASE("authn: a certificate that is no certificate is unauthorized", "[authn]") {
  CertificateFixture f;
  http::Request request;
  request.peer =
      std::make_shared<const http::PeerCertificates>(http::PeerCertificates{{"garbage"}});

  CHECK(Ask(*f.Authenticator(), request).status().reason() == Reason::kUnauthorized);
}

TEST_CASE("authn: a certificate is refused once it has expired, on a known connection too",
          "[authn]") {
  CertificateFixture f;
  const auto authenticator = f.Authenticator();
  const http::Request request =
      From({f.Client({.common_name = "jane", .valid_for = std::chrono::hours(1)})});
  REQUIRE(Ask(*authenticator, request)->has_value());

  f.clock.wall += std::chrono::hours(2);

  CHECK(Ask(*authenticator, request).status().reason() == Reason::kUnauthorized);
}

TEST_CASE("authn: a connection's certificate is verified once", "[authn]") {
  CertificateFixture f;
  const auto authenticator = f.Authenticator();
  const http::Request request = From({f.Client()});

  const Answer first = Ask(*authenticator, request);
  const Answer second = Ask(*authenticator, request);

  // The same user object, not an equal one.
  CHECK(first->value().user == second->value().user);
}

TEST_CASE("authn: two connections with one certificate are two findings", "[authn]") {
  CertificateFixture f;
  const auto authenticator = f.Authenticator();
  const std::string pem = f.Client();

  CHECK(*Ask(*authenticator, From({pem}))->value().user ==
        *Ask(*authenticator, From({pem}))->value().user);
}

TEST_CASE("authn: every authority of the bundle may vouch", "[authn]") {
  CertificateFixture f;
  CertificateFixture other;
  const auto authenticator =
      NewX509({.ca_pem = other.authority.certificate_pem + f.authority.certificate_pem}).value();

  CHECK(Ask(*authenticator, From({f.Client()}))->has_value());
  CHECK(Ask(*authenticator, From({other.Client()}))->has_value());
}

TEST_CASE("authn: a bundle without a readable certificate is refused", "[authn]") {
  CertificateFixture f;
  std::string broken = f.authority.certificate_pem;
  broken.replace(broken.size() / 2, 8, "????????");

  CHECK(NewX509({.ca_pem = ""}).status().message() == "the client CA bundle holds no certificate");
  CHECK(NewX509({.ca_pem = "hello"}).status().reason() == Reason::kInvalid);
  CHECK(NewX509({.ca_pem = f.authority.certificate_pem + broken}).status().message() ==
        "the client CA bundle holds a certificate that is malformed");
}

}  // namespace apiserver::inline v0::authn
