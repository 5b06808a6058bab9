#include "apiserver/authn/config_file.h"

#include <catch2/catch.hpp>

#include "authn/fake_http_client.h"
#include "authn/signed_tokens.h"
#include "base/manual.h"

namespace apiserver::inline v0::authn {
namespace {

constexpr const char* kPath = "/etc/authentication.yaml";

std::string FileText(const std::string& prefix, const std::string& rest = "") {
  return "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n"
         "- issuer:\n    url: https://issuer\n    audiences: [a]\n  claimMappings:\n"
         "    username: {claim: sub, prefix: '" +
         prefix + "'}\n" + rest;
}

// A file, and the issuer that it names.
struct Loaded {
  explicit Loaded(const std::string& text) {
    clock.Advance(std::chrono::seconds(1000));
    REQUIRE(files->MakeDirectories("/etc", 0755).ok());
    Write(text);
    http->AnswerNext(http::ClientResponse{
        .code = 200, .body = R"({"issuer":"https://issuer","jwks_uri":"https://issuer/keys"})"});
    http->AnswerNext(http::ClientResponse{
        .code = 200, .body = R"({"keys":[)" + JwkText(P256Key().public_key(), "a") + "]}"});
    file = LoadAuthenticationConfigFile(
        {.path = kPath,
         .executor = &executor,
         .files = files.get(),
         .oidc = {.http = [this](const client::HttpClientOptions&) { return http; },
                  .disallowed_issuers = {"https://own"},
                  .clock = &clock,
                  .metrics = registry.get(),
                  .server_id = "server"}});
  }
  void Write(const std::string& text) { REQUIRE(files->WriteAtomically(kPath, text, 0600).ok()); }
  std::string User() const {
    const std::string token = *SignJwt(P256Key(), SigningAlgorithm::kEs256, "a",
                                       R"({"iss":"https://issuer","aud":"a","sub":"jane",)"
                                       R"("exp":2000})");
    const auto answer = (*file)->tokens()->AuthenticateToken(Context::Background(), token);
    return answer.ok() && answer->has_value() ? answer->value().user->name : "nobody";
  }
  bool Counts(const std::string& line) const {
    return registry->Serialize().find("apiserver_authentication_config_controller_" + line) !=
           std::string::npos;
  }

  testing::ManualClock clock;
  testing::ManualExecutor executor;
  std::unique_ptr<FileSystem> files = NewMemoryFileSystem();
  std::unique_ptr<metrics::Registry> registry = metrics::NewRegistry();
  std::shared_ptr<FakeHttpClient> http = std::make_shared<FakeHttpClient>();
  Result<std::unique_ptr<AuthenticationConfigFile>> file = Status(Reason::kUnknown, "");
};

}  // namespace

TEST_CASE("authn: a changed configuration counts, a wrong one changes nothing", "[authn]") {
  Loaded loaded(FileText("old:", "anonymous: {enabled: true, conditions: [{path: /livez}]}\n"));
  REQUIRE(loaded.file.status() == Status());
  CHECK(loaded.User() == "old:jane");
  CHECK((*loaded.file)->Healthy() == Status());
  CHECK((*loaded.file)->anonymous() == AnonymousAuthConfig{.enabled = true, .paths = {"/livez"}});
  CHECK_FALSE(loaded.Counts("automatic_reloads_total{"));

  loaded.Write(FileText("new:"));
  CHECK((*loaded.file)->Check() == Status());
  CHECK(loaded.User() == "new:jane");
  CHECK((*loaded.file)->anonymous()->enabled);
  CHECK(loaded.Counts("automatic_reloads_total{status=\"success\""));

  loaded.Write(FileText("newer:", "anonymus: {}\n"));
  CHECK((*loaded.file)->Check().message() ==
        "authentication configuration /etc/authentication.yaml: line 9: anonymus is no field here; "
        "known are apiVersion, kind, jwt, anonymous");
  CHECK(loaded.User() == "new:jane");
  CHECK(loaded.Counts("automatic_reloads_total{status=\"failure\""));
  CHECK(loaded.Counts("automatic_reload_last_timestamp_seconds{status=\"failure\""));
  // The keys were asked for once.
  CHECK(loaded.http->requests().size() == 2);
}

TEST_CASE("authn: an issuer that is taken out of the file is known no more", "[authn]") {
  Loaded loaded(FileText(""));
  REQUIRE(loaded.file.status() == Status());
  CHECK(loaded.User() == "jane");
  loaded.Write("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n");
  CHECK((*loaded.file)->Check() == Status());
  CHECK(loaded.User() == "nobody");
}

TEST_CASE("authn: a wrong configuration stops the start with its path and line", "[authn]") {
  Loaded loaded(
      "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"
      "jwt:\n- issuer: {url: 'https://own', audiences: [a]}\n"
      "  claimMappings: {username: {claim: sub, prefix: ''}}\n");
  CHECK(loaded.file.status().reason() == Reason::kInvalid);
  CHECK(loaded.file.status().message() ==
        "authentication configuration /etc/authentication.yaml: line 4: jwt[0].issuer.url: Invalid "
        R"(value: "https://own": URL must not overlap with disallowed issuers: [https://own])");
  CHECK(LoadAuthenticationConfigFile(
            {.path = "/missing", .executor = &loaded.executor, .files = loaded.files.get()})
            .status()
            .reason() == Reason::kNotFound);
}

}  // namespace apiserver::inline v0::authn
