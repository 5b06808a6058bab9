#include "http/socket.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/status_macros.h"
#include "http/copy_bytes.h"
#include "http/net.h"

namespace apiserver::v0::http {
namespace {

// Our own BIO instead of OpenSSL's socket BIO: that one calls write(), which raises SIGPIPE, and a
// library must not change the process's signals.
int BioRead(BIO* bio, char* into, int size) {
  BIO_clear_retry_flags(bio);
  auto& socket = *static_cast<Socket*>(BIO_get_data(bio));
  const ssize_t count = socket.Receive(into, static_cast<std::size_t>(size));
  if (count < 0 && errno == EAGAIN) BIO_set_retry_read(bio);
  return static_cast<int>(count);
}

int BioWrite(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  auto& socket = *static_cast<Socket*>(BIO_get_data(bio));
  const ssize_t count = socket.Send(bytes, static_cast<std::size_t>(size));
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(count);
}

long BioControl(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

const BIO_METHOD* SocketBio() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "apiserver socket");
    BIO_meth_set_read(made, BioRead);
    BIO_meth_set_write(made, BioWrite);
    BIO_meth_set_ctrl(made, BioControl);
    return made;
  }();
  return method;
}

// A peer in good order changes its keys once in gigabytes.
constexpr double kKeyUpdateBurst = 64;
constexpr double kKeyUpdatesPerSecond = 1;

std::string ErrnoText() { return std::generic_category().message(errno); }

// Authentication parses certificates itself, so that no OpenSSL type crosses the room's border.
std::string Der(const X509* certificate) {
  unsigned char* bytes = nullptr;
  const int size = i2d_X509(certificate, &bytes);
  if (size <= 0) return {};
  std::string der(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return der;
}

}  // namespace

Socket::Socket(Loop& loop, int fd)
    : loop_(loop), watch_(loop, fd), key_updates_(kKeyUpdateBurst, kKeyUpdatesPerSecond) {}

Socket::~Socket() = default;

void Socket::CountKeyUpdate() {
  if (!key_updates_.Take(loop_.now())) key_update_flood_ = true;
}

// An empty result is harmless: no certificate is chosen by address then.
std::string Socket::LocalIp() const {
  if (watch_.fd() < 0) return {};
  const std::string text = FormatAddress(LocalAddress(watch_.fd()));
  const std::string ip = text.substr(0, text.rfind(':'));
  return ip.starts_with('[') ? ip.substr(1, ip.size() - 2) : ip;
}

// A short read means that the kernel's buffer is empty, so that the next read would only return
// EAGAIN. Skipping it saves a system call for every message.
ssize_t Socket::Receive(char* into, std::size_t size) {
  if (key_update_flood_) {
    errno = EPROTO;
    return -1;
  }
  if (drained_) {
    errno = EAGAIN;
    return -1;
  }
  ssize_t count = 0;
  do {
    count = recv(watch_.fd(), into, size, 0);
  } while (count < 0 && errno == EINTR);
  drained_ = count > 0 ? static_cast<std::size_t>(count) < size : count < 0 && errno == EAGAIN;
  return count;
}

// Alerts and changes of keys, which OpenSSL sends by itself, come behind the records that are kept.
ssize_t Socket::Send(const char* bytes, std::size_t size) {
  std::string* const behind = records_ != nullptr ? records_ : &unsent_;
  if (behind == &unsent_ && unsent_.empty()) {
    return send(watch_.fd(), bytes, size, MSG_NOSIGNAL);
  }
  try {
    AppendBytes({bytes, size}, *behind);
  } catch (...) {  // Must not pass through OpenSSL.
    errno = ENOMEM;
    return -1;
  }
  return static_cast<ssize_t>(size);
}

// The BIO belongs to the SSL from SSL_set_bio on; before that, it must be freed here.
Status Socket::Attach(const SslContext& context) {
  ssl_.reset(SSL_new(context.get()));
  BIO* bio = BIO_new(SocketBio());
  if (!ssl_ || bio == nullptr) {
    BIO_free(bio);
    return Status(Reason::kInternalError, "tls: " + TakeSslError());
  }
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_app_data(ssl_.get(), this);
  return Status::Ok();
}

Status Socket::StartTlsServer(const SslContext& context) {
  RETURN_IF_ERROR(Attach(context));
  SSL_set_accept_state(ssl_.get());
  return Status::Ok();
}

// An IP address is verified as one, and not sent as SNI, which has no place for it (RFC 6066, 3).
Status Socket::StartTlsClient(const SslContext& context, const std::string& name) {
  RETURN_IF_ERROR(Attach(context));
  SSL_set_connect_state(ssl_.get());
  X509_VERIFY_PARAM* verify = SSL_get0_param(ssl_.get());
  // Names are looked for among the alternative names and never in the subject, as in Go.
  X509_VERIFY_PARAM_set_hostflags(
      verify, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (X509_VERIFY_PARAM_set1_ip_asc(verify, name.c_str()) != 1) {
    ERR_clear_error();
    if (SSL_set_tlsext_host_name(ssl_.get(), name.c_str()) != 1 ||
        SSL_set1_host(ssl_.get(), name.c_str()) != 1) {
      return Status(Reason::kInvalid, "tls: bad server name: " + TakeSslError());
    }
  }
  return Status::Ok();
}

// errno is saved first, because SSL_get_error and the error queue may change it.
Io Socket::Judge(int result) {
  const int saved = errno;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_NONE:
      return Io::kOk;
    case SSL_ERROR_WANT_READ:
      return Io::kWantRead;
    case SSL_ERROR_WANT_WRITE:
      return Io::kWantWrite;
    case SSL_ERROR_ZERO_RETURN:
      return Io::kClosed;
    default:
      errno = saved;
      reset_ = saved == ECONNRESET;
      error_ = TakeSslError();
      if (error_.empty()) error_ = ErrnoText();
      return Io::kFailed;
  }
}

