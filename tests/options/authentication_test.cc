// Literal defaults are those of k8s.io/apiserver/pkg/server/options/authentication.go, and of
// k8s.io/kubernetes/pkg/kubeapiserver/options/authentication.go.
#include "apiserver/options/authentication.h"

#include <catch2/catch.hpp>
#include <memory>

#include "apiserver/authn/bearer_token.h"
#include "apiserver/base/file_system.h"
#include "apiserver/options/built_in_authentication.h"
#include "read_flags.h"

namespace apiserver::inline v0::options {
namespace {

using testing::ReadFlags;
using Texts = std::vector<std::string>;
using Words = ReadFlags::Words;

template <typename Group>
Group Read(const Words& words) {
  Group options;
  ReadFlags flags;
  options.AddFlags(flags);
  CHECK(flags.Read(words).empty());
  return options;
}

std::string Away(const std::string& flag) {
  return flag +
         " is for a standalone server: with --no-standalone the cluster of "
         "--authentication-kubeconfig knows who somebody is; leave it out, or leave out "
         "--no-standalone";
}

// A standalone server whose administrator has the token "admin".
struct Standalone {
  explicit Standalone(const BuiltInAuthenticationOptions& options) {
    CHECK(files->WriteAtomically("/tokens", "of-joe,joe,1,\"dev,ops\"\n", 0600).ok());
    CHECK(files
              ->WriteAtomically("/config",
                                "apiVersion: apiserver.config.k8s.io/v1\nkind: "
                                "AuthenticationConfiguration\nanonymous:\n  enabled: true\n",
                                0600)
              .ok());
    config.authenticator = authn::NewBearerToken(
        authn::NewStaticTokens({{"admin", {.name = "admin", .groups = {"system:masters"}}}}));
    auto applied = options.ApplyTo(config, {.standalone = true, .files = files.get()});
    status = applied.status();
    if (applied.ok()) made = *std::move(applied);
  }

  // Returns the name that a token stands for; "nobody"; or the error.
  std::string Who(const std::string& token) const {
    http::Request request;
    if (!token.empty()) request.headers.Add("Authorization", "Bearer " + token);
    const auto answer = config.authenticator->Authenticate(Context::Background(), request);
    if (!answer.ok()) return std::string(answer.status().message());
    return answer->has_value() ? (*answer)->user->name : "nobody";
  }

