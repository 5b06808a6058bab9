#include "client/exec_credential.h"

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/http/tls.h"

namespace apiserver::inline v0::client {
namespace {

const ExecConfig kV1 = {.api_version = "client.authentication.k8s.io/v1"};

std::string Credential(const std::string& status) {
  return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" +
         status + "}";
}

// TestRefreshCreds
TEST_CASE("client: a plug-in is told the version, and the cluster if it wants it", "[client]") {
  const ExecCluster cluster = {.server = "https://a", .server_name = "bar", .ca_pem = "baz"};
  CHECK(ExecInfo(kV1, cluster) ==
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
        R"("spec":{"interactive":false}})");
  ExecConfig config = {.api_version = "client.authentication.k8s.io/v1beta1",
                       .provide_cluster_info = true};
  CHECK(ExecInfo(config, {.server = "https://a"}) ==
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
        R"("spec":{"cluster":{"server":"https://a","config":null},"interactive":false}})");
  config.cluster_config_json = R"({"audience":"snorlax"})";
  CHECK(ExecInfo(config, cluster) ==
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
        R"("spec":{"cluster":{"server":"https://a","tls-server-name":"bar",)"
        R"("certificate-authority-data":"YmF6","config":{"audience":"snorlax"}},)"
        R"("interactive":false}})");
}

TEST_CASE("client: a plug-in returns a token, and when it expires", "[client]") {
  const auto forever = ReadExecCredential(Credential(R"({"token":"foo-bar"})"), kV1);
  REQUIRE(forever.ok());
  CHECK(forever->token == "foo-bar");
  CHECK(forever->certificate == http::KeyPair{});
  CHECK_FALSE(forever->expires);
  const auto until = ReadExecCredential(
      Credential(R"({"token":"t","expirationTimestamp":"1970-01-01T01:00:05+01:00"})"), kV1);
  REQUIRE(until.ok());
  CHECK(until->expires == Clock::Wall(std::chrono::seconds(5)));
  const auto yaml = ReadExecCredential(
      "kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\nstatus: {token: abc}\n",
      kV1);
  REQUIRE(yaml.ok());
  CHECK(yaml->token == "abc");
}

TEST_CASE("client: a plug-in returns a certificate with its key", "[client]") {
  const auto pair = http::NewCertificateAuthority("a", RealClock()).value();
  std::string status = R"({"clientCertificateData":)";
  codec::AppendJsonString(pair.certificate_pem, status);
  status += R"(,"clientKeyData":)";
  codec::AppendJsonString(pair.key_pem, status);

  const auto read = ReadExecCredential(Credential(status + "}"), kV1);

  REQUIRE(read.ok());
  CHECK(read->certificate == pair);
  CHECK(read->token.empty());
}

// TestRefreshCreds
TEST_CASE("client: other output of a plug-in is refused without being shown", "[client]") {
  const std::string v1 = R"("apiVersion":"client.authentication.k8s.io/v1")";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "decoding stdout: it is no object"},
      {"s3cret", "decoding stdout: it is no object"},
      {"{\"s3cret", "decoding stdout: it is neither JSON nor YAML"},
      {"{" + v1 + "}", "decoding stdout: Object 'Kind' is missing"},
      {R"({"kind":"ExecCredential","status":{"token":"s3cret"}})",
       "decoding stdout: Object 'apiVersion' is missing"},
      {R"({"kind":"Pod",)" + v1 + "}",
       "decoding stdout: no kind \"Pod\" is registered for version "
       "\"client.authentication.k8s.io/v1\""},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
       R"("status":{"token":"s3cret"}})",
       "exec plugin is configured to use API version client.authentication.k8s.io/v1, plugin "
       "returned version client.authentication.k8s.io/v1beta1"},
      {Credential("null"), "exec plugin didn't return a status field"},
      {Credential("[]"), "decoding stdout: status is no object"},
      {Credential("{}"), "exec plugin didn't return a token or cert/key pair"},
      {Credential(R"({"token":5})"), "decoding stdout: status.token is no string"},
      {Credential(R"({"token":"s3cret\r\nX: y"})"),
       "exec plugin returned a token that cannot be sent in a header"},
      {Credential(R"({"token":"s3cret","expirationTimestamp":"tomorrow"})"),
       "decoding stdout: status.expirationTimestamp is no time as in RFC 3339"},
      {Credential(R"({"clientKeyData":"s3cret"})"),
       "exec plugin returned only certificate or key, not both"},
      {Credential(R"({"clientCertificateData":"c"})"),
       "exec plugin returned only certificate or key, not both"},
  };
  for (const auto& [output, why] : cases) {
    CHECK(ReadExecCredential(output, kV1).status() == Status(Reason::kInvalid, why));
  }
  const auto bad = ReadExecCredential(
      Credential(R"({"clientCertificateData":"foo","clientKeyData":"s3cret"})"), kV1);
  CHECK(bad.status().reason() == Reason::kInvalid);
  CHECK(bad.status().message().starts_with("failed parsing client key/certificate: "));
  CHECK(bad.status().message().find("s3cret") == std::string_view::npos);
}

}  // namespace
}  // namespace apiserver::inline v0::client
