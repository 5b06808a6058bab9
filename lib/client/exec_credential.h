#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"
#include "apiserver/client/exec_config.h"
#include "apiserver/http/tls.h"

// The texts that a credential plug-in is given and returns: ExecCredential of
// client.authentication.k8s.io.
namespace apiserver::inline v0::client {

// The server that credentials are for.
struct ExecCluster {
  std::string server = {};
  std::string server_name = {};
  std::string ca_pem = {};
};

// The credentials that a plug-in has returned: a token, a certificate, or both.
struct ExecCredentials {
  std::string token = {};
  http::KeyPair certificate = {};
  std::optional<Clock::Wall> expires = {};  // nullopt: they do not expire.
};

// Returns the value of the variable KUBERNETES_EXEC_INFO.
std::string ExecInfo(const ExecConfig& config, const ExecCluster& cluster);

// Reads the output of a plug-in. kInvalid: it is no ExecCredential of the configured version, has
// neither a token nor a certificate with its key, or one that cannot be used. The message does not
// show the output, which may have secrets.
Result<ExecCredentials> ReadExecCredential(std::string_view output, const ExecConfig& config);

}  // namespace apiserver::inline v0::client
