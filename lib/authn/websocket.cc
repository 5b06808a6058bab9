#include "apiserver/authn/websocket.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/http/message.h"
#include "base/status_macros.h"
#include "text/base64.h"
#include "text/utf8.h"

namespace apiserver::v0::authn {
namespace {

using auth::AuthenticateResponse;

constexpr std::string_view kProtocolHeader = "Sec-WebSocket-Protocol";
constexpr std::string_view kTokenPrefix = "base64url.bearer.authorization.k8s.io.";

struct Protocols {
  std::vector<std::string_view> tokens;  // Still encoded.
  std::vector<std::string_view> others;
};

std::string_view TrimProtocol(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// A client may send several protocols in a header, and several headers (RFC 6455 §11.3.4).
Protocols SplitProtocols(const http::Headers& headers) {
  Protocols protocols;
  for (std::string_view value : headers.GetAll(kProtocolHeader)) {
    for (bool more = true; more;) {
      const std::size_t comma = value.find(',');
      more = comma != std::string_view::npos;
      const std::string_view protocol = TrimProtocol(value.substr(0, comma));
      if (more) value.remove_prefix(comma + 1);
      if (protocol.starts_with(kTokenPrefix)) {
        protocols.tokens.push_back(protocol.substr(kTokenPrefix.size()));
      } else {
        protocols.others.push_back(protocol);
      }
    }
  }
  return protocols;
}

Status BadProtocol(const char* why) { return Status(Reason::kUnauthorized, why); }

// Returns the token; empty: there is none.
Result<std::string> TokenOfProtocols(const Protocols& protocols) {
  if (protocols.tokens.empty()) return std::string();
  if (protocols.tokens.size() > 1) {
    return BadProtocol("multiple base64.bearer.authorization tokens specified");
  }
  std::optional<std::string> token = text::DecodeBase64Url(protocols.tokens.front());
  if (!token) return BadProtocol("invalid base64.bearer.authorization token encoding");
  if (!text::ValidUtf8(*token)) return BadProtocol("invalid base64.bearer.authorization token");
  // The server must agree to a subprotocol, and must not echo the token.
  if (!token->empty() && protocols.others.empty()) {
    return BadProtocol("missing additional subprotocol");
  }
  return *std::move(token);
}

class WebSocketProtocol final : public auth::Authenticator {
 public:
  explicit WebSocketProtocol(std::shared_ptr<const auth::TokenAuthenticator> tokens)
      : tokens_(std::move(tokens)) {}

  Result<std::optional<AuthenticateResponse>> Authenticate(
      const Context& ctx, const http::Request& request) const override {
    if (!request.IsUpgrade() ||
        !http::EqualIgnoreCase(request.headers.Get("Upgrade"), "websocket")) {
      return std::optional<AuthenticateResponse>();
    }
    ASSIGN_OR_RETURN(const std::string token, TokenOfProtocols(SplitProtocols(request.headers)));
    if (token.empty()) return std::optional<AuthenticateResponse>();
    auto answer = tokens_->AuthenticateToken(ctx, token);
    // The client has shown a credential, so it must not become anonymous.
    if (answer.ok() && !answer->has_value()) return BadProtocol("invalid bearer token");
    return answer;
  }

 private:
  const std::shared_ptr<const auth::TokenAuthenticator> tokens_;
};

}  // namespace

std::unique_ptr<auth::Authenticator> NewWebSocketProtocol(
    std::shared_ptr<const auth::TokenAuthenticator> tokens) {
  return std::make_unique<WebSocketProtocol>(std::move(tokens));
}

// Runs once the request is authenticated, so that no handler and no other server sees the token.
void RemoveWebSocketToken(http::Headers& headers) {
  if (!headers.Has(kProtocolHeader)) return;
  const Protocols protocols = SplitProtocols(headers);
  if (protocols.tokens.empty()) return;
  std::string others;
  for (const std::string_view protocol : protocols.others) {
    if (!others.empty()) others += ',';
    others += protocol;
  }
  if (others.empty()) {
    (void)headers.Remove(kProtocolHeader);
  } else {
    headers.Set(std::string(kProtocolHeader), std::move(others));
  }
}

}  // namespace apiserver::v0::authn