  std::unique_ptr<FileSystem> files = NewMemoryFileSystem();
  BuiltInAuthentication made;
  server::Config config;
  Status status;
};

}  // namespace

TEST_CASE("options: authentication left to a cluster has upstream's defaults", "[options]") {
  const auto options = Read<DelegatingAuthenticationOptions>({});
  CHECK(options.values.kubeconfig_file.empty());
  CHECK_FALSE(options.values.skip_lookup);
  CHECK_FALSE(options.values.tolerate_lookup_failure);
  CHECK(options.values.token_cache_ttl == std::chrono::seconds(10));
  CHECK(options.values.request_header_ca_file.empty());
  CHECK(options.values.request_header_allowed_names.empty());
  // Upstream's are in lower case: names of headers compare without regard to it.
  CHECK(options.values.request_header_names.username == Texts{"X-Remote-User"});
  CHECK(options.values.request_header_names.uid.empty());
  CHECK(options.values.request_header_names.group == Texts{"X-Remote-Group"});
  CHECK(options.values.request_header_names.extra_prefix == Texts{"X-Remote-Extra-"});
  CHECK(options.Validate(true).empty());
  CHECK(options.Validate(false).empty());
}

TEST_CASE("options: each flag of delegated authentication sets its field", "[options]") {
  const auto options =
      Read<DelegatingAuthenticationOptions>({{"--authentication-kubeconfig", "/kubeconfig"},
                                             {"--authentication-skip-lookup", "true"},
                                             {"--authentication-tolerate-lookup-failure", "true"},
                                             {"--authentication-token-webhook-cache-ttl", "2s"},
                                             {"--requestheader-client-ca-file", "/ca"},
                                             {"--requestheader-allowed-names", "a,b"},
                                             {"--requestheader-username-headers", "X-A,X-B"},
                                             {"--requestheader-uid-headers", "X-C"},
                                             {"--requestheader-group-headers", "X-D"},
                                             {"--requestheader-extra-headers-prefix", "X-E-"}});
  CHECK(options.values.kubeconfig_file == "/kubeconfig");
  CHECK(options.values.skip_lookup);
  CHECK(options.values.tolerate_lookup_failure);
  CHECK(options.values.token_cache_ttl == std::chrono::seconds(2));
  CHECK(options.values.request_header_ca_file == "/ca");
  CHECK(options.values.request_header_allowed_names == Texts{"a", "b"});
  CHECK(options.values.request_header_names.username == Texts{"X-A", "X-B"});
  CHECK(options.values.request_header_names.uid == Texts{"X-C"});
  CHECK(options.values.request_header_names.group == Texts{"X-D"});
  CHECK(options.values.request_header_names.extra_prefix == Texts{"X-E-"});
  CHECK(options.Validate(false).empty());
}

TEST_CASE("options: a standalone server refuses flags about a cluster", "[options]") {
  const auto options =
      Read<DelegatingAuthenticationOptions>({{"--authentication-token-webhook-cache-ttl", "1s"},
                                             {"--authentication-skip-lookup", "false"}});
  CHECK(options.Validate(true) ==
        Texts{"--authentication-skip-lookup is about a cluster, and a standalone server asks none: "
              "leave it out, or add --no-standalone"});
  CHECK(options.Validate(false).empty());
}

TEST_CASE("options: headers of front proxies need the file of their authorities", "[options]") {
  const auto options =
      Read<DelegatingAuthenticationOptions>({{"--requestheader-uid-headers", "X-Uid"}});
  CHECK(options.Validate(true) ==
        Texts{"--requestheader-uid-headers needs --requestheader-client-ca-file: without it there "
              "are no front proxies; set it, or leave out --requestheader-uid-headers"});
  CHECK(options.Validate(false) ==
        Texts{"--requestheader-uid-headers needs --requestheader-client-ca-file: without it the "
              "cluster says what its front proxies are like; set it, or leave out "
              "--requestheader-uid-headers"});
}

TEST_CASE("options: a standalone server without front proxies asks nobody", "[options]") {
  server::Config config;
  const auto applied = DelegatingAuthenticationOptions().ApplyTo(config, {.standalone = true});
  REQUIRE(applied.ok());
  CHECK(*applied == nullptr);
  CHECK_FALSE(config.authenticator);
}

TEST_CASE("options: a file of front proxies' authorities that is missing names its flag",
          "[options]") {
  const auto files = NewMemoryFileSystem();
  const auto options =
      Read<DelegatingAuthenticationOptions>({{"--requestheader-client-ca-file", "/missing"}});
  server::Config config;
  const auto applied = options.ApplyTo(config, {.standalone = true, .files = files.get()});
  REQUIRE_FALSE(applied.ok());
  CHECK(applied.status().message().starts_with("--requestheader-client-ca-file: /missing: "));
}

TEST_CASE("options: a server's own authentication knows nobody by default", "[options]") {
  const auto options = Read<BuiltInAuthenticationOptions>({});
  CHECK(options.token_auth_file.empty());
  CHECK(options.authentication_config.empty());
  CHECK_FALSE(options.anonymous);
  CHECK(options.api_audiences.empty());
  CHECK(options.service_accounts.lookup);
  CHECK_FALSE(options.WantsServiceAccounts());
  CHECK_FALSE(options.WantsTokenObjects());
  CHECK(options.Validate(true).empty());
  CHECK(options.Validate(false).empty());

  const Standalone server(options);
  REQUIRE(server.status.ok());
  CHECK(server.Who("admin") == "admin");
  CHECK(server.Who("") == "nobody");
  CHECK(server.Who("of-joe") != "joe");
}

TEST_CASE("options: each flag of a server's own authentication sets its field", "[options]") {
  const auto options =
      Read<BuiltInAuthenticationOptions>({{"--token-auth-file", "/tokens"},
                                          {"--authentication-config", "/config"},
                                          {"--anonymous-auth", "true"},
                                          {"--api-audiences", "a,b"},
                                          {"--service-account-key-file", "/key"},
                                          {"--service-account-key-file", "/key2"},
                                          {"--service-account-issuer", "https://issuer"},
                                          {"--service-account-lookup", "false"},
                                          {"--service-account-jwks-uri", "https://keys"},
                                          {"--external-hostname", "api.example"},
                                          {"--enable-bootstrap-token-auth", "true"}});
  CHECK(options.token_auth_file == "/tokens");
  CHECK(options.authentication_config == "/config");
  CHECK(options.anonymous);
  CHECK(options.api_audiences == Texts{"a", "b"});
  CHECK(options.service_accounts.key_files == Texts{"/key", "/key2"});
  CHECK(options.service_accounts.issuers == Texts{"https://issuer"});
  CHECK_FALSE(options.service_accounts.lookup);
  CHECK(options.service_accounts.jwks_uri == "https://keys");
  CHECK(options.external_hostname == "api.example");
  CHECK(options.enable_bootstrap_token);
  CHECK(options.WantsTokenObjects());
}

TEST_CASE("options: behind an aggregator each flag of a server's own users is refused",
          "[options]") {
  for (const char* flag :
       {"--token-auth-file", "--authentication-config", "--anonymous-auth", "--api-audiences",
        "--service-account-key-file", "--service-account-issuer", "--service-account-lookup",
        "--service-account-jwks-uri", "--external-hostname", "--enable-bootstrap-token-auth"}) {
    CAPTURE(flag);
    const auto problems = Read<BuiltInAuthenticationOptions>({{flag, "x"}}).Validate(false);
    REQUIRE_FALSE(problems.empty());
    CHECK(problems.front() == Away(flag));
  }
}

TEST_CASE("options: anonymous requests are a flag's or a file's to allow", "[options]") {
  const Words both = {{"--anonymous-auth", "true"}, {"--authentication-config", "/config"}};
  CHECK(Read<BuiltInAuthenticationOptions>(both).Validate(true) ==
        Texts{"--anonymous-auth and --authentication-config exclude each other: the file says it"});

  const Standalone by_flag(Read<BuiltInAuthenticationOptions>({{"--anonymous-auth", "true"}}));
  REQUIRE(by_flag.status.ok());
  CHECK(by_flag.Who("") == "system:anonymous");
  const Standalone by_file(
      Read<BuiltInAuthenticationOptions>({{"--authentication-config", "/config"}}));
  REQUIRE(by_file.status.ok());
  CHECK(by_file.Who("") == "system:anonymous");
}

TEST_CASE("options: tokens of a file are known besides the administrator's", "[options]") {
  const Standalone server(Read<BuiltInAuthenticationOptions>(
      {{"--token-auth-file", "/tokens"}, {"--api-audiences", "a,b"}}));
  REQUIRE(server.status.ok());
  CHECK(server.Who("of-joe") == "joe");
  CHECK(server.Who("admin") == "admin");
  CHECK(server.config.api_audiences == Texts{"a", "b"});
  CHECK(server.made.api_audiences == Texts{"a", "b"});
  CHECK(server.made.authenticator == server.config.authenticator);
}

TEST_CASE("options: files of a server's own authentication that are missing name their flag",
          "[options]") {
  for (const char* flag : {"--token-auth-file", "--authentication-config"}) {
    const Standalone server(Read<BuiltInAuthenticationOptions>({{flag, "/missing"}}));
    CAPTURE(flag);
    REQUIRE_FALSE(server.status.ok());
    CHECK(server.status.message().starts_with(std::string(flag) + ": "));
  }
}

TEST_CASE("options: behind an aggregator a server's own authentication changes nothing",
          "[options]") {
  server::Config config;
  const auto made = BuiltInAuthenticationOptions().ApplyTo(config, {.standalone = false});
  REQUIRE(made.ok());
  CHECK_FALSE(made->authenticator);
  CHECK_FALSE(config.authenticator);
}

}  // namespace apiserver::inline v0::options
