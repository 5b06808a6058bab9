// Literal defaults are those of k8s.io/apiserver/pkg/server/options/authorization.go.
#include "apiserver/options/authorization.h"

#include <catch2/catch.hpp>
#include <memory>

#include "apiserver/base/file_system.h"
#include "read_flags.h"

namespace apiserver::inline v0::options {
namespace {

using testing::ReadFlags;
using Texts = std::vector<std::string>;
using Words = ReadFlags::Words;

AuthorizationOptions ReadAuthorization(const Words& words) {
  AuthorizationOptions options;
  ReadFlags flags;
  options.AddFlags(flags);
  CHECK(flags.Read(words).empty());
  return options;
}

constexpr char kKubeconfig[] = R"(apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {token: t}}]
)";
constexpr char kFile[] = R"(apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers: [{type: RBAC, name: rbac}]
)";

// A server with the options of a command line.
struct AuthorizedServer {
  AuthorizedServer(const Words& words, bool standalone) {
    CHECK(files->WriteAtomically("/kubeconfig", kKubeconfig, 0600).ok());
    CHECK(files->WriteAtomically("/config", kFile, 0600).ok());
    auto applied =
        ReadAuthorization(words).ApplyTo(config, {.standalone = standalone, .files = files.get()});
    status = applied.status();
    if (applied.ok()) made = *std::move(applied);
  }

  // Returns whether a user of `group` may read `path`.
  bool May(const std::string& group, const std::string& path) const {
    const auto user =
        std::make_shared<const auth::UserInfo>(auth::UserInfo{.name = "jane", .groups = {group}});
    const auto verdict = config.authorizer->Authorize(Context::Background(),
                                                      {.user = user, .verb = "get", .path = path});
    return verdict.ok() && verdict->decision == auth::Decision::kAllow;
  }

  std::unique_ptr<FileSystem> files = NewMemoryFileSystem();
  Authorization made;
  server::Config config;
  Status status;
};

}  // namespace

TEST_CASE("options: authorization has upstream's defaults, but for roles of its own", "[options]") {
  const AuthorizationOptions options = ReadAuthorization({});
  CHECK(options.config_file.empty());
  CHECK(options.mode == "RBAC");
  CHECK(options.kubeconfig_file.empty());
  CHECK(options.authorized_ttl == std::chrono::seconds(10));
  CHECK(options.unauthorized_ttl == std::chrono::seconds(10));
  CHECK_FALSE(options.always_allow_paths);
  CHECK(options.Validate(true).empty());
  CHECK(options.Validate(false).empty());
}

TEST_CASE("options: each flag of authorization sets its field", "[options]") {
  const AuthorizationOptions options =
      ReadAuthorization({{"--authorization-config", "/config"},
                         {"--authorization-mode", "AlwaysAllow"},
                         {"--authorization-kubeconfig", "/kubeconfig"},
                         {"--authorization-webhook-cache-authorized-ttl", "1s"},
                         {"--authorization-webhook-cache-unauthorized-ttl", "2s"},
                         {"--authorization-always-allow-paths", "/a,/b*"}});
  CHECK(options.config_file == "/config");
  CHECK(options.mode == "AlwaysAllow");
  CHECK(options.kubeconfig_file == "/kubeconfig");
  CHECK(options.authorized_ttl == std::chrono::seconds(1));
  CHECK(options.unauthorized_ttl == std::chrono::seconds(2));
  CHECK(options.always_allow_paths == Texts{"/a", "/b*"});
  // pflag reads an empty text as an empty list.
  CHECK(ReadAuthorization({{"--authorization-always-allow-paths", ""}}).always_allow_paths ==
        Texts{});
}

TEST_CASE("options: a mode is RBAC or AlwaysAllow", "[options]") {
  AuthorizationOptions options;
  ReadFlags flags;
  options.AddFlags(flags);
  CHECK(flags.Spec("--authorization-mode")->one_of == Texts{"RBAC", "AlwaysAllow"});
}

