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

// Follows the file of --authentication-config while a server runs.
namespace apiserver::inline v0::authn {

// Options of the file.
struct AuthenticationConfigFileOptions {
  std::string path;              // Required.
  Executor* executor = nullptr;  // Required. Reads the file, so it must be one that may block.
  // The period at which the file is checked for changes.
  std::chrono::nanoseconds period = std::chrono::minutes(1);
  FileSystem* files = &RealFileSystem();
  // Its metrics also count the reloads: apiserver_authentication_config_controller_*.
  OidcOptions oidc = {};
};

// The file in use. Methods may be called from any thread. Objects that it returned outlive it, and
// then keep their last state.
class AuthenticationConfigFile {
 public:
  virtual ~AuthenticationConfigFile() = default;  // Stops watching.

  // Authenticates the tokens of the issuers in the current file. An invalid file changes nothing;
  // the log has its faults.
  virtual std::shared_ptr<const auth::TokenAuthenticator> tokens() const = 0;
  // The file's setting for anonymous requests when the server started; a change takes effect at the
  // next start.
  virtual const std::optional<AnonymousAuthConfig>& anonymous() const = 0;
  // OK once the keys of all issuers have been fetched.
  virtual Status Healthy() const = 0;
  // Checks the file now, on the calling thread; may block.
  virtual Status Check() = 0;
};

// Reads the file. kInvalid: its path, and all faults with their lines; or the error of NewOidc.
// Other errors: it cannot be read.
Result<std::unique_ptr<AuthenticationConfigFile>> LoadAuthenticationConfigFile(
    const AuthenticationConfigFileOptions& options);

}  // namespace apiserver::inline v0::authn
