// Which client certificates are believed: what an attacker may try, and what changes while a server
// runs. Rows 30, 50 and 51 of the security table.
#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>
#include <string>
#include <vector>

#include "apiserver/authn/x509.h"
#include "apiserver/http/certificates.h"
#include "authn/certificates.h"
#include "authn/fakes.h"

namespace apiserver::inline v0::authn {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

http::KeyPair Authority(const std::string& name = "ca") {
  return MakeCertificate({.subject = {{"CN", name}}, .extensions = {kAuthority}}, nullptr);
}

std::unique_ptr<auth::Authenticator> Believing(const std::string& ca_pem) {
  return NewX509({.ca_pem = ca_pem}).value();
}

Answer Show(const auth::Authenticator& authenticator, const std::vector<std::string>& pems) {
  return authenticator.Authenticate(Context::Background(), From(pems));
}

std::string Refusal(const Answer& answer) {
  CHECK(answer.status().reason() == Reason::kUnauthorized);
  return std::string(answer.status().message());
}

}  // namespace

// TestX509: self signed, server cert, future cert, expired cert; CVE-2016-7075
TEST_CASE("authn: a certificate without the right chain, time or use is refused", "[authn]") {
  const http::KeyPair ca = Authority();
  const http::KeyPair other = Authority("other");
  const auto x509 = Believing(ca.certificate_pem);
  const auto shown = [&](const CertificateSpec& spec, const http::KeyPair* issuer) {
    return Refusal(Show(*x509, {MakeCertificate(spec, issuer).certificate_pem}));
  };
  const std::string failed = "verifying certificate failed: ";

  CHECK(shown({.extensions = {kForClients}}, &other) ==
        failed + "unable to get local issuer certificate");
  CHECK(shown({.extensions = {kForClients}, .ends_in_seconds = -60}, &ca) ==
        failed + "certificate has expired");
  CHECK(shown({.extensions = {kForClients}, .begins_in_seconds = 600}, &ca) ==
        failed + "certificate is not yet valid");
  CHECK(shown({.extensions = {{"extendedKeyUsage", "serverAuth"}}}, &ca) ==
        failed + "it must not be used by clients");
  CHECK(shown({.extensions = {kForClients}}, nullptr) == failed + "self-signed certificate");
  // The authority's own name, but not its key.
  CHECK(shown({.subject = {{"CN", "ca"}}, .extensions = {kAuthority}}, nullptr) ==
        failed + "self-signed certificate");
  CHECK(shown({.extensions = {kForClients}, .sha1 = true}, &ca) ==
        failed + "CA signature digest algorithm too weak");
}

// TestX509: multi-level, valid; multi-level, expired
TEST_CASE("authn: a chain leads over intermediates that the client sends", "[authn]") {
  const http::KeyPair ca = Authority();
  const http::KeyPair middle =
      MakeCertificate({.subject = {{"CN", "middle"}}, .extensions = {kAuthority}}, &ca);
  const http::KeyPair leaf = MakeCertificate({.extensions = {kForClients}}, &middle);
  const http::KeyPair old =
      MakeCertificate({.extensions = {kForClients}, .ends_in_seconds = -60}, &middle);
  const auto x509 = Believing(ca.certificate_pem);

  CHECK(Show(*x509, {leaf.certificate_pem, middle.certificate_pem})->value().user->name == "jane");
  CHECK(Refusal(Show(*x509, {leaf.certificate_pem})) ==
        "verifying certificate failed: unable to get local issuer certificate");
  CHECK(Refusal(Show(*x509, {old.certificate_pem, middle.certificate_pem})) ==
        "verifying certificate failed: certificate has expired");
}

TEST_CASE("authn: what is no authority vouches for nobody", "[authn]") {
  const http::KeyPair ca = Authority();
  const auto x509 = Believing(ca.certificate_pem);
  const auto through = [&](const Pairs& extensions) {
    const http::KeyPair middle =
        MakeCertificate({.subject = {{"CN", "middle"}}, .extensions = extensions}, &ca);
    const http::KeyPair leaf = MakeCertificate({.extensions = {kForClients}}, &middle);
    return Refusal(Show(*x509, {leaf.certificate_pem, middle.certificate_pem}));
  };

  CHECK(through({}) == "verifying certificate failed: invalid CA certificate");
  CHECK(through({{"basicConstraints", "critical,CA:FALSE"}}) ==
        "verifying certificate failed: invalid CA certificate");
  CHECK(through({kForClients}) == "verifying certificate failed: invalid CA certificate");
  // An authority for servers.
  CHECK(through({kAuthority, {"extendedKeyUsage", "serverAuth"}}) ==
        "verifying certificate failed: it must not be used by clients");
}

