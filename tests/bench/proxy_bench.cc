// W17 and W18 without the servers around the proxy: what a forwarded GET costs, what an idle pipe
// keeps, and how many bytes a second of CPU relays:
//
//   proxy_bench [PIPES=10000] [MEGABYTES=2048] [REQUESTS=50000]
//
// Bytes are relayed in plain and with TLS on both sides. Clients and backends are sockets of this
// process that hold no heap, and threads whose CPU time is taken off. Idle pipes are spread over
// servers of this process, each with descriptors of its own, so that the limit of descriptors
// allows them. Prints a line for each figure.
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <malloc.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"
#include "apiserver/http/listener.h"
#include "apiserver/http/tls.h"
#include "apiserver/proxy/upgrade_aware_handler.h"

namespace {

using namespace apiserver;  // NOLINT: a program of its own.

constexpr std::string_view kAsk =
    "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n";
constexpr std::string_view kSwitch =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: Upgrade\r\n\r\n";
constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

double CpuSeconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::size_t HeapBytes() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

void Must(bool holds, const char* what) {
  if (holds) return;
  std::perror(what);
  std::exit(1);
}

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int ConnectTo(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = Loopback(port);
  Must(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "connect");
  return fd;
}

void SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    Must(sent > 0, "send");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::size_t Receive(int fd, char* buffer, std::size_t size) {
  const ssize_t count = recv(fd, buffer, size, 0);
  Must(count > 0, "recv");
  return static_cast<std::size_t>(count);
}

using SslContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

// Returns the context of servers with a certificate, or, without one, of clients that verify none.
SslContext NewContext(const http::KeyPair* pair) {
  const SSL_METHOD* method = pair != nullptr ? TLS_server_method() : TLS_client_method();
  SslContext context(SSL_CTX_new(method), &SSL_CTX_free);
  if (pair == nullptr) return context;
  const auto read = [](const std::string& pem) {
    return std::unique_ptr<BIO, decltype(&BIO_free)>(
        BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  };
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(read(pair->certificate_pem).get(), nullptr, nullptr, nullptr), &X509_free);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(read(pair->key_pem).get(), nullptr, nullptr, nullptr),
      &EVP_PKEY_free);
  Must(SSL_CTX_use_certificate(context.get(), certificate.get()) == 1, "certificate");
  Must(SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1, "key");
  return context;
}

// TLS on a connected socket.
class TlsSocket {
 public:
  TlsSocket(int fd, const http::KeyPair* pair)
      : context_(NewContext(pair)), ssl_(SSL_new(context_.get()), &SSL_free), fd_(fd) {
    SSL_set_fd(ssl_.get(), fd);
    if (pair != nullptr) SSL_set_accept_state(ssl_.get());
    if (pair == nullptr) SSL_set_connect_state(ssl_.get());
    Must(SSL_do_handshake(ssl_.get()) == 1, "handshake");
  }
  TlsSocket(const TlsSocket&) = delete;
  TlsSocket& operator=(const TlsSocket&) = delete;
  ~TlsSocket() { close(fd_); }
  SSL* get() const { return ssl_.get(); }

 private:
  const SslContext context_;
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  const int fd_;
};

void SendAll(const TlsSocket& to, std::string_view bytes) {
  Must(SSL_write(to.get(), bytes.data(), static_cast<int>(bytes.size())) > 0, "SSL_write");
}

std::size_t Receive(const TlsSocket& from, char* buffer, std::size_t size) {
  const int count = SSL_read(from.get(), buffer, static_cast<int>(size));
  Must(count > 0, "SSL_read");
  return static_cast<std::size_t>(count);
}

// Reads until the bytes end with `end`.
template <class Socket>
void ReadUntil(const Socket& from, std::string_view end) {
  std::string got;
  char buffer[4096];
  while (!got.ends_with(end)) got.append(buffer, Receive(from, buffer, sizeof buffer));
}

