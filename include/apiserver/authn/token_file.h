#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/authn/bearer_token.h"
#include "apiserver/base/random.h"
#include "apiserver/base/reload.h"
#include "apiserver/base/status.h"

// Tokens in a file (--token-auth-file): k8s.io/apiserver/pkg/authentication/token/tokenfile.
namespace apiserver::inline v0::authn {

// Reads a token file: CSV as Go's encoding/csv reads it, one token a line: token, user name, user
// uid and optionally the groups as one field ("group1,group2"). Lines without a token are skipped
// with a warning; for a token that occurs twice the last line counts, with a warning too. `path` is
// for errors only. kInvalid: the fault, with its line.
Result<std::vector<StaticToken>> ReadTokenFile(const std::string& path, std::string_view text,
                                               LogSink& log = NullLogSink());

// Options of NewTokenFile().
struct TokenFileOptions {
  std::string path;  // Required.
  // The period at which the file is checked. A changed file takes effect then; an invalid one
  // changes nothing. (Go reads it once, at the start.)
  std::chrono::milliseconds period = std::chrono::seconds(60);
  Random* random = &SecureRandom();
};

// Authenticates the tokens of a file. They are kept as keyed hashes, and a look-up takes the same
// time for every token and any number of them. The objects of `deps` must outlive it. Errors as
// ReadTokenFile and FileSystem::Read.
Result<std::unique_ptr<auth::TokenAuthenticator>> NewTokenFile(const TokenFileOptions& options,
                                                               const WatchedFilesDeps& deps);

}  // namespace apiserver::inline v0::authn
