#include "apiserver/authn/request_header.h"

#include <catch2/catch.hpp>

#include "authn/certificates.h"
#include "authn/fakes.h"

namespace apiserver::inline v0::authn {
namespace {

using Strings = std::vector<std::string>;
using Fields = std::vector<http::Headers::Field>;

http::Headers HeadersOf(const Fields& fields) {
  http::Headers headers;
  for (const auto& [name, value] : fields) headers.Add(name, value);
  return headers;
}

Strings NamesOf(const http::Headers& headers) {
  Strings names;
  for (const auto& field : headers) names.push_back(field.name);
  return names;
}

struct Row {
  const char* name;
  RequestHeaderNames names;
  Fields fields;
  std::optional<auth::UserInfo> user;
  Strings left = {};  // Names of headers after removal.
};

const RequestHeaderNames kUserOnly{
    .username = {"X-Remote-User"}, .uid = {}, .group = {}, .extra_prefix = {}};

RequestHeaderNames WithUid(Strings uid) {
  RequestHeaderNames names = kUserOnly;
  names.uid = std::move(uid);
  return names;
}

RequestHeaderNames WithGroups(Strings username, Strings group) {
  return {
      .username = std::move(username), .uid = {}, .group = std::move(group), .extra_prefix = {}};
}

void Check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(row.name);
    http::Headers headers = HeadersOf(row.fields);
    CHECK(UserFromHeaders(row.names, headers) == row.user);
    if (!row.user) continue;
    RemoveRequestHeaders(row.names, headers);
    CHECK(NamesOf(headers) == row.left);
  }
}

auth::UserInfo Bob(Strings groups = {}, std::string uid = "") {
  return {.name = "Bob", .uid = std::move(uid), .groups = std::move(groups)};
}

}  // namespace

// TestRequestHeader: empty, user *, groups *, uid *
TEST_CASE("authn: configured headers name user, uid and groups, and are taken out", "[authn]") {
  Check({
      {"empty", {.username = {}, .group = {}, .extra_prefix = {}}, {}, std::nullopt},
      {"user no match", kUserOnly, {}, std::nullopt},
      {"user match", kUserOnly, {{"X-Remote-User", "Bob"}}, Bob()},
      {"user exact match",
       kUserOnly,
       {{"Prefixed-X-Remote-User-With-Suffix", "Bob"}, {"X-Remote-User-With-Suffix", "Bob"}},
       std::nullopt},
      {"user first match",
       WithGroups({"X-Remote-User", "A-Second-X-Remote-User", "Another-X-Remote-User"}, {}),
       {{"X-Remote-User", ""},
        {"X-Remote-User", "First header, second value"},
        {"A-Second-X-Remote-User", "Second header, first value"},
        {"A-Second-X-Remote-User", "Second header, second value"},
        {"Another-X-Remote-User", "Third header, first value"}},
       auth::UserInfo{.name = "Second header, first value"}},
      {"user case-insensitive",
       WithGroups({"x-REMOTE-user"}, {}),
       {{"X-Remote-User", "Bob"}},
       Bob()},
      {"groups none",
       WithGroups({"X-Remote-User"}, {"X-Remote-Group"}),
       {{"X-Remote-User", "Bob"}},
       Bob()},
      {"groups all matches",
       WithGroups({"X-Remote-User"}, {"X-Remote-Group-1", "X-Remote-Group-2"}),
       {{"X-Remote-User", "Bob"},
        {"X-Remote-Group-1", "one-a"},
        {"X-Remote-Group-2", "two-a"},
        {"X-Remote-Group-1", "one-b"},
        {"X-Remote-Group-1", ""},
        {"X-Remote-Group-2", "two-b"}},
       Bob({"one-a", "one-b", "two-a", "two-b"})},
      {"groups case-insensitive",
       WithGroups({"X-REMOTE-User"}, {"X-REMOTE-Group"}),
       {{"X-Remote-User", "Bob"}, {"X-Remote-Group", "Users"}},
       Bob({"Users"})},
      {"uid none", WithUid({"X-Remote-Uid"}), {{"X-Remote-User", "Bob"}}, Bob()},
      {"uid exact match",
       WithUid({"X-Remote-Uid"}),
       {{"X-Remote-User", "Bob"}, {"X-Remote-Uid-1", "8f5e"}, {"X-Remote-Uid-2", "c764"}},
       Bob(),
       {"X-Remote-Uid-1", "X-Remote-Uid-2"}},
      {"uid first match",
       WithUid({"X-Remote-Uid-1", "X-Remote-Uid-2"}),
       {{"X-Remote-User", "Bob"}, {"X-Remote-Uid-2", "c764"}, {"X-Remote-Uid-1", "8f5e"}},
       Bob({}, "8f5e")},
  });
}

