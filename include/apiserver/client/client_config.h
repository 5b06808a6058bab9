#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/client/http_client.h"

// How a program reaches a server that an operator has described: a kubeconfig file, or the files
// that every pod has. k8s.io/client-go/rest.Config and tools/clientcmd.
namespace apiserver::inline v0::client {

// Each of these stands in a file or here; a text given here wins.
struct ClientConfig {
  std::string server = {};                // "https://host:port/path"; "http://…" where allowed.
  std::string server_name = {};           // Empty: the server's host.
  std::string ca_file = {}, ca_pem = {};  // Both empty: the machine's authorities.
  std::string certificate_file = {}, certificate_pem = {};
  std::string key_file = {}, key_pem = {};
  std::string token_file = {}, token = {};
  // Basic authentication; not beside a token.
  std::string username = {}, password = {};
  // What errors of NewFollowedClient begin with, e.g. a flag and its file; empty: nothing.
  std::string origin = {};
};

// What may be called over cleartext http, as client-go would: its bodies and the credentials that
// go with them can be read, and its answers made up, by whoever stands between.
enum class Cleartext : std::uint8_t { kRefused, kAllowed };

// The current context of a kubeconfig. Relative file names are relative to `folder`. kInvalid, with
// what stands where: malformed, no server, or something that is not supported: certificates that
// are not to be verified (insecure-skip-tls-verify: no call is made without), plug-ins (exec,
// auth-provider), proxies, impersonation, cleartext http unless it is allowed.
Result<ClientConfig> ReadClientConfig(std::string_view kubeconfig, const std::string& folder,
                                      Cleartext cleartext = Cleartext::kRefused);
// The same, of a file; errors begin with its name.
Result<ClientConfig> ReadClientConfigFile(const FileSystem& files, const std::string& path,
                                          Cleartext cleartext = Cleartext::kRefused);
// A warning on `log` if `config` is called over http. `what` is the flag or file that says so.
void WarnOfCleartext(const ClientConfig& config, std::string_view what, LogSink& log);

// What a pod knows of the API server that it runs under: `host` and `port` are the values of
// KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. kNotFound: this is no pod, with what is
// missing.
Result<ClientConfig> InClusterClientConfig(const FileSystem& files, std::string_view host,
                                           std::string_view port);

struct FollowedClientDeps {
  HttpClientFactory new_client = {};  // Null: NewHttpClientFactory().
  FileSystem* files = &RealFileSystem();
  // Required: files are read there; must be one that may block. Outlives the client.
  Executor* executor = nullptr;
  const Clock* clock = &RealClock();
  LogSink* log = &NullLogSink();
  // How often the files are looked at.
  std::chrono::nanoseconds period = std::chrono::minutes(1);
};

// A client that is who `config` says, and follows its files: a new token, certificate or authority
// is used by the calls that begin after it was read; what cannot be read or used changes nothing.
// Calls that bring an Authorization header of their own keep it. Whoever is asked gets the token:
// only for URLs of `config.server`; others are refused with kInvalid.
Result<std::shared_ptr<HttpClient>> NewFollowedClient(const ClientConfig& config,
                                                      const FollowedClientDeps& deps);

}  // namespace apiserver::inline v0::client
