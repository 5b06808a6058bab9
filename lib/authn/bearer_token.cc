#include "apiserver/authn/bearer_token.h"

#include <openssl/crypto.h>

#include <optional>
#include <utility>

namespace apiserver::v0::authn {
namespace {

using auth::AuthenticateResponse;
using Answer = Result<std::optional<AuthenticateResponse>>;

// The characters of Go's strings.TrimSpace that can stand in a header.
std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

// Returns the text after `Bearer ` up to the next space. nullopt: the header is of another kind or
// absent.
std::optional<std::string_view> TokenOf(const http::Request& request) {
  const std::string_view header = TrimSpace(request.headers.Get("Authorization"));
  const std::size_t space = header.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  if (!http::EqualIgnoreCase(header.substr(0, space), "bearer")) return std::nullopt;
  const std::string_view rest = header.substr(space + 1);
  return rest.substr(0, rest.find(' '));
}

class BearerToken final : public auth::Authenticator {
 public:
  explicit BearerToken(std::shared_ptr<const auth::TokenAuthenticator> tokens)
      : tokens_(std::move(tokens)) {}

  Answer Authenticate(const Context& ctx, const http::Request& request) const override {
    const std::optional<std::string_view> token = TokenOf(request);
    if (!token || token->empty()) return std::optional<AuthenticateResponse>();
    Answer answer = tokens_->AuthenticateToken(ctx, *token);
    if (answer.ok() && !answer->has_value()) {
      return Status(Reason::kUnauthorized, "invalid bearer token");
    }
    return answer;
  }

 private:
  const std::shared_ptr<const auth::TokenAuthenticator> tokens_;
};

class StaticTokens final : public auth::TokenAuthenticator {
 public:
  explicit StaticTokens(std::vector<StaticToken> tokens) {
    for (StaticToken& token : tokens) {
      if (token.token.empty()) continue;
      known_.push_back(
          {std::move(token.token), std::make_shared<const auth::UserInfo>(std::move(token.user))});
    }
  }

  // Linear in the number of tokens; NewTokenFile, which may have many, looks up a hash.
  Answer AuthenticateToken(const Context&, std::string_view token) const override {
    // All tokens are compared, so that the time does not reveal a near match.
    const Known* match = nullptr;
    for (const Known& known : known_) {
      const bool same = known.token.size() == token.size() &&
                        CRYPTO_memcmp(known.token.data(), token.data(), token.size()) == 0;
      if (same && match == nullptr) match = &known;
    }
    if (match == nullptr) return std::optional<AuthenticateResponse>();
    return std::optional(AuthenticateResponse{match->user});
  }

 private:
  struct Known {
    std::string token;
    auth::UserInfoPtr user;
  };
  std::vector<Known> known_;
};

}  // namespace

std::unique_ptr<auth::Authenticator> NewBearerToken(
    std::shared_ptr<const auth::TokenAuthenticator> tokens) {
  return std::make_unique<BearerToken>(std::move(tokens));
}

bool HasSpaceBeforeToken(const http::Request& request) {
  const std::optional<std::string_view> token = TokenOf(request);
  return token && token->empty();
}

std::unique_ptr<auth::TokenAuthenticator> NewStaticTokens(std::vector<StaticToken> tokens) {
  return std::make_unique<StaticTokens>(std::move(tokens));
}

}  // namespace apiserver::v0::authn
