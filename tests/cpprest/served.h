#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/authn/bearer_token.h"
#include "apiserver/authn/union.h"
#include "host.h"
#include "widget_server.h"

// A whole API server in a host's listener of cpprestsdk's.
namespace apiserver::inline v0::testing {

inline constexpr char kAdminToken[] = "admins-token";
inline constexpr char kUserToken[] = "users-token";

// Believes whoever names a user in a header, or brings a certificate: what must never arrive.
class Credulous final : public auth::Authenticator {
 public:
  Result<std::optional<auth::AuthenticateResponse>> Authenticate(
      const Context&, const http::Request& request) const override {
    const std::string name(request.headers.Get("X-Remote-User"));
    if (name.empty() && !request.peer) return std::optional<auth::AuthenticateResponse>();
    return auth::AuthenticateResponse{std::make_shared<auth::UserInfo>(
        auth::UserInfo{.name = name, .groups = {"system:masters"}})};
  }
};

inline std::shared_ptr<const auth::Authenticator> TokensAndWhateverIsBelieved() {
  std::vector<authn::StaticToken> tokens;
  tokens.push_back({kAdminToken, {.name = "admin", .groups = {"system:masters"}}});
  tokens.push_back({kUserToken, {.name = "user"}});
  std::shared_ptr<const auth::Authenticator> known =
      authn::NewBearerToken(authn::NewStaticTokens(std::move(tokens)));
  return authn::NewGroupAdder(authn::NewUnion({known, std::make_shared<Credulous>()}));
}

// Widgets behind the whole chain, in a listener. Members are destroyed bottom up.
struct Served {
  explicit Served(TestServerOptions options = {},
                  const cpprest::MountOptions& mount = {.tls = false})
      : server(Start(std::move(options))), host(server->server().service(), "/", mount) {}

  static std::unique_ptr<TestServer> Start(TestServerOptions options) {
    options.configure = [also = std::move(options.configure)](server::Config& config) {
      config.authenticator = TokensAndWhateverIsBelieved();
      if (also) also(config);
    };
    return StartWidgetServer(std::move(options));
  }
  http::ClientResponse Call(const std::string& method, const std::string& target,
                            const std::string& body = "", http::Headers headers = {}) {
    if (!headers.Has("Authorization")) {
      headers.Add("Authorization", std::string("Bearer ") + kAdminToken);
    }
    if (!body.empty() && !headers.Has("Content-Type")) {
      headers.Add("Content-Type", "application/json");
    }
    return host.Call(method, target, body, std::move(headers));
  }
  // How many watches the server has open, as it counts them.
  int Watches() {
    const std::string text = server->Call("GET", "/metrics").body;
    const std::string series =
        "apiserver_longrunning_requests{verb=\"WATCH\",group=\"example.com\",version=\"v1\","
        "resource=\"widgets\",subresource=\"\",scope=\"namespace\",component=\"apiserver\"} ";
    const std::size_t at = text.find(series);
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + series.size()));
  }

  std::unique_ptr<TestServer> server;
  Host host;
};

// A watch over the listener, line by line.
class MountedWatch {
 public:
  explicit MountedWatch(Host& host, const std::string& query = "", http::Headers headers = {})
      : connection_(host.Connect()) {
    headers.Add("Authorization", std::string("Bearer ") + kAdminToken);
    auto stream = connection_->Open(
        {.target = kWidgets + std::string("?watch=1") + query, .headers = std::move(headers)});
    REQUIRE(stream.ok());
    stream_ = *std::move(stream);
  }

  int Code() { return stream_->Head(Host::Soon()).value().code; }
  // Without its newline; empty: the watch has ended; nullopt: it was cut.
  std::optional<std::string> Next() {
    while (true) {
      if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return line;
      }
      const auto more = stream_->Read(Host::Soon());
      if (!more.ok()) return std::nullopt;
      if (more->empty()) return "";
      buffer_ += *more;
    }
  }

 private:
  std::unique_ptr<http::Connection> connection_;
  std::unique_ptr<http::ClientStream> stream_;
  std::string buffer_;
};

}  // namespace apiserver::inline v0::testing