TEST_CASE("options: flags of authorization that exclude each other are named", "[options]") {
  const Words with_mode = {{"--authorization-config", "/config"}, {"--authorization-mode", "RBAC"}};
  CHECK(ReadAuthorization(with_mode).Validate(true) ==
        Texts{"--authorization-config can not be specified when --authorization-mode or "
              "--authorization-webhook-* flags are defined; leave out --authorization-mode"});
  const Words with_cluster = {{"--authorization-config", "/config"},
                              {"--authorization-kubeconfig", "/kubeconfig"}};
  CHECK(ReadAuthorization(with_cluster).Validate(false) ==
        Texts{"--authorization-config can not be specified when --authorization-kubeconfig is "
              "defined: the file says whom to ask"});
  CHECK(ReadAuthorization({{"--authorization-kubeconfig", "/kubeconfig"}}).Validate(true) ==
        Texts{"--authorization-kubeconfig is about a cluster, and a standalone server asks none: "
              "leave it out, or add --no-standalone"});
  CHECK(ReadAuthorization({{"--authorization-mode", "RBAC"}}).Validate(false) ==
        Texts{"--authorization-mode is for a standalone server: with --no-standalone the cluster "
              "of --authorization-kubeconfig, or a file, --authorization-config, says who may do "
              "what; leave it out, or leave out --no-standalone"});
  CHECK(ReadAuthorization({{"--authorization-always-allow-paths", "/ok,/a*b"}}).Validate(true) ==
        Texts{"--authorization-always-allow-paths: only trailing * allowed in \"a*b\""});
}

TEST_CASE("options: a standalone server asks roles, and system:masters may everything",
          "[options]") {
  const AuthorizedServer server({}, true);
  REQUIRE(server.status.ok());
  REQUIRE(server.made.rbac);
  CHECK(server.made.rules);
  CHECK(server.made.authorizer == server.config.authorizer);
  CHECK(server.May("system:masters", "/anything"));
  CHECK_FALSE(server.May("dev", "/anything"));
  // Not even the paths of probes: the roles say who may.
  CHECK_FALSE(server.May("dev", "/healthz"));
}

TEST_CASE("options: AlwaysAllow asks nobody", "[options]") {
  const AuthorizedServer server({{"--authorization-mode", "AlwaysAllow"}}, true);
  REQUIRE(server.status.ok());
  CHECK_FALSE(server.made.rbac);
  CHECK_FALSE(server.config.authorizer);
}

TEST_CASE("options: paths for everybody stand before roles and files", "[options]") {
  for (const Words& words : {Words{}, Words{{"--authorization-config", "/config"}}}) {
    Words with_paths = words;
    with_paths.emplace_back("--authorization-always-allow-paths", "/metrics,/debug/*");
    const AuthorizedServer server(with_paths, true);
    REQUIRE(server.status.ok());
    REQUIRE(server.made.rbac);
    CHECK(server.May("dev", "/metrics"));
    CHECK(server.May("dev", "/debug/flags"));
    CHECK_FALSE(server.May("dev", "/version"));
  }
}

TEST_CASE("options: a server that asks a cluster lets everybody probe", "[options]") {
  const AuthorizedServer server({{"--authorization-kubeconfig", "/kubeconfig"}}, false);
  REQUIRE(server.status.ok());
  CHECK_FALSE(server.made.rbac);
  for (const char* path : {"/healthz", "/readyz", "/livez"}) CHECK(server.May("dev", path));
  CHECK(server.May("system:masters", "/anything"));

  const AuthorizedServer other({{"--authorization-kubeconfig", "/kubeconfig"},
                                {"--authorization-always-allow-paths", "/metrics"}},
                               false);
  REQUIRE(other.status.ok());
  CHECK(other.May("dev", "/metrics"));
}

TEST_CASE("options: a server that is to ask a cluster and has none says which flag it needs",
          "[options]") {
  CHECK(AuthorizedServer({}, false).status.message() ==
        "without --standalone this server asks a cluster: give it --authorization-kubeconfig, or "
        "run it in a pod");
  CHECK(AuthorizedServer({{"--authorization-kubeconfig", "/missing"}}, false)
            .status.message()
            .starts_with("--authorization-kubeconfig: "));
  CHECK(AuthorizedServer({{"--authorization-config", "/missing"}}, true)
            .status.message()
            .starts_with("--authorization-config: "));
}

TEST_CASE("options: a server in a pod asks the pod's cluster", "[options]") {
  const Environment pod{.standalone = false,
                        .in_cluster = client::ClientConfig{.server = "https://10.0.0.1:443"}};
  CHECK(ClusterConfig("--flag", "", pod).value().server == "https://10.0.0.1:443");
  Authorization made;
  server::Config config;
  auto applied = AuthorizationOptions().ApplyTo(config, pod);
  REQUIRE(applied.ok());
  made = *std::move(applied);
  CHECK(config.authorizer);
}

}  // namespace apiserver::inline v0::options
