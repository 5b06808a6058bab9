#include "apiserver/http/listener.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <deque>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "base/status_macros.h"
#include "http/carrier.h"
#include "http/fd_watch.h"
#include "http/loop.h"
#include "http/net.h"
#include "http/preface.h"
#include "http/server_config.h"
#include "http/tls_context.h"

namespace apiserver::v0::http {
namespace {

constexpr int kAcceptsPerTurn = 64;
// Bounds how many new connections a loop begins before it flushes the others, and how many that are
// gone already it drops meanwhile. A loop has up to eight such rounds a turn, and the first step of
// a TLS handshake signs, which takes up to a millisecond.
constexpr int kBegunPerRound = 4;
constexpr int kDroppedPerRound = 256;
// Out of descriptors or memory: how long until the next try.
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

// The number of connections, for threads that wait until there are none.
struct Population {
  Guarded<std::size_t> count{std::size_t{0}};
};

// The connections of one loop.
class Crowd final : public std::enable_shared_from_this<Crowd> {
 public:
  Crowd(std::shared_ptr<Loop> loop, std::shared_ptr<const ServerConfig> config,
        std::shared_ptr<Population> population)
      : loop_(std::move(loop)), config_(std::move(config)), population_(std::move(population)) {}

  Loop& loop() { return *loop_; }
  // Takes a connection over from the acceptor; its handshake begins when those before it have.
  void Add(int fd, const Address& peer);
  void Drain();
  void CloseAll();

 private:
  struct Arrival {
    int fd = -1;
    Address peer;
  };

  bool BeginLater();
  void BeginSome();
  void BeginFew();
  bool DropIfGone(const Arrival& arrival);
  void Begin(const Arrival& arrival);
  std::shared_ptr<Carrier> NewCarrier(int fd, const Address& peer);
  std::unique_ptr<Protocol> Speak(Carrier& carrier, Origin origin);
  void Leave();
  void Remove(const std::shared_ptr<Carrier>& carrier, const Status& why);

