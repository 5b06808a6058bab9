#include "apiserver/client/client_config.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/manual.h"
#include "client/fake_http_client.h"

namespace apiserver::inline v0::client {
namespace {

using testing::FakeHttpClient;

std::string KubeconfigOf(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
         "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
         "clusters: [{name: k, cluster: {" +
         cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n";
}

TEST_CASE("client: a kubeconfig names files, relative to its own folder, or has their data",
          "[client]") {
  const auto files = ReadClientConfig(
      KubeconfigOf("server: 'https://a.test/x', tls-server-name: b, certificate-authority: ca.pem",
                   "client-certificate: /c.pem, client-key: sub/k.pem, tokenFile: t"),
      "/etc/x");
  REQUIRE(files.ok());
  CHECK(files->server == "https://a.test/x");
  CHECK(files->server_name == "b");
  CHECK(files->ca_file == "/etc/x/ca.pem");
  CHECK(files->certificate_file == "/c.pem");
  CHECK(files->key_file == "/etc/x/sub/k.pem");
  CHECK(files->token_file == "/etc/x/t");

  const auto data = ReadClientConfig(
      KubeconfigOf(
          "server: 'https://a', certificate-authority: x, certificate-authority-data: Y2E=",
          "client-certificate-data: Yw==, client-key-data: aw==, token: t, tokenFile: f"),
      "/");
  REQUIRE(data.ok());
  CHECK(data->ca_pem == "ca");
  CHECK(data->ca_file.empty());
  CHECK(data->certificate_pem == "c");
  CHECK(data->key_pem == "k");
  CHECK(data->token == "t");
  CHECK(data->token_file.empty());
}

TEST_CASE("client: a described server that cannot be called says why", "[client]") {
  const std::string server = "server: 'https://a'";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{}", "there is no current-context"},
      {"current-context: c", "there is no context \"c\""},
      {"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]",
       "there is no cluster \"k\""},
      {"current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
       "clusters: [{name: k, cluster: {server: 'https://a'}}]",
       "there is no user \"u\""},
      {KubeconfigOf("", ""), "the cluster names no server"},
      {KubeconfigOf("server: 'http://a'", ""),
       "server \"http://a\": 'https' is the only allowed URL scheme"},
      {KubeconfigOf(server + ", insecure-skip-tls-verify: true", ""),
       "insecure-skip-tls-verify: a server whose certificate is not verified is not called; give "
       "its certificate-authority instead"},
      {KubeconfigOf(server + ", proxy-url: 'http://p'", ""),
       "proxy-url: proxies are not supported"},
      {KubeconfigOf(server + ", certificate-authority-data: '*'", ""),
       "certificate-authority-data is not base64"},
      {KubeconfigOf(server, "auth-provider: {name: x}"),
       "auth-provider: auth provider not supported"},
      {KubeconfigOf(server, "username: x, password: y, token: z"),
       "username/password or bearer token may be set, but not both"},
      {KubeconfigOf(server, "as: x"), "as: impersonation is not supported"},
      {KubeconfigOf(server, "as-groups: [x]"), "as-groups: impersonation is not supported"},
      {KubeconfigOf(server, "client-key: x"), "client-certificate and client-key come together"},
  };
  for (const auto& [text, why] : cases) {
    CHECK(ReadClientConfig(text, "/").status() == Status(Reason::kInvalid, "kubeconfig: " + why));
  }
  CHECK(ReadClientConfig(KubeconfigOf(server + ", insecure-skip-tls-verify: false", ""), "/").ok());
  const auto cleartext = [](const std::string& url) {
    return ReadClientConfig(KubeconfigOf("server: '" + url + "'", ""), "/", Cleartext::kAllowed);
  };
  REQUIRE(cleartext("http://a").ok());
  CHECK(cleartext("http://a")->server == "http://a");
  CHECK(cleartext("https://a").ok());
  CHECK(cleartext("ftp://a").status().message() ==
        "kubeconfig: server \"ftp://a\": 'https' and 'http' are the only allowed URL schemes");
  const auto files = NewMemoryFileSystem();
  CHECK(ReadClientConfigFile(*files, "k").status().reason() == Reason::kNotFound);
  REQUIRE(files->WriteAtomically("k", "{}", 0600).ok());
  CHECK(ReadClientConfigFile(*files, "k").status().message() ==
        "k: kubeconfig: there is no current-context");
}

// Row 70 of docs/security.md: where TokenReviews and SubjectAccessReviews go, among others.
TEST_CASE("client: the URL of a described server has one reading", "[client]") {
  const auto server = [](const std::string& url) {
    const auto config = ReadClientConfig(KubeconfigOf("server: '" + url + "'", ""), "/");
    return config.ok() ? config->server : std::string(config.status().message());
  };
  for (const std::string url :
       {"https://a.test", "https://a.test:8443/x/y", "https://[::1]:6443", "https://2130706433/",
        "https://localhost./", "https://[fe80::1%25eth0]/"}) {
    CHECK(server(url) == url);
  }
  CHECK(server("HTTPS://A.test/") == "https://A.test/");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"https://a.test:secret@10.0.0.1/",
       "server names a user in its URL; give username and password instead"},
      {"https://@10.0.0.1/", "server names a user in its URL; give username and password instead"},
      {"https://", "server \"https://\": host must be specified"},
      {"https:10.0.0.1", "server \"https:10.0.0.1\": host must be specified"},
      {"https:///x", "server \"https:///x\": host must be specified"},
      {"a.test", "server \"a.test\": 'https' is the only allowed URL scheme"},
      {"//a.test/", "server \"//a.test/\": 'https' is the only allowed URL scheme"},
      {"file:///x", "server \"file:///x\": 'https' is the only allowed URL scheme"},
      {"https://a.test/?x=y",
       "server \"https://a.test/?x=y\": it must be https://host[:port][/path]"},
      {"https://a.test?", "server \"https://a.test?\": it must be https://host[:port][/path]"},
      {"https://a.test/#@b",
       "server \"https://a.test/#@b\": it must be https://host[:port][/path]"},
      {"https://a.test:x", "server: parse \"https://a.test:x\": invalid port \":x\" after host"},
      {"https://[::1]10.0.0.1/",
       "server: parse \"https://[::1]10.0.0.1/\": invalid port \"10.0.0.1\" after host"},
      {"https://[10.0.0.1]/", "server: parse \"https://[10.0.0.1]/\": invalid IP-literal"},
      {"https://1.2.3.4:443:80/",
       "server: parse \"https://1.2.3.4:443:80/\": invalid port \":443:80\" after host"},
      {"https://%31.2.3.4/", "server: parse \"https://%31.2.3.4/\": invalid URL escape \"%31\""},
      {"https://a.test\\@10.0.0.1/",
       "server: parse \"https://a.test\\\\@10.0.0.1/\": net/url: invalid userinfo"},
  };
  for (const auto& [url, why] : cases) CHECK(server(url) == "kubeconfig: " + why);
}

