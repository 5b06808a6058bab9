#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

#include "apiserver/client/client_config.h"
#include "apiserver/client/webhook_users.h"

namespace apiserver::inline v0::client {
namespace {

constexpr std::string_view kExecV1 = "apiVersion: client.authentication.k8s.io/v1";

std::string KubeconfigWith(const std::string& user, const std::string& cluster = "") {
  return "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
         "clusters: [{name: k, cluster: {server: 'https://a'" +
         cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n";
}

std::string Exec(const std::string& members) { return "exec: {" + members + "}"; }

// As `aws eks update-kubeconfig` writes it.
TEST_CASE("client: a kubeconfig names a plug-in", "[client]") {
  const auto config =
      ReadClientConfig(KubeconfigWith(
                           R"(exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws,
             args: [--region, eu-west-1, eks, get-token], env: [{name: AWS_PROFILE, value: dev}],
             installHint: "get \e[31maws\u009b!\n", provideClusterInfo: true})",
                           ", extensions: [{name: other, extension: 1}, {name: "
                           "client.authentication.k8s.io/exec, extension: {audience: [x]}}]"),
                       "/etc");

  REQUIRE(config.ok());
  REQUIRE(config->exec);
  const ExecConfig& exec = *config->exec;
  CHECK(exec.command == "aws");
  CHECK(exec.args == std::vector<std::string>{"--region", "eu-west-1", "eks", "get-token"});
  CHECK(exec.env == std::vector<std::pair<std::string, std::string>>{{"AWS_PROFILE", "dev"}});
  CHECK(exec.api_version == "client.authentication.k8s.io/v1beta1");
  CHECK(exec.install_hint == "get [31maws!\n");
  CHECK(exec.provide_cluster_info);
  CHECK(exec.interactive_mode == ExecInteractiveMode::kIfAvailable);
  CHECK(exec.cluster_config_json == R"({"audience":["x"]})");
}

TEST_CASE("client: a plug-in with a slash is relative to the kubeconfig's folder", "[client]") {
  const auto command = [](const std::string& name) {
    return ReadClientConfig(KubeconfigWith(Exec(std::string(kExecV1) +
                                                ", interactiveMode: Never, "
                                                "command: '" +
                                                name + "'")),
                            "/etc/x")
        ->exec->command;
  };
  CHECK(command("./bin/a") == "/etc/x/bin/a");
  CHECK(command("../a") == "/etc/a");
  CHECK(command("/opt//a") == "/opt/a");
  CHECK(command("a") == "a");
}

TEST_CASE("client: a plug-in that cannot be run so is refused", "[client]") {
  const std::string v1(kExecV1);
  const std::string use = " for u to use exec authentication plugin";
  const std::string run = v1 + ", command: x, interactiveMode: ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"exec: x", "exec is no object"},
      {Exec(v1), "command must be specified" + use},
      {Exec("command: x"), "apiVersion must be specified" + use},
      {Exec("command: x, apiVersion: client.authentication.k8s.io/v1alpha1"),
       "exec plugin: invalid apiVersion \"client.authentication.k8s.io/v1alpha1\""},
      {Exec(v1 + ", command: x"), "interactiveMode must be specified" + use},
      {Exec(run + "Sometimes"), "invalid interactiveMode for u: \"Sometimes\""},
      {Exec(run + "Never, args: [1]"), "exec: args is no string"},
      {Exec(run + R"(Never, args: ["a\0b"])"), "exec: args contains NUL"},
      {Exec(run + "Never, env: [{value: a}]"), "env variable name must be specified" + use},
      {Exec(run + "Never, env: [{name: a, value: 1}]"), "exec: env value is no string"},
  };
  for (const auto& [user, why] : cases) {
    CHECK(ReadClientConfig(KubeconfigWith(user), "/").status() ==
          Status(Reason::kInvalid, "kubeconfig: " + why));
  }
}

TEST_CASE("client: a host may refuse plug-ins, and webhooks' users have none", "[client]") {
  const std::string exec = Exec(std::string(kExecV1) + ", command: x, interactiveMode: Always");
  const auto refused = [](const std::string& user) {
    return ReadClientConfig(KubeconfigWith(user), "/", Cleartext::kRefused, ExecPlugIns::kRefused)
        .status();
  };
  CHECK(refused(exec) ==
        Status(Reason::kInvalid, "kubeconfig: exec: credential plug-ins are not allowed here"));
  // As in client-go it would not be run.
  CHECK(refused(exec + ", token: t").ok());
  CHECK(WebhookUsers::Read(KubeconfigWith(exec), "/").status() ==
        Status(Reason::kInvalid,
               "kubeconfig: exec: credential plug-ins are not supported (user \"u\")"));
  const auto files = NewMemoryFileSystem();
  REQUIRE(files->WriteAtomically("k", KubeconfigWith(exec), 0600).ok());
  CHECK(ReadClientConfigFile(*files, "k").ok());
  CHECK(ReadClientConfigFile(*files, "k", Cleartext::kRefused, ExecPlugIns::kRefused)
            .status()
            .message() == "k: kubeconfig: exec: credential plug-ins are not allowed here");
}

}  // namespace
}  // namespace apiserver::inline v0::client
