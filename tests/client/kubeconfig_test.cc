#include "apiserver/client/kubeconfig.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::client {
namespace {

Kubeconfig Full() {
  Kubeconfig config;
  config.server = "https://127.0.0.1:6443";
  config.ca_pem = "the authority\n";
  config.client_certificate_pem = "the certificate\n";
  config.client_key_pem = "the key\n";
  config.token = "to\"ken";
  config.cluster_name = "one";
  config.user_name = "jane";
  return config;
}

void CheckSame(const Kubeconfig& a, const Kubeconfig& b) {
  CHECK(a.server == b.server);
  CHECK(a.tls_server_name == b.tls_server_name);
  CHECK(a.ca_pem == b.ca_pem);
  CHECK(a.client_certificate_pem == b.client_certificate_pem);
  CHECK(a.client_key_pem == b.client_key_pem);
  CHECK(a.token == b.token);
  CHECK(a.cluster_name == b.cluster_name);
  CHECK(a.user_name == b.user_name);
}

}  // namespace

TEST_CASE("client: a kubeconfig read back is the one that was written", "[client]") {
  const Result<Kubeconfig> read = ReadKubeconfig(WriteKubeconfig(Full()));

  REQUIRE(read.status() == Status::Ok());
  CheckSame(*read, Full());
}

TEST_CASE("client: a kubeconfig file is written for its owner and read back", "[client]") {
  const auto files = NewMemoryFileSystem();
  REQUIRE(files->MakeDirectories("/k", 0700).ok());

  REQUIRE(WriteKubeconfigFile(*files, "/k/config", Full()).ok());

  const Result<Kubeconfig> read = ReadKubeconfigFile(*files, "/k/config");
  REQUIRE(read.status() == Status::Ok());
  CheckSame(*read, Full());
  CHECK(ReadKubeconfigFile(*files, "/k/other").status().reason() == Reason::kNotFound);
}

TEST_CASE("client: kubectl's own kubeconfig is understood", "[client]") {
  const Result<Kubeconfig> read = ReadKubeconfig(R"(apiVersion: v1
kind: Config
clusters:
- cluster:
    certificate-authority-data: Q0E=
    server: https://10.0.0.1:6443
  name: kind
- cluster: {server: "https://other"}
  name: other
contexts:
- context:
    cluster: kind
    user: kind-admin
  name: kind-ctx
current-context: kind-ctx
users:
- name: kind-admin
  user:
    token: abc
)");

  REQUIRE(read.status() == Status::Ok());
  CHECK(read->server == "https://10.0.0.1:6443");
  CHECK(read->ca_pem == "CA");
  CHECK(read->token == "abc");
  CHECK(read->client_key_pem.empty());
}

TEST_CASE("client: a kubeconfig that cannot be used says why", "[client]") {
  CHECK(
      ReadKubeconfig("current-context: a\ncontexts:\n- name: a\n  context: {cluster: c, user: u}\n"
                     "clusters: [{name: c, cluster: {server: x}}]\n"
                     "users: [{name: u, user: {exec: {command: x}}}]")
          .status()
          .message() == "kubeconfig: exec: only ReadClientConfig() knows credential plug-ins");
  CHECK(ReadKubeconfig("current-context: a").status().message() ==
        "kubeconfig: there is no context \"a\"");
  CHECK(ReadKubeconfig("current-context: a\ncontexts:\n- name: a\n  context: {cluster: c}")
            .status()
            .message() == "kubeconfig: cluster \"c\" names no server");
  Kubeconfig config = Full();
  std::string text = WriteKubeconfig(config);
  text.replace(text.find("client-key-data: ") + 17, 4, "????");
  CHECK(ReadKubeconfig(text).status().message() == "kubeconfig: client-key-data is not base64");
}

}  // namespace apiserver::inline v0::client
