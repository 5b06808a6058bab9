// What outlives a certificate's authority, and what a certificate may cost.
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "security/identity_server.h"
#include "security/tls_session.h"

namespace apiserver::inline v0::security {
namespace {

using authn::kAuthority;
using authn::kForClients;
using authn::MakeCertificate;

}  // namespace

TEST_CASE("security: row 50, CVE-2025-68121: an identity ends with its authority", "[security]") {
  const IdentityServer server;
  const http::KeyPair old = SignedBy(server.users);
  const auto http1 = server.Connect(old).value();
  const auto http2 = server.Connect(old, /*http2=*/true).value();
  REQUIRE(IdentityServer::Ask(*http1) == kJane);
  REQUIRE(IdentityServer::Ask(*http2) == kJane);
  const http::KeyPair next = NewAuthority("next");

  server.client_ca->Set(next.certificate_pem);

  CHECK(IdentityServer::Ask(*http1) == "401");
  CHECK(IdentityServer::Ask(*http2) == "401");
  CHECK(server.Ask(old) == "401");
  CHECK(server.Ask(SignedBy(next)) == kJane);
}

TEST_CASE("security: row 50, CVE-2025-68121: a session says nothing of who it was", "[security]") {
  const int version = GENERATE(TLS1_2_VERSION, TLS1_3_VERSION);
  const IdentityServer server;
  const SessionClient client(SignedBy(server.users), version);
  const auto first = client.Get(server.port(), "/who");
  REQUIRE(first.text.starts_with("HTTP/1.1 200 "));
  CHECK_FALSE(SSL_SESSION_is_resumable(first.session.get()));
  // The server gave it no name; the client offers it by one of its own.
  const std::string id(32, 'i');
  if (version == TLS1_2_VERSION) {
    REQUIRE(SSL_SESSION_set1_id(first.session.get(),
                                reinterpret_cast<const unsigned char*>(id.data()),
                                static_cast<unsigned>(id.size())) == 1);
  }

  server.client_ca->Set(NewAuthority("next").certificate_pem);
  const auto second = client.Get(server.port(), "/who", first.session.get());

  CHECK(second.text.starts_with("HTTP/1.1 401 "));
  CHECK_FALSE(second.resumed);
}

TEST_CASE("security: row 51, CVE-2023-0464, CVE-2025-61729: crafted chains cost little",
          "[security]") {
  const IdentityServer server;
  std::string names = "DNS:a";
  for (int i = 1; i < 1000; ++i) names += ",DNS:h" + std::to_string(i) + ".example.com";
  std::string excluded = "excluded;DNS:no.example.org";
  for (int i = 1; i < 500; ++i) excluded += ",excluded;DNS:no" + std::to_string(i) + ".example.org";
  const http::KeyPair constrained =
      MakeCertificate({.subject = {{"CN", "constrained"}},
                       .extensions = {kAuthority, {"nameConstraints", excluded}}},
                      &server.users);
  http::KeyPair issuer = server.users;
  std::vector<std::string> deep;
  for (int i = 0; i < 100; ++i) {
    issuer = MakeCertificate({.subject = {{"CN", "level"}}, .extensions = {kAuthority}}, &issuer);
    deep.insert(deep.begin(), issuer.certificate_pem);
  }
  struct Row {
    const char* what;
    http::KeyPair client;
    std::string who;
  };
  const std::vector<Row> rows = {
      // True, if long.
      {"a thousand names against five hundred constraints",
       WithChain(SignedBy(constrained, {.extensions = {kForClients, {"subjectAltName", names}}}),
                 {constrained.certificate_pem}),
       kJane},
      // Longer than any may be.
      {"forty kilobytes",
       SignedBy(server.users,
                {.extensions = {kForClients, {"nsComment", std::string(40'000, 'x')}}}),
       "401"},
      {"a hundred authorities", WithChain(SignedBy(issuer), deep), "401"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(server.Ask(row.client) == row.who);
  }
  CHECK(server.Ask(SignedBy(server.users)) == kJane);
}

}  // namespace apiserver::inline v0::security