// A listening socket of backends.
class Backends {
 public:
  Backends() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof address;
    Must(bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
    Must(listen(fd_, 1024) == 0, "listen");
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~Backends() { close(fd_); }
  int port() const { return port_; }
  int fd() const { return fd_; }
  int Accept() const {
    const int fd = accept(fd_, nullptr, nullptr);
    Must(fd >= 0, "accept");
    return fd;
  }

 private:
  int fd_;
  int port_ = 0;
};

// A server that forwards everything to the backends.
class Front {
 public:
  // `pair`: the server's certificate, if it and the backends speak TLS. Null: in plain.
  Front(int port, const http::KeyPair* pair) {
    handler_.location = {.scheme = pair != nullptr ? "https" : "http",
                         .host = "127.0.0.1:" + std::to_string(port),
                         .path = "/"};
    handler_.pool =
        proxy::NewUpstreamPool({.dialer = dialer_.get(), .tls = http::ClientTls()}).value();
    handler_.pipes = proxy::NewPipes({.pipes_max = 100'000, .pipes_per_user_max = 100'000});
    handler_.wrap_transport = true;
    service_.handler = [this](http::Exchange& exchange) { return handler_.ServeHTTP(exchange); };
    service_.pool = pool_.get();
    http::ListenerOptions options;
    if (pair != nullptr) options.tls = http::NewServerTls(*pair).value();
    listener_ = http::Listen(std::move(options), service_).value();
  }
  int port() const { return listener_->port(); }

 private:
  std::unique_ptr<http::Dialer> dialer_ = http::NewDialer();
  std::unique_ptr<ThreadPool> pool_ = NewThreadPool();
  proxy::UpgradeAwareHandler handler_;
  http::Service service_;
  std::unique_ptr<http::Listener> listener_;
};

struct Pair {
  int client = -1;
  int backend = -1;
};

Pair OpenPipe(const Front& front, const Backends& backends) {
  Pair pair{.client = ConnectTo(front.port())};
  SendAll(pair.client, kAsk);
  pair.backend = backends.Accept();
  ReadUntil(pair.backend, "\r\n\r\n");
  SendAll(pair.backend, kSwitch);
  ReadUntil(pair.client, "\r\n\r\n");
  return pair;
}

// Each table of descriptors has the limit for itself: the calling thread, and those it starts, get
// one of their own (unshare(2), CLONE_FILES).
void TakeOwnDescriptors() { Must(unshare(CLONE_FILES) == 0, "unshare"); }

// The most descriptors that a thread's table holds besides the ends of pipes.
constexpr std::size_t kOtherDescriptors = 1'000;

// Raises the limit of descriptors as far as it may be, and returns it.
std::size_t DescriptorsMax() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  return files.rlim_max;
}

// Servers that forward to one port, each with descriptors of its own for half of its pipes' ends.
class Fronts {
 public:
  Fronts(int port, std::size_t count) : ports_(count), ready_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      threads_.push_back(std::make_unique<Thread>("front", [this, port, i] {
        TakeOwnDescriptors();
        const Front front(port, nullptr);
        ports_[i] = front.port();
        ready_[i].Notify();
        done_.Wait();
      }));
      ready_[i].Wait();
    }
  }
  Fronts(const Fronts&) = delete;
  Fronts& operator=(const Fronts&) = delete;
  ~Fronts() { done_.Notify(); }
  int port(std::size_t pipe) const { return ports_[pipe % ports_.size()]; }

 private:
  std::vector<int> ports_;
  std::vector<Notification> ready_;
  Notification done_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

// So many pipes are opened before any is counted: servers make some things once.
constexpr std::size_t kFirstPipes = 16;

