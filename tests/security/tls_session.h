#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

#include "authn/certificates.h"

namespace apiserver::inline v0::security {

using SslContextPtr = std::unique_ptr<SSL_CTX, authn::FreeWith<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, authn::FreeWith<SSL_free>>;
using SessionPtr = std::unique_ptr<SSL_SESSION, authn::FreeWith<SSL_SESSION_free>>;

// A client that keeps its TLS session, as browsers do: one request on a connection of its own.
class SessionClient {
 public:
  // `version`: TLS1_2_VERSION or TLS1_3_VERSION.
  SessionClient(const http::KeyPair& client, int version) : context_(SSL_CTX_new(TLS_method())) {
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_max_proto_version(context_.get(), version);
    REQUIRE(SSL_CTX_use_certificate(context_.get(),
                                    authn::ReadCertificate(client.certificate_pem).get()) == 1);
    REQUIRE(SSL_CTX_use_PrivateKey(context_.get(), authn::ReadKey(client.key_pem).get()) == 1);
  }

  struct Answer {
    std::string text;     // From the status line on.
    bool resumed = true;  // The handshake was short.
    SessionPtr session;
  };
  // `session`: offered in the handshake; null: none.
  Answer Get(int port, const std::string& path, SSL_SESSION* session = nullptr) const {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    REQUIRE(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    Answer answer;
    {
      const SslPtr tls(SSL_new(context_.get()));
      SSL_set_fd(tls.get(), socket);
      if (session) REQUIRE(SSL_set_session(tls.get(), session) == 1);
      REQUIRE(SSL_connect(tls.get()) == 1);
      const std::string request =
          "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
      REQUIRE(SSL_write(tls.get(), request.data(), static_cast<int>(request.size())) > 0);
      std::array<char, 4096> bytes{};
      // Tickets of TLS 1.3 come with the first of these.
      for (int n = 0; (n = SSL_read(tls.get(), bytes.data(), bytes.size())) > 0;) {
        answer.text.append(bytes.data(), static_cast<std::size_t>(n));
      }
      answer.resumed = SSL_session_reused(tls.get()) == 1;
      // A session whose connection did not end well cannot be resumed.
      SSL_shutdown(tls.get());
      answer.session.reset(SSL_get1_session(tls.get()));
    }
    ::close(socket);
    return answer;
  }

 private:
  const SslContextPtr context_;
};

}  // namespace apiserver::inline v0::security
