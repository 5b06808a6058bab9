#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/authn/delegating.h"
#include "apiserver/http/dialer.h"
#include "apiserver/server/server.h"
#include "apiserver/server/standalone.h"
#include "authn/certificates.h"

namespace apiserver::inline v0::security {

inline http::KeyPair NewAuthority(const std::string& name) {
  return authn::MakeCertificate({.subject = {{"CN", name}}, .extensions = {authn::kAuthority}},
                                nullptr);
}

// What IdentityServer says of her.
inline constexpr char kJane[] = "jane system:authenticated";

// A user's certificate: jane's, unless `spec` says otherwise.
inline http::KeyPair SignedBy(const http::KeyPair& issuer, authn::CertificateSpec spec = {}) {
  if (spec.extensions.empty()) spec.extensions = {authn::kForClients};
  return authn::MakeCertificate(spec, &issuer);
}

// A leaf and those that lead to its authority, as a client sends them.
inline http::KeyPair WithChain(http::KeyPair leaf, const std::vector<std::string>& chain) {
  for (const std::string& pem : chain) leaf.certificate_pem += pem;
  return leaf;
}

// A server that listens with TLS, and believes users of one authority and front proxies called
// "aggregator" of another. "/who" answers the user, her groups, and what is left of the headers
// that front proxies send.
class IdentityServer {
 public:
  IdentityServer() {
    server::Config config;
    config.serving = server::NewStandalone({})->serving;
    const auto names =
        std::make_shared<Variable<authn::RequestHeaderNames>>(authn::RequestHeaderNames());
    config.authenticator =
        authn::NewDelegating(
            {.request_header =
                 authn::RequestHeaderOptions{
                     .ca = std::make_shared<Variable<std::string>>(proxies.certificate_pem),
                     .allowed_names = std::make_shared<Variable<std::vector<std::string>>>(
                         std::vector<std::string>{"aggregator"}),
                     .names = names},
             .client_ca = client_ca})
            .value();
    config.request_headers = names;
    server_ = std::move(*std::move(config).Complete()).New().value();
    REQUIRE(server_->HandlePath("/who", &Who, /*listed=*/false).ok());
    REQUIRE(server_->PrepareRun().ok());
    REQUIRE(server_->Start().ok());
  }

  int port() const { return server_->port(); }

  Result<std::unique_ptr<http::Connection>> Connect(const http::KeyPair& client,
                                                    bool http2 = false) const {
    return dialer_->Dial(
        Context::Background(),
        {.port = port(), .tls = http::ClientTls{.client = client}, .http2 = http2});
  }
  // Who the server says it is, or the code of its refusal; "refused": the handshake failed.
  std::string Ask(const http::KeyPair& client, const http::Headers& headers = {},
                  bool http2 = false) const {
    const auto connection = Connect(client, http2);
    return connection.ok() ? Ask(**connection, headers) : "refused";
  }
  static std::string Ask(http::Connection& connection, const http::Headers& headers = {}) {
    const auto answer =
        connection.Call(Context::Background(), {.target = "/who", .headers = headers});
    if (!answer.ok()) return "refused";
    return answer->code == 200 ? answer->body : std::to_string(answer->code);
  }

  const http::KeyPair users = NewAuthority("users");
  const http::KeyPair proxies = NewAuthority("proxies");
  const std::shared_ptr<Variable<std::string>> client_ca =
      std::make_shared<Variable<std::string>>(users.certificate_pem);

 private:
  static http::Step Who(http::Exchange& exchange) {
    const auth::UserInfoPtr user = exchange.Get<auth::UserInfoPtr>();
    std::string text = user->name;
    for (const std::string& group : user->groups) text += " " + group;
    for (const auto& [name, value] : exchange.request().headers) {
      if (name.starts_with("X-Remote-") || name.starts_with("x-remote-")) text += " left:" + name;
    }
    exchange.writer().Send({}, http::Bytes(text));
    return http::Step::Done();
  }

  std::unique_ptr<server::GenericAPIServer> server_;
  // Its connections go first.
  std::unique_ptr<http::Dialer> dialer_ = http::NewDialer();
};

}  // namespace apiserver::inline v0::security