// TestRequestHeader: extra prefix matches case-insensitive, … with unrelated headers
TEST_CASE("authn: what follows the extra prefix is the key, in lower case", "[authn]") {
  auth::UserInfo user = Bob({"one-a", "two-a"}, "2ca8");
  user.extra = {{"key1", {"alfa", "bravo", "echo", "foxtrot"}},
                {"key2", {"charlie", "delta", "golf", "hotel"}},
                {"", {"india", "juliet", "kilo", "lima"}}};
  Check({{"extra prefix matches case-insensitive with unrelated headers",
          {.username = {"X-Remote-User"},
           .uid = {"X-Remote-UID"},
           .group = {"X-Remote-Group-1", "X-Remote-Group-2"},
           .extra_prefix = {"X-Remote-Extra-1-", "X-Remote-Extra-2-"}},
          {{"X-Group-Remote", "snorlax"},
           {"X-Group-Bear", "panda"},
           {"X-Remote-User", "Bob"},
           {"X-Remote-Uid", "2ca8"},
           {"X-Remote-Group-1", "one-a"},
           {"X-Remote-Group-2", "two-a"},
           {"X-Remote-extra-1-key1", "alfa"},
           {"X-Remote-Extra-1-Key1", "bravo"},
           {"X-Remote-Extra-1-Key2", "charlie"},
           {"X-Remote-Extra-1-Key2", "delta"},
           {"X-Remote-Extra-1-", "india"},
           {"X-Remote-Extra-1-", "juliet"},
           {"X-Remote-extra-2-", "kilo"},
           {"X-Remote-extra-2-", "lima"},
           {"X-Remote-extra-2-Key1", "echo"},
           {"X-Remote-extra-2-Key1", "foxtrot"},
           {"X-Remote-Extra-2-key2", "golf"},
           {"X-Remote-Extra-2-key2", "hotel"}},
          user,
          {"X-Group-Remote", "X-Group-Bear"}}});
}

// TestRequestHeader: escaped extra keys
TEST_CASE("authn: keys of extras are percent-decoded where they can be", "[authn]") {
  auth::UserInfo user = Bob();
  user.extra = {{"alpha", {"alphabetical"}},
                {"alph4num3r1c", {"alphanumeric"}},
                {"percent encoded", {"percent encoded"}},
                {"almost%zzpercent%xxencoded", {"not quite percent encoded"}},
                {"example.com/percent%20encoded", {"url with double percent encoding"}},
                {"example.com/今日は", {"url with unicode"}},
                {"abc123!#$+.-_*\\^`~|'", {"header key legal characters"}}};
  Check({{"escaped extra keys",
          {},
          {{"X-Remote-User", "Bob"},
           {"X-Remote-Extra-Alpha", "alphabetical"},
           {"X-Remote-Extra-Alph4num3r1c", "alphanumeric"},
           {"X-Remote-Extra-Percent%20encoded", "percent encoded"},
           {"X-Remote-Extra-Almost%zzpercent%xxencoded", "not quite percent encoded"},
           {"X-Remote-Extra-Example.com%2fpercent%2520encoded", "url with double percent encoding"},
           {"X-Remote-Extra-Example.com%2F%E4%BB%8A%E6%97%A5%E3%81%AF", "url with unicode"},
           {"X-Remote-Extra-Abc123!#$+.-_*\\^`~|'", "header key legal characters"}},
          user}});
}

TEST_CASE("authn: an empty prefix takes no header for an extra, and none out", "[authn]") {
  RequestHeaderNames names;
  names.extra_prefix = {""};
  http::Headers headers = HeadersOf({{"X-Remote-User", "Bob"}, {"Accept", "*/*"}});

  CHECK(UserFromHeaders(names, headers)->extra.empty());
  RemoveRequestHeaders(names, headers);
  CHECK(NamesOf(headers) == Strings{"Accept"});
}

namespace {

// A cluster's two authorities and an extension server that believes in them.
struct Proxies {
  http::KeyPair ca =
      MakeCertificate({.subject = {{"CN", "front-proxy-ca"}}, .extensions = {kAuthority}}, nullptr);
  std::shared_ptr<Variable<std::string>> bundle =
      std::make_shared<Variable<std::string>>(ca.certificate_pem);
  std::shared_ptr<Variable<Strings>> allowed = std::make_shared<Variable<Strings>>(Strings{});
  std::shared_ptr<Variable<RequestHeaderNames>> names =
      std::make_shared<Variable<RequestHeaderNames>>(RequestHeaderNames{});
  std::unique_ptr<auth::Authenticator> authenticator =
      NewRequestHeader({.ca = bundle, .allowed_names = allowed, .names = names});

