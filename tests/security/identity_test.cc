// Whom a server believes a client is, over TLS as clients come. Each finding apart is in
// tests/authn.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/http/listener.h"
#include "security/identity_server.h"

namespace apiserver::inline v0::security {
namespace {

using authn::kForClients;
using authn::MakeCertificate;

}  // namespace

TEST_CASE("security: row 30, CVE-2016-7075: a certificate without the right chain, time or use",
          "[security]") {
  const IdentityServer server;
  REQUIRE(server.Ask(SignedBy(server.users)) == kJane);
  REQUIRE(server.Ask(SignedBy(server.users), {}, /*http2=*/true) == kJane);

  const http::KeyPair jane = SignedBy(server.users);
  const std::vector<std::pair<const char*, http::KeyPair>> rows = {
      {"no certificate", {}},
      {"another authority", SignedBy(NewAuthority("other"))},
      {"an authority of the same name", SignedBy(NewAuthority("users"))},
      {"expired", SignedBy(server.users, {.ends_in_seconds = -60})},
      {"not yet valid", SignedBy(server.users, {.begins_in_seconds = 600})},
      {"for servers only",
       SignedBy(server.users, {.extensions = {{"extendedKeyUsage", "serverAuth"}}})},
      {"self-signed", MakeCertificate({.extensions = {kForClients}}, nullptr)},
      {"self-signed, the authority's own name",
       MakeCertificate({.subject = {{"CN", "users"}}, .extensions = {kForClients}}, nullptr)},
      {"signed by a user",
       WithChain(SignedBy(jane, {.subject = {{"CN", "root"}}}), {jane.certificate_pem})},
      {"the authority itself sent along",
       WithChain(SignedBy(NewAuthority("users")), {server.users.certificate_pem})},
  };
  for (const auto& [what, client] : rows) {
    CAPTURE(what);
    CHECK(server.Ask(client) == "401");
    CHECK(server.Ask(client, {}, /*http2=*/true) == "401");
  }
}

TEST_CASE("security: row 30, CVE-2016-7075: intermediate authorities go no further than they may",
          "[security]") {
  const IdentityServer server;
  const auto authority = [](const char* name, const char* constraints, const http::KeyPair& by) {
    return MakeCertificate(
        {.subject = {{"CN", name}}, .extensions = {{"basicConstraints", constraints}}}, &by);
  };
  const http::KeyPair last = authority("last", "critical,CA:TRUE,pathlen:0", server.users);
  const http::KeyPair beyond = authority("beyond", "critical,CA:TRUE", last);
  const http::KeyPair none = authority("none", "critical,CA:FALSE", server.users);

  CHECK(server.Ask(WithChain(SignedBy(last), {last.certificate_pem})) == kJane);
  CHECK(server.Ask(SignedBy(last)) == "401");  // Nothing leads to the root.
  CHECK(server.Ask(WithChain(SignedBy(beyond), {beyond.certificate_pem, last.certificate_pem})) ==
        "401");
  CHECK(server.Ask(WithChain(SignedBy(none), {none.certificate_pem})) == "401");
}

// As kube-apiserver: no CRL is read and no OCSP responder asked. Who must be shut out before her
// certificate ends loses its authority, which takes effect at once; or her rights.
TEST_CASE("security: row 30: what a certificate names to ask about it is not asked", "[security]") {
  std::atomic<int> asked{0};
  http::Service responder;
  const auto pool = NewThreadPool({.name = "responder", .threads = 1});
  responder.pool = pool.get();
  responder.handler = [&](http::Exchange& exchange) {
    ++asked;
    exchange.writer().Send({}, "");
    return http::Step::Done();
  };
  const auto listener = http::Listen({}, responder).value();
  const std::string url = "URI:http://127.0.0.1:" + std::to_string(listener->port()) + "/";
  const IdentityServer server;
  const http::KeyPair issuing = MakeCertificate(
      {.subject = {{"CN", "issuing"}}, .extensions = {authn::kAuthority}}, &server.users);
  const http::KeyPair jane = WithChain(
      SignedBy(issuing, {.extensions = {kForClients,
                                        {"crlDistributionPoints", url + "crl"},
                                        {"authorityInfoAccess", "OCSP;" + url + "ocsp"}}}),
      {issuing.certificate_pem});
  const auto open = server.Connect(jane).value();
  CHECK(IdentityServer::Ask(*open) == kJane);
  CHECK(asked == 0);

  // One authority for each kind of user: to drop one touches no other.
  const http::KeyPair others = NewAuthority("others");
  server.client_ca->Set(others.certificate_pem);
  CHECK(server.Ask(jane) == "401");
  CHECK(IdentityServer::Ask(*open) == "401");
  CHECK(server.Ask(SignedBy(others)) == kJane);
  CHECK(asked == 0);
}

TEST_CASE("security: row 31: only the front proxy speaks for others", "[security]") {
  const IdentityServer server;
  const http::Headers spoofed{{"X-Remote-User", "root"}, {"X-Remote-Group", "system:masters"}};
  const auto named = [](const http::KeyPair& issuer, const std::string& name) {
    return SignedBy(issuer, {.subject = {{"CN", name}}});
  };
  for (const bool http2 : {false, true}) {
    CAPTURE(http2);
    CHECK(server.Ask({}, spoofed, http2) == "401");
    CHECK(server.Ask(SignedBy(server.users), spoofed, http2) == kJane);
    // The right name from the wrong authority, and the other way round.
    CHECK(server.Ask(named(server.users, "aggregator"), spoofed, http2) ==
          "aggregator system:authenticated");
    CHECK(server.Ask(named(server.proxies, "mallory"), spoofed, http2) == "401");
    CHECK(server.Ask(named(NewAuthority("proxies"), "aggregator"), spoofed, http2) == "401");
    CHECK(server.Ask(named(server.proxies, "aggregator"), spoofed, http2) ==
          "root system:masters system:authenticated");
    // The proxy itself is nobody.
    CHECK(server.Ask(named(server.proxies, "aggregator"), {}, http2) == "401");
  }
}

TEST_CASE("security: row 31: of headers twice, misspelt or called hop-by-hop", "[security]") {
  const IdentityServer server;
  const http::KeyPair aggregator = SignedBy(server.proxies, {.subject = {{"CN", "aggregator"}}});
  constexpr char kBob[] = "bob system:authenticated";
  struct Row {
    http::Headers headers;
    std::string who;
  };
  const std::vector<Row> rows = {
      // Of several names the first counts, whatever else there is.
      {{{"X-Remote-User", "bob"}, {"X-Remote-User", "root"}}, kBob},
      {{{"X-Remote-User", ""}, {"X-Remote-User", "root"}}, "401"},
      {{{"X_Remote_User", "root"}}, "401"},
      {{{"X-Remote_User", "root"}}, "401"},
      {{{"X-Remote-User", "bob"}, {"X_Remote_User", "root"}}, kBob},
      {{{"X-Remote-User", "bob"}, {"X_Remote_Group", "system:masters"}}, kBob},
      {{{"x-remote-user", "bob"}, {"X-REMOTE-GROUP", "ops"}}, "bob ops system:authenticated"},
      // Nobody can have the proxy's headers dropped, or those of others kept.
      {{{"X-Remote-User", "bob"}, {"Connection", "X-Remote-User"}}, kBob},
      {{{"X-Remote-User", "bob"}, {"Connection", "keep-alive, x-remote-user"}}, kBob},
  };
  for (const Row& row : rows) {
    CAPTURE(row.headers.begin()->name, row.headers.begin()->value, row.who);
    CHECK(server.Ask(aggregator, row.headers) == row.who);
  }
  CHECK(server.Ask(SignedBy(server.users),
                   {{"X-Remote-User", "root"}, {"Connection", "X-Remote-User"}}) == kJane);
}

}  // namespace apiserver::inline v0::security