// Opens `count` pipes and returns the heap that each of them keeps. The clients are this thread's.
std::size_t HeapOfPipe(const Fronts& fronts, std::size_t count) {
  std::vector<int> clients;
  clients.reserve(kFirstPipes + count);
  const auto open = [&](std::size_t pipe) {
    clients.push_back(ConnectTo(fronts.port(pipe)));
    SendAll(clients.back(), kAsk);
    ReadUntil(clients.back(), "\r\n\r\n");
  };
  for (std::size_t i = 0; i < kFirstPipes; ++i) open(i);
  const std::size_t before = HeapBytes();
  for (std::size_t i = 0; i < count; ++i) open(i);
  const std::size_t bytes = (HeapBytes() - before) / count;
  for (const int client : clients) close(client);
  return bytes;
}

// Switches protocols on so many connections, and holds them until `done`.
void SwitchAll(const Backends& backends, std::size_t count, const Notification& done) {
  std::vector<int> held;
  held.reserve(count);
  while (held.size() < count) {
    held.push_back(backends.Accept());
    ReadUntil(held.back(), "\r\n\r\n");
    SendAll(held.back(), kSwitch);
  }
  done.Wait();
  for (const int backend : held) close(backend);
}

void MeasureIdle(std::size_t count) {
  const Backends backends;
  const std::size_t pipes_of_front = (DescriptorsMax() - kOtherDescriptors) / 2;
  const Fronts fronts(backends.port(), count / pipes_of_front + 1);
  Notification done;
  const Thread switching("backends", [&] {
    TakeOwnDescriptors();
    SwitchAll(backends, kFirstPipes + count, done);
  });
  const std::size_t bytes = HeapOfPipe(fronts, count);
  std::printf("W18 idle pipe: %zu bytes of heap each, of %zu\n", bytes, count);
  done.Notify();
}

template <class Socket>
void Relay(const char* name, const Socket& client, const Socket& backend, std::size_t megabytes) {
  const double before = CpuSeconds(RUSAGE_SELF);
  double reader_cpu = 0;
  double writer_cpu = 0;
  const std::size_t all = megabytes << 20;
  {
    Thread reader("reader", [&] {
      std::vector<char> buffer(1 << 20);
      for (std::size_t got = 0; got < all;) got += Receive(client, buffer.data(), buffer.size());
      reader_cpu = CpuSeconds(RUSAGE_THREAD);
    });
    Thread writer("writer", [&] {
      const std::string piece(1 << 20, 'x');
      for (std::size_t i = 0; i < megabytes; ++i) SendAll(backend, piece);
      writer_cpu = CpuSeconds(RUSAGE_THREAD);
    });
  }
  const double cpu = CpuSeconds(RUSAGE_SELF) - before - reader_cpu - writer_cpu;
  std::printf("W18 fast pipe%s: %.2f GB relayed per second of CPU\n", name,
              static_cast<double>(all) / 1e9 / cpu);
}

void MeasureFast(const Front& front, const Backends& backends, std::size_t megabytes) {
  const Pair pair = OpenPipe(front, backends);
  Relay("", pair.client, pair.backend, megabytes);
  close(pair.client);
  close(pair.backend);
}

void MeasureFastTls(const Backends& backends, std::size_t megabytes) {
  const http::KeyPair authority = http::NewCertificateAuthority("bench", RealClock()).value();
  const http::KeyPair pair =
      http::NewCertificate(authority, {.common_name = "bench", .dns_names = {"bench"}}, RealClock())
          .value();
  const Front front(backends.port(), &pair);
  const TlsSocket client(ConnectTo(front.port()), nullptr);
  SendAll(client, kAsk);
  const TlsSocket backend(backends.Accept(), &pair);
  ReadUntil(backend, "\r\n\r\n");
  SendAll(backend, kSwitch);
  ReadUntil(client, "\r\n\r\n");
  Relay(", TLS on both sides", client, backend, megabytes);
}

