#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/auth/authenticator.h"
#include "apiserver/authn/config.h"
#include "apiserver/authn/oidc.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"

// The file of --authentication-config while a server runs.
namespace apiserver::inline v0::authn {

struct AuthenticationConfigFileOptions {
  std::string path;              // Required.
  Executor* executor = nullptr;  // Required; reads there, so it must be one that may block.
  // How often the file is looked at.
  std::chrono::nanoseconds period = std::chrono::minutes(1);
  FileSystem* files = &RealFileSystem();
  // Its metrics also count the reloads: apiserver_authentication_config_controller_*.
  OidcOptions oidc = {};
};

// Any thread. What it hands out outlives it, and stays then as it was.
class AuthenticationConfigFile {
 public:
  virtual ~AuthenticationConfigFile() = default;  // Looks no more.

  // Knows the tokens of the issuers that the file names now. A file that is wrong changes nothing;
  // the log says what is wrong with it.
  virtual std::shared_ptr<const auth::TokenAuthenticator> tokens() const = 0;
  // What the file said of anonymous requests when the server started; a change counts after the
  // next start.
  virtual const std::optional<AnonymousAuthConfig>& anonymous() const = 0;
  // OK once the keys of every issuer are known.
  virtual Status Healthy() const = 0;
  // Looks now, on the calling thread.
  virtual Status Check() = 0;
};

// Reads the file first. kInvalid: its path, and everything that is wrong in it with its line; or
// what NewOidc says. Other errors: it cannot be read.
Result<std::unique_ptr<AuthenticationConfigFile>> LoadAuthenticationConfigFile(
    const AuthenticationConfigFileOptions& options);

}  // namespace apiserver::inline v0::authn