TEST_CASE("authn: an authority that may have none below it vouches for no authority", "[authn]") {
  const http::KeyPair ca =
      MakeCertificate({.subject = {{"CN", "ca"}},
                       .extensions = {{"basicConstraints", "critical,CA:TRUE,pathlen:0"}}},
                      nullptr);
  const http::KeyPair middle =
      MakeCertificate({.subject = {{"CN", "middle"}}, .extensions = {kAuthority}}, &ca);
  const http::KeyPair leaf = MakeCertificate({.extensions = {kForClients}}, &middle);
  const http::KeyPair direct = MakeCertificate({.extensions = {kForClients}}, &ca);
  const auto x509 = Believing(ca.certificate_pem);

  CHECK(Refusal(Show(*x509, {leaf.certificate_pem, middle.certificate_pem})) ==
        "verifying certificate failed: path length constraint exceeded");
  CHECK(Show(*x509, {direct.certificate_pem})->has_value());
}

// CVE-2025-58187 and its like: work must not grow with what a stranger sends.
TEST_CASE("authn: chains that are long and certificates that are giant are refused at once",
          "[authn]") {
  const http::KeyPair ca = Authority();
  std::vector<std::string> deep;
  http::KeyPair issuer = ca;
  for (int i = 0; i < 100; ++i) {
    issuer = MakeCertificate({.subject = {{"CN", "level"}}, .extensions = {kAuthority}}, &issuer);
    deep.insert(deep.begin(), issuer.certificate_pem);
  }
  const http::KeyPair leaf = MakeCertificate({.extensions = {kForClients}}, &issuer);
  deep.insert(deep.begin(), leaf.certificate_pem);
  std::string names = "DNS:a";
  for (int i = 0; i < 2000; ++i) names += ",DNS:host" + std::to_string(i) + ".example.com";
  const http::KeyPair giant =
      MakeCertificate({.extensions = {kForClients, {"subjectAltName", names}}}, &ca);
  const auto x509 = Believing(ca.certificate_pem);

  CHECK(Refusal(Show(*x509, deep)) == "verifying certificate failed: it or its chain is too large");
  CHECK(Refusal(Show(*x509, {giant.certificate_pem})) ==
        "verifying certificate failed: it or its chain is too large");
}

