#include "apiserver/controlplane/service_account_issuer.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "authn/jwt.h"
#include "groups/account_keys.h"
#include "options/read_flags.h"

namespace controlplane_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using Lines = std::vector<std::string>;
using controlplane::ServiceAccountIssuerOptions;

struct Issuer {
  Issuer() {
    accounts.AddFlags(flags);
    options.AddFlags(flags);
    REQUIRE(files->MakeDirectories("/data", 0700).ok());
  }

  testing::ReadFlags flags;
  options::BuiltInAuthenticationOptions accounts;
  ServiceAccountIssuerOptions options;
  std::unique_ptr<FileSystem> files = NewMemoryFileSystem();
  ServiceAccountIssuerOptions::Environment environment{.folder = "/data", .files = files.get()};
};

constexpr char kTogether[] =
    "--service-account-signing-key-file, --service-account-issuer, and --api-audiences should be "
    "specified together";

}  // namespace

// TestValidateTokenRequest, and the limits of completeServiceAccountOptions.
TEST_CASE("controlplane: the flags of an issuer are checked in upstream's words",
          "[controlplane]") {
  struct Row {
    testing::ReadFlags::Words words;
    Lines problems;
  };
  const std::string key = "--service-account-signing-key-file";
  const std::string issuer = "--service-account-issuer";
  const std::string limit = "--service-account-max-token-expiration";
  const Lines out_of_range{
      "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds"};
  const std::vector<Row> rows{
      {{}, {"--service-account-signing-key-file and --service-account-issuer are required flags"}},
      {{{key, "/k"}}, {kTogether}},
      {{{issuer, "https://a"}}, {kTogether}},
      {{{"--api-audiences", "a"}}, {kTogether}},
      {{{key, "/k"}, {issuer, "https://a"}}, {}},
      {{{key, "/k"}, {issuer, "https://a"}, {limit, "59m"}}, out_of_range},
      {{{key, "/k"}, {issuer, "https://a"}, {limit, "1h"}}, {}},
      {{{key, "/k"}, {issuer, "https://a"}, {limit, "1193047h"}}, out_of_range},
  };
  for (const Row& row : rows) {
    CAPTURE(row.words);
    Issuer all;
    REQUIRE(all.flags.Read(row.words).empty());
    CHECK(all.options.Validate(all.accounts) == row.problems);
  }
}

TEST_CASE("controlplane: a server without flags has a key of its own, which it keeps",
          "[controlplane]") {
  Issuer all;
  REQUIRE(all.options.Complete(all.environment, all.accounts).ok());

  CHECK(all.options.Validate(all.accounts).empty());
  CHECK(all.accounts.Validate(/*standalone=*/true).empty());
  const std::string pem = all.files->Read("/data/service-account.key").value();
  Issuer again;
  again.environment.files = all.files.get();
  REQUIRE(again.options.Complete(again.environment, again.accounts).ok());
  CHECK(all.files->Read("/data/service-account.key").value() == pem);
  const auto made =
      again.options.NewTokenRequestOptions(again.environment, again.accounts, nullptr);
  REQUIRE(made.status() == Status());
  CHECK(made->api_audiences == Lines{"https://kubernetes.default.svc.cluster.local"});
  const std::string token = made->issuer->GenerateToken({.namespace_ = "a"}).value();
  CHECK(authn::UntrustedIssuer(token) == "https://kubernetes.default.svc.cluster.local");
}

TEST_CASE("controlplane: an issuer has the key, audiences and limits of its flags",
          "[controlplane]") {
  Issuer all;
  REQUIRE(all.files->WriteAtomically("/sa.key", AccountKey(), 0600).ok());
  REQUIRE(all.flags
              .Read({{"--service-account-signing-key-file", "/sa.key"},
                     {"--service-account-key-file", "/sa.key"},
                     {"--service-account-issuer", "https://a"},
                     {"--service-account-issuer", "https://b"},
                     {"--service-account-max-token-expiration", "2h"},
                     {"--service-account-extend-token-expiration", "false"}})
              .empty());
  REQUIRE(all.options.Complete(all.environment, all.accounts).ok());

  const auto made = all.options.NewTokenRequestOptions(all.environment, all.accounts, nullptr);

  REQUIRE(made.status() == Status());
  CHECK(made->api_audiences == Lines{"https://a", "https://b"});
  CHECK(made->max_expiration == std::chrono::hours(2));
  CHECK_FALSE(made->extend_expiration);
  CHECK_FALSE(all.files->Exists("/data/service-account.key"));
  all.options.signing_key_file = "/none";
  const auto missing = all.options.NewTokenRequestOptions(all.environment, all.accounts, nullptr);
  CHECK(
      missing.status().message().starts_with("failed to parse service-account-issuer-key-file: "));
  REQUIRE(all.files->WriteAtomically("/none", "text", 0600).ok());
  const auto broken = all.options.NewTokenRequestOptions(all.environment, all.accounts, nullptr);
  CHECK(broken.status().message().starts_with("failed to build token generator: "));
}

}  // namespace controlplane_test