bool Socket::greeted() const {
  return ssl_ != nullptr && SSL_get_state(ssl_.get()) != TLS_ST_BEFORE;
}

Io Socket::Handshake() {
  if (!ssl_) return Io::kOk;
  ERR_clear_error();
  const Io state = Judge(SSL_do_handshake(ssl_.get()));
  if (state != Io::kFailed) return state;
  // The error queue only says that the verification failed; this says why.
  const long verified = SSL_get_verify_result(ssl_.get());
  if (verified != X509_V_OK) error_ = X509_verify_cert_error_string(verified);
  return state;
}

IoResult Socket::Read(std::span<char> into) {
  if (watch_.fd() < 0) return {Io::kFailed};
  if (ssl_) {
    ERR_clear_error();
    std::size_t count = 0;
    const int result = SSL_read_ex(ssl_.get(), into.data(), into.size(), &count);
    return {result == 1 ? Io::kOk : Judge(result), count};
  }
  const ssize_t count = Receive(into.data(), into.size());
  if (count > 0) return {Io::kOk, static_cast<std::size_t>(count)};
  if (count == 0) return {Io::kClosed};
  if (errno == EAGAIN) return {Io::kWantRead};
  reset_ = errno == ECONNRESET;
  error_ = ErrnoText();
  return {Io::kFailed};
}

// A send for each record would be a system call each and, on the loopback, the peer's work each
// time.
IoResult Socket::Write(std::string_view bytes) {
  if (watch_.fd() < 0) return {Io::kFailed};
  std::string& records = loop_.record_buffer();
  records.clear();
  if (ssl_) {
    if (const Io state = Encrypt(bytes, records); state != Io::kOk) return {state};
    bytes = records;
  }
  const IoResult sent = SendSome(bytes);
  if (sent.state == Io::kWantWrite) unsent_.assign(bytes.substr(sent.bytes));
  records.clear();
  return sent;
}

// Nothing waits for the peer here: its records need not be read to encrypt, and those made are
// kept.
Io Socket::Encrypt(std::string_view bytes, std::string& records) {
  ERR_clear_error();
  while (!bytes.empty()) {
    std::size_t count = 0;
    records_ = &records;
    const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count);
    records_ = nullptr;
    if (result != 1) {
      if (Judge(result) != Io::kFailed) error_ = "tls: a write that waits for its peer";
      return Io::kFailed;
    }
    bytes.remove_prefix(count);
  }
  return Io::kOk;
}

IoResult Socket::SendSome(std::string_view bytes) {
  IoResult sent{Io::kOk};
  while (sent.bytes < bytes.size()) {
    const ssize_t count =
        send(watch_.fd(), bytes.data() + sent.bytes, bytes.size() - sent.bytes, MSG_NOSIGNAL);
    if (count >= 0) {
      sent.bytes += static_cast<std::size_t>(count);
      continue;
    }
    if (errno == EINTR) continue;
    sent.state = errno == EAGAIN ? Io::kWantWrite : Io::kFailed;
    if (sent.state == Io::kWantWrite) break;
    reset_ = errno == ECONNRESET;
    error_ = ErrnoText();
    break;
  }
  return sent;
}

IoResult Socket::Flush() {
  if (watch_.fd() < 0) return {Io::kFailed};
  const IoResult sent = SendSome(std::string_view(unsent_).substr(unsent_at_));
  unsent_at_ += sent.bytes;
  if (sent.state == Io::kOk) DropUnsent();
  return sent;
}

void Socket::DropUnsent() {
  std::exchange(unsent_, {}).clear();
  unsent_at_ = 0;
}

// TLS sends its close_notify, so that a peer can tell this end from a connection that was cut.
void Socket::ShutdownWrite() {
  if (watch_.fd() < 0) return;
  if (ssl_) {
    ERR_clear_error();
    (void)SSL_shutdown(ssl_.get());  // Best effort: the connection ends either way.
    ERR_clear_error();
  }
  (void)shutdown(watch_.fd(), SHUT_WR);
}

void Socket::Close() { watch_.Close(); }

void Socket::AwaitReadable(std::shared_ptr<FdEvents> who) {
  drained_ = false;
  watch_.AwaitReadable(std::move(who));
}

std::string_view Socket::Alpn() const {
  if (!ssl_) return {};
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

std::shared_ptr<const PeerCertificates> Socket::Peer() const {
  if (!ssl_) return nullptr;
  const X509* leaf = SSL_get0_peer_certificate(ssl_.get());
  if (leaf == nullptr) return nullptr;
  auto peer = std::make_shared<PeerCertificates>();
  peer->der.push_back(Der(leaf));
  const STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl_.get());
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    const X509* next = sk_X509_value(chain, i);
    // OpenSSL puts the leaf into a client's view of the chain, not into a server's.
    if (X509_cmp(next, leaf) != 0) peer->der.push_back(Der(next));
  }
  return peer;
}

}  // namespace apiserver::v0::http