void MeasureGets(const Front& front, const Backends& backends, std::size_t requests) {
  const int client = ConnectTo(front.port());
  SendAll(client, kGet);
  const int backend = backends.Accept();
  double backend_cpu = 0;
  const double before = CpuSeconds(RUSAGE_SELF);
  const double before_here = CpuSeconds(RUSAGE_THREAD);
  {
    Thread answering("backend", [&] {
      for (std::size_t i = 0; i < requests; ++i) {
        ReadUntil(backend, "\r\n\r\n");
        SendAll(backend, kAnswer);
      }
      backend_cpu = CpuSeconds(RUSAGE_THREAD);
    });
    for (std::size_t i = 0; i < requests; ++i) {
      ReadUntil(client, "{}");
      if (i + 1 < requests) SendAll(client, kGet);
    }
  }
  const double here = CpuSeconds(RUSAGE_THREAD) - before_here;
  const double cpu = CpuSeconds(RUSAGE_SELF) - before - here - backend_cpu;
  std::printf("W17 GET forwarded in plain: %.1f us of CPU, one after the other\n",
              cpu * 1e6 / static_cast<double>(requests));
  close(client);
  close(backend);
}

// Answers requests on the backend's connections until all of them were answered.
void AnswerAll(const Backends& backends, std::size_t requests) {
  std::vector<pollfd> ready = {{.fd = backends.fd(), .events = POLLIN, .revents = 0}};
  for (std::size_t answered = 0; answered < requests;) {
    Must(poll(ready.data(), ready.size(), -1) > 0, "poll");
    for (std::size_t i = ready.size(); i-- > 1;) {
      if (ready[i].revents == 0) continue;
      ReadUntil(ready[i].fd, "\r\n\r\n");
      SendAll(ready[i].fd, kAnswer);
      ++answered;
    }
    if (ready[0].revents == 0) continue;
    ready.push_back({.fd = backends.Accept(), .events = POLLIN, .revents = 0});
  }
  for (std::size_t i = 1; i < ready.size(); ++i) close(ready[i].fd);
}

// Each client sends its next request when all have their answers.
void MeasureGetsTogether(const Front& front, const Backends& backends, std::size_t requests) {
  constexpr std::size_t kClients = 16;
  const std::size_t rounds = requests / kClients;
  std::vector<int> clients(kClients);
  for (int& client : clients) client = ConnectTo(front.port());
  double backend_cpu = 0;
  const double before = CpuSeconds(RUSAGE_SELF);
  const double before_here = CpuSeconds(RUSAGE_THREAD);
  {
    Thread answering("backend", [&] {
      AnswerAll(backends, rounds * kClients);
      backend_cpu = CpuSeconds(RUSAGE_THREAD);
    });
    for (std::size_t round = 0; round < rounds; ++round) {
      for (const int client : clients) SendAll(client, kGet);
      for (const int client : clients) ReadUntil(client, "{}");
    }
  }
  const double here = CpuSeconds(RUSAGE_THREAD) - before_here;
  const double cpu = CpuSeconds(RUSAGE_SELF) - before - here - backend_cpu;
  std::printf("W17 GET forwarded in plain: %.1f us of CPU, %zu at a time\n",
              cpu * 1e6 / static_cast<double>(rounds * kClients), kClients);
  for (const int client : clients) close(client);
}

std::size_t Argument(int argc, char** argv, int index, std::size_t usual) {
  return argc > index ? std::strtoul(argv[index], nullptr, 10) : usual;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t pipes = Argument(argc, argv, 1, 10'000);
  if (const std::size_t needed = pipes + kOtherDescriptors; needed > DescriptorsMax()) {
    std::fprintf(stderr, "%zu pipes need %zu descriptors, and the limit is %zu (ulimit -Hn)\n",
                 pipes, needed, DescriptorsMax());
    return 1;
  }
  const Backends backends;
  const Front front(backends.port(), nullptr);
  const std::size_t megabytes = Argument(argc, argv, 2, 2'048);
  const std::size_t requests = Argument(argc, argv, 3, 50'000);
  MeasureGets(front, backends, requests);
  MeasureGetsTogether(front, backends, requests);
  MeasureFast(front, backends, megabytes);
  MeasureFastTls(backends, megabytes);
  MeasureIdle(pipes);
  return 0;
}