TEST_CASE("client: a pod knows its API server", "[client]") {
  const std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  const auto files = NewMemoryFileSystem();
  CHECK(InClusterClientConfig(*files, "", "443").status() ==
        Status(Reason::kNotFound,
               "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
               "KUBERNETES_SERVICE_PORT must be defined"));
  CHECK(InClusterClientConfig(*files, "10.0.0.1", "443").status().message() ==
        "unable to load in-cluster configuration: there is no " + folder + "/token");
  REQUIRE(files->MakeDirectories(folder, 0700).ok());
  REQUIRE(files->WriteAtomically(folder + "/token", "t", 0600).ok());
  CHECK(InClusterClientConfig(*files, "fd00::1", "443")->ca_file.empty());
  REQUIRE(files->WriteAtomically(folder + "/ca.crt", "ca", 0600).ok());
  const auto config = InClusterClientConfig(*files, "fd00::1", "443");
  REQUIRE(config.ok());
  CHECK(config->server == "https://[fd00::1]:443");
  CHECK(config->token_file == folder + "/token");
  CHECK(config->ca_file == folder + "/ca.crt");
  CHECK(InClusterClientConfig(*files, "10.0.0.1", "443")->server == "https://10.0.0.1:443");
}

TEST_CASE("client: a client follows its token and its certificates", "[client]") {
  const auto files = NewMemoryFileSystem();
  testing::ManualExecutor executor;
  testing::ManualClock clock;
  for (const std::string name : {"ca", "cert", "key", "token"}) {
    REQUIRE(files->WriteAtomically(name, name + "1\n", 0600).ok());
  }
  std::vector<HttpClientOptions> made;
  std::shared_ptr<FakeHttpClient> last;
  const FollowedClientDeps deps = {
      .new_client = [&](const HttpClientOptions& options) -> Result<std::shared_ptr<HttpClient>> {
        if (options.tls.ca_pem == "bad") return Status(Reason::kInvalid, "bad CA");
        made.push_back(options);
        last = std::make_shared<FakeHttpClient>(
            [](const HttpRequest&) { return http::ClientResponse{.code = 200}; });
        return last;
      },
      .files = files.get(),
      .executor = &executor,
      .clock = &clock};
  const auto client = NewFollowedClient({.server = "https://a.test/x",
                                         .server_name = "b",
                                         .ca_file = "ca",
                                         .certificate_file = "cert",
                                         .key_file = "key",
                                         .token_file = "token"},
                                        deps);
  REQUIRE(client.ok());
  REQUIRE(made.size() == 1);
  CHECK(made[0].tls.ca_pem == "ca1\n");
  CHECK(made[0].tls.server_name == "b");
  CHECK(made[0].tls.client.certificate_pem == "cert1\n");
  CHECK(made[0].tls.client.key_pem == "key1\n");
  const auto authorization = [&](http::Headers headers = {}) {
    (*client)->Start(Context::Background(), {.url = "https://a.test/x/y", .headers = headers},
                     [](Result<http::ClientResponse> got) { CHECK(got.ok()); });
    return std::string(last->requests.back().headers.Get("Authorization"));
  };
  CHECK(authorization() == "Bearer token1");
  CHECK(authorization({{"authorization", "Bearer mine"}}) == "Bearer mine");

  REQUIRE(files->WriteAtomically("token", "token2", 0600).ok());
  CHECK(authorization() == "Bearer token1");
  executor.Advance(std::chrono::minutes(1));
  CHECK(authorization() == "Bearer token2");

  REQUIRE(files->WriteAtomically("ca", "bad", 0600).ok());
  REQUIRE(files->WriteAtomically("token", "token3", 0600).ok());
  executor.Advance(std::chrono::minutes(1));
  CHECK(authorization() == "Bearer token2");
  REQUIRE(files->WriteAtomically("ca", "ca3", 0600).ok());
  executor.Advance(std::chrono::minutes(1));
  CHECK(authorization() == "Bearer token3");
  CHECK(made.back().tls.ca_pem == "ca3");
}