  std::string Certificate(CertificateSpec spec = {.subject = {{"CN", "aggregator"}},
                                                  .extensions = {kForClients}}) const {
    return MakeCertificate(spec, &ca).certificate_pem;
  }
  Answer Ask(const std::string& pem, const Fields& fields = {{"X-Remote-User", "Bob"}}) const {
    http::Request request = From({pem});
    request.headers = HeadersOf(fields);
    return authenticator->Authenticate(Context::Background(), request);
  }
};

}  // namespace

// Row 31 of docs/security.md: who may speak for others.
TEST_CASE("authn: headers count only with a front proxy's certificate", "[authn]") {
  Proxies p;
  p.allowed->Set({"aggregator", "second"});
  const http::KeyPair users =
      MakeCertificate({.subject = {{"CN", "cluster-ca"}}, .extensions = {kAuthority}}, nullptr);
  http::Request plain;
  plain.headers = HeadersOf({{"X-Remote-User", "Bob"}});

  CHECK(p.Ask(p.Certificate())->value().user->name == "Bob");
  CHECK_FALSE(p.authenticator->Authenticate(Context::Background(), plain)->has_value());
  const auto ordinary =
      MakeCertificate({.subject = {{"CN", "aggregator"}}, .extensions = {kForClients}}, &users);
  CHECK(p.Ask(ordinary.certificate_pem).status().reason() == Reason::kUnauthorized);
  CHECK(p.Ask(p.Certificate({.subject = {{"CN", "mallory"}}, .extensions = {kForClients}}))
            .status() ==
        Status(Reason::kUnauthorized, "x509: subject with cn=mallory is not in the allowed list"));
  // The last common name counts, as for users.
  CHECK_FALSE(p.Ask(p.Certificate({.subject = {{"CN", "aggregator"}, {"CN", "mallory"}},
                                   .extensions = {kForClients}}))
                  .ok());
}

// TestX509Verifier
TEST_CASE("authn: a front proxy's certificate is verified as a user's is", "[authn]") {
  const Proxies p;
  const auto refused = [&](const CertificateSpec& spec) {
    return p.Ask(p.Certificate(spec)).status().reason() == Reason::kUnauthorized;
  };

  CHECK(refused({.extensions = {{"extendedKeyUsage", "serverAuth"}}}));
  CHECK(refused({.extensions = {kForClients}, .ends_in_seconds = -60}));
  CHECK(refused({.extensions = {kForClients}, .begins_in_seconds = 600}));
  CHECK(p.Ask(MakeCertificate({.extensions = {kForClients}}, nullptr).certificate_pem)
            .status()
            .reason() == Reason::kUnauthorized);
  CHECK(p.Ask(p.Certificate({.extensions = {{"extendedKeyUsage", "clientAuth,serverAuth"}}}))
            ->has_value());
  // Without allowed names the common name does not matter, not even that there is one.
  CHECK(p.Ask(p.Certificate({.subject = {{"O", "x"}}, .extensions = {kForClients}}))->has_value());
}

TEST_CASE("authn: a front proxy without a user in its headers is asked for other credentials",
          "[authn]") {
  const Proxies p;

  CHECK_FALSE(p.Ask(p.Certificate(), {})->has_value());
  CHECK_FALSE(p.Ask(p.Certificate(), {{"X-Remote-Group", "system:masters"}})->has_value());
  CHECK_FALSE(p.Ask(p.Certificate(), {{"X_Remote_User", "Bob"}})->has_value());
}

TEST_CASE("authn: a front proxy's authority, names and headers change at once", "[authn]") {
  Proxies p;
  http::Request request = From({p.Certificate()});
  request.headers = HeadersOf({{"X-Remote-User", "Bob"}, {"X-Other", "Eve"}});
  const auto ask = [&] { return p.authenticator->Authenticate(Context::Background(), request); };
  REQUIRE(ask()->has_value());

  p.allowed->Set({"nobody"});
  CHECK_FALSE(ask().ok());
  p.allowed->Set({"nobody", "aggregator"});
  p.names->Set({.username = {"X-Other"}});
  CHECK(ask()->value().user->name == "Eve");
  const Proxies other;
  p.bundle->Set(other.ca.certificate_pem);
  CHECK(ask().status().reason() == Reason::kUnauthorized);
  p.bundle->Set("");
  REQUIRE(ask().ok());
  CHECK_FALSE(ask()->has_value());
}

}  // namespace apiserver::inline v0::authn