  const std::shared_ptr<Loop> loop_;
  const std::shared_ptr<const ServerConfig> config_;
  const std::shared_ptr<Population> population_;
  std::unordered_set<std::shared_ptr<Carrier>> carriers_;
  std::deque<Arrival> arrivals_;  // Accepted, not begun; they count in the population.
  bool begins_later_ = false;
  bool draining_ = false;
};

void Crowd::Add(int fd, const Address& peer) {
  try {
    arrivals_.push_back({fd, peer});
  } catch (...) {  // No memory for it. Others are taken as before.
    loop_->LogCaught("accepting a connection");
    close(fd);
    return Leave();
  }
  if (!BeginLater()) BeginSome();
}

// False: there is no memory to do anything later.
bool Crowd::BeginLater() {
  if (begins_later_) return true;
  try {
    loop_->Post([self = shared_from_this()] {
      self->begins_later_ = false;
      self->BeginSome();
    });
    begins_later_ = true;
  } catch (...) {
    loop_->LogCaught("accepting connections");
  }
  return begins_later_;
}

// Begins a few at a time: under a flood of handshakes the connections that are open keep their
// turns.
void Crowd::BeginSome() {
  do {
    BeginFew();
  } while (!arrivals_.empty() && !BeginLater());
}

void Crowd::BeginFew() {
  int begun = 0;
  int dropped = 0;
  while (!arrivals_.empty() && begun < kBegunPerRound && dropped < kDroppedPerRound) {
    const Arrival arrival = arrivals_.front();
    arrivals_.pop_front();
    if (DropIfGone(arrival)) {
      ++dropped;
    } else {
      Begin(arrival);
      ++begun;
    }
  }
}

// A client that has shut its side down cannot finish a handshake: its connection is dropped before
// one begins.
bool Crowd::DropIfGone(const Arrival& arrival) {
  const ListenerOptions& options = config_->options;
  if (!options.tls) return false;  // Without TLS a client may shut down and await its answer.
  pollfd events{arrival.fd, POLLRDHUP, 0};
  if (poll(&events, 1, 0) != 1) return false;
  close(arrival.fd);
  Leave();
  if (options.on_handshake_error) {
    try {
      options.on_handshake_error(
          FormatAddress(arrival.peer),
          Status(Reason::kServiceUnavailable, "tls: closed during the handshake"));
    } catch (...) {
      loop_->LogCaught("telling of a failed handshake");
    }
  }
  return true;
}

void Crowd::Begin(const Arrival& arrival) {
  std::shared_ptr<Carrier> carrier;
  try {
    carrier = NewCarrier(arrival.fd, arrival.peer);
    carriers_.insert(carrier);
  } catch (...) {  // No memory for it: it ends as if it had never come.
    loop_->LogCaught("accepting a connection");
    if (!carrier) close(arrival.fd);
    return Leave();
  }
  try {
    carrier->Start();
    if (draining_) carrier->Drain();
  } catch (...) {
    loop_->LogCaught("beginning a connection");
    carrier->Close(Status(Reason::kServiceUnavailable, "no memory"));
  }
}

std::shared_ptr<Carrier> Crowd::NewCarrier(int fd, const Address& peer) {
  const ListenerOptions& options = config_->options;
  Origin origin{.remote_address = FormatAddress(peer), .tls = options.tls != nullptr};
  Carrier::Setup setup;
  setup.loop = loop_;
  setup.fd = fd;
  if (options.tls) setup.tls = options.tls->context()->ssl();
  setup.handshake_timeout = options.handshake_timeout;
  setup.write_stall_timeout = options.write_stall_timeout;
  setup.memory = config_->service->memory;
  setup.make_protocol = [this, origin = std::move(origin)](Carrier& carrier) mutable {
    return Speak(carrier, std::move(origin));
  };
  setup.on_closed = [weak = weak_from_this()](Carrier& carrier, const Status& why) {
    if (const auto self = weak.lock()) self->Remove(carrier.shared_from_this(), why);
  };
  if (options.tls && options.on_handshake_error) {
    setup.on_handshake_error = [config = config_, peer = FormatAddress(peer)](const Status& why) {
      config->options.on_handshake_error(peer, why);
    };
  }
  ConfigureConnection(fd);
  return std::make_shared<Carrier>(std::move(setup));
}

std::unique_ptr<Protocol> Crowd::Speak(Carrier& carrier, Origin origin) {
  if (!origin.tls) {
    const auto make = [&carrier, config = config_, origin = std::move(origin)](bool http2) {
      return http2 ? NewHttp2Server(carrier, config, origin)
                   : NewHttp1Server(carrier, config, origin);
    };
    return NewPrefaceSniffer(carrier, loop_->now() + config_->options.header_timeout, make);
  }
  origin.peer = carrier.socket().Peer();
  return carrier.socket().Alpn() == "h2" ? NewHttp2Server(carrier, config_, std::move(origin))
                                         : NewHttp1Server(carrier, config_, std::move(origin));
}

void Crowd::Remove(const std::shared_ptr<Carrier>& carrier, const Status& why) {
  if (carriers_.erase(carrier) > 0) Leave();
  if (!why.ok()) {
    Log(*config_->options.log, LogLevel::kDebug, "connection closed",
        {{"why", std::string(why.message())}});
  }
}

void Crowd::Leave() {
  --*population_->count.Lock();
  population_->count.NotifyAll();
}

void Crowd::Drain() {
  draining_ = true;
  const auto all = carriers_;
  for (const auto& carrier : all) carrier->Drain();
}

void Crowd::CloseAll() {
  draining_ = true;
  for (const Arrival& arrival : std::exchange(arrivals_, {})) {
    close(arrival.fd);
    Leave();
  }
  const auto all = carriers_;
  for (const auto& carrier : all) {
    carrier->Close(Status(Reason::kServiceUnavailable, "the server has stopped"));
  }
}

// Takes connections from one listening socket and deals them to the crowds in turn. It has a loop
// of its own: when handshakes or requests keep the others busy, the kernel's queue is emptied all
// the same. A connection that finds that queue full is tried again by its client a second later.
class Acceptor final : public FdEvents, public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(std::shared_ptr<Loop> loop, int fd, std::vector<std::shared_ptr<Crowd>> crowds,
           std::shared_ptr<const ServerConfig> config, std::shared_ptr<Population> population)
      : loop_(std::move(loop)),
        watch_(*loop_, fd),
        crowds_(std::move(crowds)),
        config_(std::move(config)),
        population_(std::move(population)) {}

  void OnReadable() override;
  void OnWritable() override {}
  void Close() { watch_.Close(); }

 private:
  bool AcceptOne();
  void Deal(int fd, const Address& peer);

  const std::shared_ptr<Loop> loop_;
  FdWatch watch_;
  const std::vector<std::shared_ptr<Crowd>> crowds_;
  const std::shared_ptr<const ServerConfig> config_;
  const std::shared_ptr<Population> population_;
  std::size_t next_ = 0;
  Executor::Cancel pause_;
};

void Acceptor::OnReadable() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    if (!AcceptOne()) return;
  }
  watch_.AwaitTurn(shared_from_this());
}

