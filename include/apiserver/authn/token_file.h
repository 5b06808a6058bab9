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

// What a token file says: CSV as Go's encoding/csv reads it, one token a line: token, user name,
// user uid and, if there are any, the groups as one field ("group1,group2"). Lines without a token
// are left out with a warning; of a token that stands there twice the last line counts, with a
// warning too. `path` is for errors only. kInvalid: what is wrong, with its line.
Result<std::vector<StaticToken>> ReadTokenFile(const std::string& path, std::string_view text,
                                               LogSink& log = NullLogSink());

struct TokenFileOptions {
  std::string path;  // Required.
  // The file is looked at so often; a new one counts then, a bad one changes nothing. (Go reads it
  // once, when it starts.)
  std::chrono::milliseconds period = std::chrono::seconds(60);
  Random* random = &SecureRandom();
};

// Knows the tokens of a file. They are kept as keyed hashes, and finding one takes as long whatever
// was sent and however many there are. What `deps` holds must outlive it. Errors as ReadTokenFile
// and FileSystem::Read.
Result<std::unique_ptr<auth::TokenAuthenticator>> NewTokenFile(const TokenFileOptions& options,
                                                               const WatchedFilesDeps& deps);

}  // namespace apiserver::inline v0::authn
