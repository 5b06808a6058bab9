#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

#include "../../http/support.h"
#include "storage/etcd/fixture.h"
#include "storage/etcd/grpc_frames.h"

// A member behind something that does not speak HTTP/2 over TLS.
namespace apiserver::inline v0::storage::etcd {
namespace {

// A server that shakes hands over TLS, once, and does not choose a protocol.
class WithoutAlpn {
 public:
  ~WithoutAlpn() { thread_.Join(); }
  int port() const { return deaf_.port; }

 private:
  void Run() const {
    const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()),
                                                               SSL_CTX_free);
    const http::KeyPair& pair = http_test::Pki().server;
    const std::unique_ptr<BIO, int (*)(BIO*)> pem(
        BIO_new_mem_buf(pair.certificate_pem.data(), static_cast<int>(pair.certificate_pem.size())),
        BIO_free);
    const std::unique_ptr<BIO, int (*)(BIO*)> key(
        BIO_new_mem_buf(pair.key_pem.data(), static_cast<int>(pair.key_pem.size())), BIO_free);
    const std::unique_ptr<X509, void (*)(X509*)> certificate(
        PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr), X509_free);
    const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> secret(
        PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
    SSL_CTX_use_certificate(context.get(), certificate.get());
    SSL_CTX_use_PrivateKey(context.get(), secret.get());
    const int fd = accept4(deaf_.fd, nullptr, nullptr, SOCK_CLOEXEC);
    const std::unique_ptr<SSL, void (*)(SSL*)> ssl(SSL_new(context.get()), SSL_free);
    SSL_set_fd(ssl.get(), fd);
    if (SSL_accept(ssl.get()) == 1) {
      char byte = 0;
      (void)SSL_read(ssl.get(), &byte, 1);
    }
    close(fd);
  }

  const http_test::Deaf deaf_;
  Thread thread_{"without-alpn", [this] { Run(); }};
};

TEST_CASE("storage.etcd: https to a server without HTTP/2 says so", "[storage.etcd]") {
  WithoutAlpn server;
  HttpRpcOptions options = OptionsTo({server.port()});
  options.endpoints[0].tls = true;
  options.tls.ca_pem = http_test::Pki().ca.certificate_pem;
  const auto rpc = NewHttpRpc(options);
  Pending<std::string> told;
  (void)rpc->Unary(kAnyMethod, "", {.member = 0}, [&](const RpcOutcome& outcome, const auto&) {
    told.Set(outcome.message + (outcome.sent ? ", sent" : ", unsent"));
  });
  CHECK(Must(told.Wait()) == "the server does not speak HTTP/2, unsent");
  rpc->Stop();
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