// False: not again now.
bool Acceptor::AcceptOne() {
  Address peer;
  peer.size = sizeof(peer.storage);
  const int fd = accept4(watch_.fd(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.size,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    Deal(fd, peer);
    return true;
  }
  switch (errno) {
    case EAGAIN:
      watch_.AwaitReadable(shared_from_this());
      return false;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      Log(*config_->options.log, LogLevel::kWarning, "cannot accept connections",
          {{"error", std::generic_category().message(errno)}});
      pause_ = loop_->PostAfter(kAcceptPause, [self = shared_from_this()] { self->OnReadable(); });
      return false;
    case EBADF:
    case EINVAL:
      return false;  // Closed.
    default:
      return true;  // That connection has failed already; the next may not.
  }
}

void Acceptor::Deal(int fd, const Address& peer) {
  {
    auto count = population_->count.Lock();
    if (*count >= config_->options.connections_max) {
      close(fd);
      return;
    }
    ++*count;
  }
  const auto& crowd = crowds_[next_++ % crowds_.size()];
  try {
    crowd->loop().Post([crowd, fd, peer] { crowd->Add(fd, peer); });
  } catch (...) {  // No memory for it. Others are accepted as before.
    loop_->LogCaught("accepting a connection");
    close(fd);
    --*population_->count.Lock();
  }
}

class LoopListener final : public Listener {
 public:
  LoopListener(ListenerOptions options, const Service& service, int fd)
      : local_(LocalAddress(fd)),
        host_(options.address),
        config_(std::make_shared<ServerConfig>(ServerConfig{std::move(options), &service})),
        accepting_(Loop::Create(*config_->options.log)) {
    for (std::size_t i = 0; i < std::max<std::size_t>(config_->options.threads, 1); ++i) {
      loops_.push_back(Loop::Create(*config_->options.log));
      crowds_.push_back(std::make_shared<Crowd>(loops_.back(), config_, population_));
    }
    acceptor_ = std::make_shared<Acceptor>(accepting_, fd, crowds_, config_, population_);
    accepting_->Post([acceptor = acceptor_] { acceptor->OnReadable(); });
    for (std::size_t i = 0; i < loops_.size(); ++i) loops_[i]->Start("http-" + std::to_string(i));
    accepting_->Start("http-accept");
  }
  ~LoopListener() override { Stop(std::chrono::milliseconds(0)); }

  int port() const override { return PortOf(local_); }
  std::string address() const override { return host_; }
  std::size_t connections() const override { return *population_->count.Lock(); }
  void Drain() override;
  bool WaitUntilNoConnections(std::chrono::milliseconds longest) override;
  void Stop(std::chrono::milliseconds grace) override;

 private:
  const Address local_;
  const std::string host_;
  const std::shared_ptr<const ServerConfig> config_;
  const std::shared_ptr<Population> population_ = std::make_shared<Population>();
  const std::shared_ptr<Loop> accepting_;
  std::vector<std::shared_ptr<Loop>> loops_;
  std::vector<std::shared_ptr<Crowd>> crowds_;
  std::shared_ptr<Acceptor> acceptor_;
  std::atomic<bool> draining_{false};
  Guarded<bool> stopped_{false};
};

void LoopListener::Drain() {
  if (draining_.exchange(true)) return;
  accepting_->Post([acceptor = acceptor_, crowds = crowds_] {
    acceptor->Close();
    // After what the acceptor has dealt to them.
    for (const auto& crowd : crowds) crowd->loop().Post([crowd] { crowd->Drain(); });
  });
}

bool LoopListener::WaitUntilNoConnections(std::chrono::milliseconds longest) {
  auto count = population_->count.Lock();
  return count.WaitUntil(RealClock().Now() + longest, [&] { return *count == 0; });
}

void LoopListener::Stop(std::chrono::milliseconds grace) {
  auto stopped = stopped_.Lock();
  if (std::exchange(*stopped, true)) return;
  Drain();
  (void)WaitUntilNoConnections(grace);
  accepting_->Stop();  // First: no connection is dealt to a loop that has stopped.
  for (const auto& crowd : crowds_) {
    auto done = std::make_shared<Notification>();
    crowd->loop().Post([crowd, done] {
      crowd->CloseAll();
      done->Notify();
    });
    done->Wait();
  }
  for (const auto& loop : loops_) loop->Stop();
}

}  // namespace

Result<std::unique_ptr<Listener>> Listen(ListenerOptions options, const Service& service) {
  if (service.pool == nullptr) return Status(Reason::kInvalid, "a service needs a pool");
  if (options.socket >= 0) {
    ASSIGN_OR_RETURN(const int fd, AdoptListener(options.socket));
    return std::make_unique<LoopListener>(std::move(options), service, fd);
  }
  ASSIGN_OR_RETURN(const Address address, ParseAddress(options.address, options.port));
  ASSIGN_OR_RETURN(const int fd, OpenListener(address));
  return std::make_unique<LoopListener>(std::move(options), service, fd);
}

}  // namespace apiserver::v0::http