// Processor time of this thread: other programs may keep the machine busy.
std::chrono::nanoseconds Used() {
  timespec used{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

TEST_CASE("authn: a thousand names and as many constraints cost little", "[authn]") {
  const http::KeyPair ca = Authority();
  std::string constraints = "permitted;DNS:example.com";
  for (int i = 0; i < 500; ++i) constraints += ",excluded;DNS:no" + std::to_string(i) + ".com";
  const http::KeyPair middle = MakeCertificate(
      {.subject = {{"CN", "middle"}}, .extensions = {kAuthority, {"nameConstraints", constraints}}},
      &ca);
  std::string names = "DNS:a.example.com";
  for (int i = 0; i < 1000; ++i) names += ",DNS:h" + std::to_string(i) + ".example.com";
  const http::KeyPair leaf =
      MakeCertificate({.extensions = {kForClients, {"subjectAltName", names}}}, &middle);
  const auto x509 = Believing(ca.certificate_pem);

  const auto start = Used();
  (void)Show(*x509, {leaf.certificate_pem, middle.certificate_pem});

  CHECK(Used() - start < std::chrono::seconds(1));
}

// CVE-2025-68121
TEST_CASE("authn: a rotated authority counts at once on connections that exist", "[authn]") {
  const http::KeyPair before = Authority("before");
  const http::KeyPair after = Authority("after");
  const auto ca = std::make_shared<Variable<std::string>>(before.certificate_pem);
  const auto x509 = NewX509({.ca = ca}).value();
  const http::Request old_client =
      From({MakeCertificate({.extensions = {kForClients}}, &before).certificate_pem});
  const http::Request new_client =
      From({MakeCertificate({.extensions = {kForClients}}, &after).certificate_pem});
  const auto known = [&](const http::Request& request) {
    return x509->Authenticate(Context::Background(), request).ok();
  };
  CHECK(known(old_client));
  CHECK_FALSE(known(new_client));

  ca->Set(before.certificate_pem + after.certificate_pem);
  CHECK(known(old_client));
  CHECK(known(new_client));

  ca->Set(after.certificate_pem);
  CHECK_FALSE(known(old_client));
  CHECK(known(new_client));
}

TEST_CASE("authn: a bundle that cannot be read changes nothing, an empty one knows nobody",
          "[authn]") {
  const http::KeyPair authority = Authority();
  const auto ca = std::make_shared<Variable<std::string>>(authority.certificate_pem);
  const auto x509 = NewX509({.ca = ca}).value();
  const http::Request client =
      From({MakeCertificate({.extensions = {kForClients}}, &authority).certificate_pem});
  const auto ask = [&] { return x509->Authenticate(Context::Background(), client); };

  ca->Set("hello");
  CHECK(ask()->has_value());
  ca->Set("");
  REQUIRE(ask().ok());
  CHECK_FALSE(ask()->has_value());
  ca->Set("hello");
  CHECK_FALSE(ask()->has_value());
  ca->Set(authority.certificate_pem);
  CHECK(ask()->has_value());
  CHECK(CheckCertificateBundle("hello").reason() == Reason::kInvalid);
  CHECK(CheckCertificateBundle(authority.certificate_pem).ok());
}

// TestX509: ca with empty UID, ca with non-string UID, ca with multiple UIDs
TEST_CASE("authn: a certificate's uid is one text that is not empty", "[authn]") {
  const http::KeyPair ca = Authority();
  const auto x509 = Believing(ca.certificate_pem);
  constexpr const char* kUid = "1.3.6.1.4.1.57683.2";
  const auto shown = [&](const CertificateSpec& spec) {
    return Refusal(Show(*x509, {MakeCertificate(spec, &ca).certificate_pem}));
  };

  CHECK(shown({.subject = {{"CN", "jane"}, {kUid, ""}}}) == "UID cannot be an empty string");
  CHECK(shown({.subject = {{"CN", "jane"}, {kUid, "a"}, {kUid, "b"}}}) ==
        "expected 1 UID, but found multiple");
}

TEST_CASE("authn: how long certificates still last is counted", "[authn]") {
  const http::KeyPair ca = Authority();
  const auto registry = metrics::NewRegistry();
  const auto x509 = NewX509({.ca_pem = ca.certificate_pem, .metrics = registry.get()}).value();
  const http::Request client =
      From({MakeCertificate({.ends_in_seconds = 1000}, &ca).certificate_pem});

  (void)x509->Authenticate(Context::Background(), client);
  (void)x509->Authenticate(Context::Background(), client);
  (void)x509->Authenticate(Context::Background(), http::Request());

  const std::string text = registry->Serialize();
  INFO(text);
  CHECK(text.find("apiserver_client_certificate_expiration_seconds_bucket{le=\"0\"} 0\n") !=
        std::string::npos);
  CHECK(text.find("apiserver_client_certificate_expiration_seconds_bucket{le=\"1800\"} 2\n") !=
        std::string::npos);
}

// RFC 5280 §4.1.2.5: the end of certificates that have none. Nanoseconds from 1970 end in 2262.
TEST_CASE("authn: a certificate without an end is counted as one that lasts", "[authn]") {
  const http::KeyPair ca = Authority();
  const auto registry = metrics::NewRegistry();
  const auto x509 = NewX509({.ca_pem = ca.certificate_pem, .metrics = registry.get()}).value();
  const std::string pem = MakeCertificate({.ends = "99991231235959Z"}, &ca).certificate_pem;

  CHECK(Show(*x509, {pem}).ok());
  const std::string text = registry->Serialize();
  INFO(text);
  CHECK(
      text.find("apiserver_client_certificate_expiration_seconds_bucket{le=\"3.1104e+07\"} 0\n") !=
      std::string::npos);
  CHECK(text.find("apiserver_client_certificate_expiration_seconds_count 1\n") !=
        std::string::npos);
  const auto facts = http::DescribeCertificates(pem);
  REQUIRE(facts.ok());
  CHECK((*facts)[0].not_after - RealClock().WallNow() > std::chrono::hours(24 * 365 * 100));
}

}  // namespace apiserver::inline v0::authn