TEST_CASE("client: a token goes to the server that it is for", "[client]") {
  auto http = std::make_shared<FakeHttpClient>(
      [](const HttpRequest&) { return http::ClientResponse{.code = 200}; });
  const auto client = NewFollowedClient(
      {.server = "https://a.test/x/", .token = "t"},
      {.new_client = [&](const HttpClientOptions&) -> Result<std::shared_ptr<HttpClient>> {
        return http;
      }});
  REQUIRE(client.ok());
  const auto call = [&](const std::string& url) {
    Status status;
    (*client)->Start(Context::Background(), {.url = url},
                     [&](Result<http::ClientResponse> got) { status = got.status(); });
    return status;
  };
  for (const std::string url : {"https://a.test/x", "https://a.test/x/y", "https://a.test/x?y"}) {
    CHECK(call(url).ok());
  }
  CHECK(http->requests.size() == 3);
  for (const std::string url :
       {"https://a.test/xy", "https://a.test", "https://a.test.evil/x", "http://a.test/x"}) {
    CHECK(call(url) ==
          Status(Reason::kInvalid, "this client is for https://a.test/x/, not for " + url));
  }
  CHECK(http->requests.size() == 3);
}

TEST_CASE("client: a user with a password is authenticated by it", "[client]") {
  const auto config =
      ReadClientConfig(KubeconfigOf("server: 'https://a'", "username: jane, password: 'a:b'"), "/");
  REQUIRE(config.ok());
  testing::ManualExecutor executor;
  const auto http = std::make_shared<FakeHttpClient>(
      [](const HttpRequest&) { return http::ClientResponse{.code = 200}; });
  const auto client = NewFollowedClient(
      *config,
      {.new_client = [&](const HttpClientOptions&) { return http; }, .executor = &executor});
  REQUIRE(client.ok());
  (*client)->Start(Context::Background(), {.url = "https://a/"},
                   [](Result<http::ClientResponse> got) { CHECK(got.ok()); });
  // jane:a:b
  CHECK(http->requests.at(0).headers.Get("Authorization") == "Basic amFuZTphOmI=");
}

}  // namespace
}  // namespace apiserver::inline v0::client
