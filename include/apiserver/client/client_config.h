#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/client/exec_config.h"
#include "apiserver/client/http_client.h"

// The address and credentials of a server that an operator has configured: a kubeconfig file, or
// the files that every pod has. k8s.io/client-go/rest.Config and tools/clientcmd.
namespace apiserver::inline v0::client {

// A server and a user. Each value is in a file or given as text; the text wins.
struct ClientConfig {
  std::string server = {};                // "https://host:port/path"; "http://…" where allowed.
  std::string server_name = {};           // Empty: the server's host.
  std::string ca_file = {}, ca_pem = {};  // Both empty: the machine's authorities.
  std::string certificate_file = {}, certificate_pem = {};
  std::string key_file = {}, key_pem = {};
  std::string token_file = {}, token = {};
  // Basic authentication; not beside a token.
  std::string username = {}, password = {};
  // The program that returns the credentials. As in client-go it is not run if there is a token, a
  // password or a certificate.
  std::optional<ExecConfig> exec = {};
  // The beginning of NewFollowedClient's errors, for example a flag and its file; empty: none.
  std::string origin = {};
};

// Allows cleartext http, as client-go does: an attacker on the network can then
// read the bodies and credentials of calls and forge responses.
enum class Cleartext : std::uint8_t { kRefused, kAllowed };

// Allows users whose credentials a program returns (`exec`), as client-go does: whoever writes the
// kubeconfig then says which programs this process starts, with its rights. Refuse them where a
// kubeconfig may come from elsewhere than the operator.
enum class ExecPlugIns : std::uint8_t { kRefused, kAllowed };

// Reads the current context of a kubeconfig. Relative names of files, and of a plug-in that has a
// slash, are relative to `folder`. Starts no program. kInvalid, with the place of the fault:
// malformed, no server, or an unsupported setting: certificates that are not to be verified
// (insecure-skip-tls-verify: every call verifies), auth-provider, proxies, impersonation, cleartext
// http and exec unless they are allowed.
Result<ClientConfig> ReadClientConfig(std::string_view kubeconfig, const std::string& folder,
                                      Cleartext cleartext = Cleartext::kRefused,
                                      ExecPlugIns plug_ins = ExecPlugIns::kAllowed);
// The same, from a file; errors begin with its name.
Result<ClientConfig> ReadClientConfigFile(const FileSystem& files, const std::string& path,
                                          Cleartext cleartext = Cleartext::kRefused,
                                          ExecPlugIns plug_ins = ExecPlugIns::kAllowed);
// Logs a warning if `config` is called over http. `what` is the flag or file that configures it.
void WarnOfCleartext(const ClientConfig& config, std::string_view what, LogSink& log);

// Returns a pod's configuration for the API server of its cluster: `host` and `port` are the values
// of KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. kNotFound: this is no pod; the message
// says what is missing.
Result<ClientConfig> InClusterClientConfig(const FileSystem& files, std::string_view host,
                                           std::string_view port);

// The services that a followed client uses.
struct FollowedClientDeps {
  HttpClientFactory new_client = {};  // Null: NewHttpClientFactory().
  FileSystem* files = &RealFileSystem();
  // Required: files are read there; must be one that may block. Outlives the client.
  Executor* executor = nullptr;
  const Clock* clock = &RealClock();
  LogSink* log = &NullLogSink();
  // The period at which the files are checked for changes.
  std::chrono::nanoseconds period = std::chrono::minutes(1);
};

// A client with the identity in `config` that follows its files: a new token, certificate or
// authority is used by calls that begin after it was read; a file that cannot be read or used
// changes nothing. A plug-in is run by the first call, and again when its credentials have expired
// or the server has answered with 401, which the caller gets; calls wait for it within their
// timeout, on no thread, and it is killed when all of them have ended. What it writes to standard
// error is logged. Calls with an Authorization header of their own keep it. Only URLs of
// `config.server` are called, so that no other server gets the token; others are refused with
// kInvalid.
Result<std::shared_ptr<HttpClient>> NewFollowedClient(const ClientConfig& config,
                                                      const FollowedClientDeps& deps);

}  // namespace apiserver::inline v0::client
