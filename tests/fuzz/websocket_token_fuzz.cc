#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/authn/websocket.h"
#include "apiserver/http/message.h"
#include "require.h"
#include "text/utf8.h"

// Of a WebSocket's subprotocols, given a line each as header fields, a token that is taken for one
// is text, and none is left once it is taken out.
namespace {

namespace auth = apiserver::auth;
namespace authn = apiserver::authn;
using apiserver_fuzz::Require;

constexpr std::string_view kHeader = "Sec-WebSocket-Protocol";

class Checking final : public auth::TokenAuthenticator {
 public:
  apiserver::Result<std::optional<auth::AuthenticateResponse>> AuthenticateToken(
      const apiserver::Context& /*ctx*/, std::string_view token) const override {
    Require(!token.empty() && apiserver::text::ValidUtf8(token));
    return std::nullopt;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  apiserver::http::Request request;
  request.headers.Add("Connection", "upgrade");
  request.headers.Add("Upgrade", "websocket");
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    request.headers.Add(std::string(kHeader), std::string(line));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  const auto answer = authn::NewWebSocketProtocol(std::make_shared<Checking>())
                          ->Authenticate(apiserver::Context::Background(), request);
  // Nobody is known, so a token is an error.
  Require(!answer.ok() || !answer->has_value());
  authn::RemoveWebSocketToken(request.headers);
  const auto again = authn::NewWebSocketProtocol(std::make_shared<Checking>())
                         ->Authenticate(apiserver::Context::Background(), request);
  Require(again.ok() && !again->has_value());
  return 0;
}
