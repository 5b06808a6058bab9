#include "apiserver/http/dialer.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/sync.h"
#include "base/status_macros.h"
#include "http/carrier.h"
#include "http/client_link.h"
#include "http/client_protocol.h"
#include "http/client_stream.h"
#include "http/duplex_stream.h"
#include "http/loop.h"
#include "http/loop_dialer.h"
#include "http/net.h"
#include "http/tls_context.h"

namespace apiserver::v0::http {
namespace {

// Tells the link when the protocol under it stops taking requests.
class WatchedProtocol final : public Protocol {
 public:
  WatchedProtocol(std::unique_ptr<ClientProtocol> inner, std::shared_ptr<ClientLink> link)
      : inner_(std::move(inner)), link_(std::move(link)) {}
  void Receive(std::string_view bytes) override {
    inner_->Receive(bytes);
    link_->Look();
  }
  void Produce(std::string& out, std::size_t limit) override { inner_->Produce(out, limit); }
  State state() const override { return inner_->state(); }
  bool wants_read() const override { return inner_->wants_read(); }
  bool OnReadEnd() override {
    const bool stays = inner_->OnReadEnd();
    link_->Look();
    return stays;
  }
  bool write_ended() const override { return inner_->write_ended(); }
  bool output_blocked() const override { return inner_->output_blocked(); }
  std::optional<Clock::Monotonic> deadline() const override { return inner_->deadline(); }
  std::optional<Clock::Monotonic> wake_at() const override { return inner_->wake_at(); }
  void Drain() override { inner_->Drain(); }
  void OnClosed(const Status& why) override {
    // Before its calls hear of it, or the next would be put on this connection.
    link_->closed.store(true);
    inner_->OnClosed(why);
  }

 private:
  std::unique_ptr<ClientProtocol> inner_;
  std::shared_ptr<ClientLink> link_;
};

class LinkControl final : public ClientControl {
 public:
  LinkControl(std::shared_ptr<ClientLink> link, std::shared_ptr<ClientCall> call)
      : link_(std::move(link)), call_(std::move(call)) {}

  void Cancel() override {
    link_->loop->Post(
        [link = link_, call = call_] { link->Abort(call, Status(Reason::kTimeout, "cancelled")); });
  }
  void Consume(std::size_t bytes) override {
    link_->loop->Post([link = link_, call = call_, bytes] { link->Consume(call, bytes); });
  }
  void Write(std::string bytes) override {
    link_->loop->Post([link = link_, call = call_, bytes = std::move(bytes)]() mutable {
      link->Write(call, std::move(bytes));
    });
  }

 private:
  std::shared_ptr<ClientLink> link_;
  std::shared_ptr<ClientCall> call_;
};

class LoopConnection final : public Connection {
 public:
  explicit LoopConnection(std::shared_ptr<ClientLink> link) : link_(std::move(link)) {}
  ~LoopConnection() override {
    link_->loop->Post([link = link_] {
      if (const auto carrier = link->carrier) carrier->Close(Status::Ok());
    });
  }

  Result<ClientResponse> Call(const Context& ctx, const ClientRequest& request) override {
    return CallOver(*this, ctx, request);
  }
  Result<std::unique_ptr<ClientStream>> Open(const ClientRequest& request) override {
    const auto buffer = NewStreamBuffer(link_->window_bytes, link_->memory);
    const auto call = Begin(request, SinkOf(buffer));
    return NewBufferedStream(buffer, std::make_unique<LinkControl>(link_, call));
  }
  Result<Executor::Cancel> Observe(ClientRequest request,
                                   std::shared_ptr<StreamObserver> observer) override {
    const auto call = Begin(std::move(request), NewObserverSink(std::move(observer)));
    return Executor::Cancel(
        [control = std::make_shared<LinkControl>(link_, call)] { control->Cancel(); });
  }
  Result<std::unique_ptr<Stream>> OpenStream(ClientRequestHead head) override {
    return OpenDuplex(link_, std::move(head), DuplexKind::kBody);
  }
  Result<std::unique_ptr<Stream>> OpenUpgrade(ClientRequestHead head) override {
    return OpenDuplex(link_, std::move(head), DuplexKind::kUpgrade);
  }
  bool closed() const override { return link_->closed.load(); }
  bool multiplexed() const override { return link_->multiplexed.load(); }
  std::shared_ptr<const PeerCertificates> ServerCertificates() const override {
    return link_->server_certificates;
  }

 private:
  std::shared_ptr<ClientCall> Begin(ClientRequest request, std::shared_ptr<ClientSink> sink) {
    auto call = std::make_shared<ClientCall>(std::move(request), std::move(sink));
    link_->loop->Post([link = link_, call] { link->Start(call); });
    return call;
  }

  std::shared_ptr<ClientLink> link_;
};

// The connections of a dialer, which end with it and with the loop: what waits for the socket keeps
// itself and the loop alive. Used on the loop only, but for ended().
class OpenCarriers final : public LoopWaiter {
 public:
  bool ended() const { return ended_.load(); }
  void Add(const std::shared_ptr<Carrier>& carrier) { carriers_.insert(carrier); }
  void Remove(Carrier& carrier) { carriers_.erase(carrier.shared_from_this()); }
  // Closes all. There are no new ones from now on.
  void End() {
    ended_.store(true);
    for (const auto& carrier : std::exchange(carriers_, {})) {
      carrier->Close(Status(Reason::kServiceUnavailable, "the dialer has ended"));
    }
  }
  void OnLoopStop() override { End(); }

 private:
  std::unordered_set<std::shared_ptr<Carrier>> carriers_;
  std::atomic<bool> ended_{false};
};

// One dial: tries the addresses of a host in turn until a handshake is done. Used on the loop only.
class Dialing final : public std::enable_shared_from_this<Dialing> {
 public:
  Dialing(std::shared_ptr<Loop> loop, std::shared_ptr<OpenCarriers> open, DialOptions options,
          SslContext tls, Dialer::Dialed done)
      : loop_(std::move(loop)),
        open_(std::move(open)),
        options_(std::move(options)),
        tls_(std::move(tls)),
        done_(std::move(done)) {}

  // The loop has stopped, and dropped the dial.
  ~Dialing() { Finish(Status(Reason::kServiceUnavailable, "the dialer has ended")); }
  Dialing(const Dialing&) = delete;
  Dialing& operator=(const Dialing&) = delete;

  void Start(Result<std::vector<Address>> addresses) {
    if (!addresses.ok()) return Finish(addresses.status());
    addresses_ = *std::move(addresses);
    until_ = loop_->now() + options_.connect_timeout;
    TryNext();
  }
  void GiveUp() {
    if (!done_) return;
    Finish(Status(Reason::kTimeout, "gave up connecting"));
    if (link_ && link_->carrier) std::exchange(link_->carrier, nullptr)->Close(Status::Ok());
  }

 private:
  void TryNext();
  void Carry(int fd);
  Carrier::Setup CarrierFor(int fd);
  std::unique_ptr<Protocol> Speak(Carrier& carrier);
  void Lost(const Carrier& carrier, const std::shared_ptr<ClientLink>& link, const Status& why);
  void Failed(const Status& why) {
    if (first_.ok())
      first_ = Status(why.reason(), "dial " + At() + ": " + std::string(why.message()));
  }
  std::string At() const {
    const std::string where = FormatAddress(addresses_[next_ - 1]);
    return (where.starts_with("unix:") ? "" : "tcp ") + where;
  }
  void Finish(Result<std::unique_ptr<Connection>> result) {
    if (auto done = std::exchange(done_, nullptr)) done(std::move(result));
  }

  const std::shared_ptr<Loop> loop_;
  const std::shared_ptr<OpenCarriers> open_;
  const DialOptions options_;
  const SslContext tls_;
  Dialer::Dialed done_;  // Null: told.
  std::vector<Address> addresses_;
  std::size_t next_ = 0;
  Clock::Monotonic until_;
  Status first_;  // The error of the first address.
  std::shared_ptr<ClientLink> link_;
};

// The first address's error is reported if all fail, as Go does: it is the one that people expect.
void Dialing::TryNext() {
  if (open_->ended()) first_ = Status(Reason::kServiceUnavailable, "the dialer has ended");
  while (done_ && !open_->ended() && next_ < addresses_.size()) {
    const auto fd = BeginConnect(addresses_[next_++]);
    if (fd.ok()) return Carry(*fd);
    Failed(fd.status());
  }
  Finish(first_);
}

void Dialing::Carry(int fd) {
  link_ = std::make_shared<ClientLink>();
  link_->loop = loop_;
  link_->window_bytes = options_.window_bytes;
  link_->memory = options_.memory;
  link_->carrier = std::make_shared<Carrier>(CarrierFor(fd));
  const auto carrier = link_->carrier;
  open_->Add(carrier);
  carrier->Start();
}

Carrier::Setup Dialing::CarrierFor(int fd) {
  Carrier::Setup setup;
  setup.loop = loop_;
  setup.fd = fd;
  setup.server = false;
  setup.connecting = true;
  // The time that the addresses before have left.
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - loop_->now());
  setup.handshake_timeout = std::max(left, std::chrono::milliseconds(0));
  setup.write_stall_timeout = options_.write_stall_timeout;
  if (tls_) {
    const std::string& name = options_.tls->server_name;
    setup.server_name = name.empty() ? options_.host : name;
    setup.tls = tls_;
  }
  setup.make_protocol = [self = shared_from_this()](Carrier& carrier) {
    return self->Speak(carrier);
  };
  setup.on_closed = [self = shared_from_this(), link = link_](Carrier& carrier, const Status& why) {
    self->open_->Remove(carrier);
    self->Lost(carrier, link, why);
  };
  return setup;
}

std::unique_ptr<Protocol> Dialing::Speak(Carrier& carrier) {
  ClientSetup setup;
  // A path to a socket is no host.
  setup.authority =
      options_.host.starts_with("unix:") ? "localhost" : JoinHostPort(options_.host, options_.port);
  setup.scheme = tls_ ? "https" : "http";
  setup.window_bytes = options_.window_bytes;
  setup.ping_interval = options_.ping_interval;
  setup.ping_timeout = options_.ping_timeout;
  setup.ping_when_idle = options_.ping_when_idle;
  const bool http2 = tls_ ? carrier.socket().Alpn() == "h2" : options_.http2;
  auto protocol =
      http2 ? NewHttp2Client(carrier, std::move(setup)) : NewHttp1Client(carrier, std::move(setup));
  const auto link = link_;
  link->server_certificates = carrier.socket().Peer();
  link->protocol = protocol.get();
  link->multiplexed.store(protocol->multiplexed());
  // After this turn: what is told may start a call, or drop the connection.
  loop_->Post([self = shared_from_this(), link] {
    self->Finish(std::unique_ptr<Connection>(std::make_unique<LoopConnection>(link)));
  });
  return std::make_unique<WatchedProtocol>(std::move(protocol), link);
}

// Called for every end of a connection, also long after its dial.
void Dialing::Lost(const Carrier& carrier, const std::shared_ptr<ClientLink>& link,
                   const Status& why) {
  link->closed.store(true);
  const bool spoke = std::exchange(link->protocol, nullptr) != nullptr;
  link->carrier.reset();
  if (spoke || !done_) return;
  if (carrier.connected()) {
    // The server is there and will not speak: another address of it would say the same.
    return Finish(why.ok() ? Status(Reason::kServiceUnavailable, "closed") : why);
  }
  Failed(why);
  TryNext();
}

// The TLS contexts and the resolver that the dialers of several loops share. Thread-safe.
class DialResources final {
 public:
  Result<SslContext> ContextFor(const DialOptions& options);
  // Looks a name up on the resolver's thread, where `done` is called: getaddrinfo() blocks, for
  // seconds if a name server is down, and has no usable asynchronous form. False: the dialer has
  // ended.
  bool ResolveLater(const std::string& host, int port,
                    UniqueFunction<void(Result<std::vector<Address>>)> done);
  // Ends the connections of a loop with the dialer.
  void Add(const std::shared_ptr<Loop>& loop, const std::shared_ptr<OpenCarriers>& open);
  // Waits for a look-up in progress.
  void End();

 private:
  struct Ready {
    ClientTls tls;
    bool http2 = false;
    SslContext context;
  };
  // The connections of a dialer that On() has made.
  struct LoopConnections {
    std::weak_ptr<Loop> loop;
    std::weak_ptr<OpenCarriers> open;
  };
  struct Resolver {
    std::unique_ptr<ThreadPool> pool;
    bool ended = false;
  };

  Guarded<Resolver> resolver_;
  // The last ones, as reading the machine's authorities takes milliseconds.
  Guarded<std::vector<Ready>> ready_;
  Guarded<std::vector<LoopConnections>> others_;
};

// The name of the server is no part of a context. The lock is not held while one is made, so that
// loops do not wait for each other; two may make the same.
Result<SslContext> DialResources::ContextFor(const DialOptions& options) {
  constexpr std::size_t kReadyMax = 64;
  if (!options.tls) return SslContext();
  ClientTls tls = *options.tls;
  tls.server_name.clear();
  {
    const auto ready = ready_.Lock();
    for (const Ready& each : *ready) {
      if (each.http2 == options.http2 && each.tls == tls) return each.context;
    }
  }
  ASSIGN_OR_RETURN(SslContext context, NewClientContext(tls, options.http2));
  auto ready = ready_.Lock();
  if (ready->size() == kReadyMax) ready->erase(ready->begin());
  ready->push_back({std::move(tls), options.http2, context});
  return context;
}

// The thread is made at the first name, because most hosts dial addresses.
bool DialResources::ResolveLater(const std::string& host, int port,
                                 UniqueFunction<void(Result<std::vector<Address>>)> done) {
  auto resolver = resolver_.Lock();
  if (resolver->ended) return false;
  if (!resolver->pool) resolver->pool = NewThreadPool({.name = "http-resolver", .threads = 1});
  resolver->pool->Post(
      [host, port, done = std::move(done)]() mutable { done(Resolve(host, port)); });
  return true;
}

void DialResources::Add(const std::shared_ptr<Loop>& loop,
                        const std::shared_ptr<OpenCarriers>& open) {
  auto others = others_.Lock();
  std::erase_if(*others, [](const LoopConnections& each) { return each.open.expired(); });
  others->push_back({loop, open});
}

void DialResources::End() {
  std::unique_ptr<ThreadPool> resolver;
  {
    auto locked = resolver_.Lock();
    locked->ended = true;
    resolver = std::move(locked->pool);
  }
  if (resolver) resolver->Stop();
  const std::vector<LoopConnections> others = std::exchange(*others_.Lock(), {});
  for (const LoopConnections& each : others) {
    const auto loop = each.loop.lock();
    const auto open = each.open.lock();
    if (loop && open) loop->Post([open] { open->End(); });
  }
}

class LoopDialer final : public Dialer {
 public:
  // Tells which parts end with the dialer.
  struct Owns {
    bool resources = false;
    bool loop = false;
  };
  // Dials on `loop`, which runs already.
  LoopDialer(std::shared_ptr<DialResources> shared, std::shared_ptr<Loop> loop, Owns owns)
      : shared_(std::move(shared)), loop_(std::move(loop)), owns_(owns) {}
  ~LoopDialer() override {
    if (owns_.resources) shared_->End();
    loop_->Post([loop = loop_, open = open_] {
      open->End();
      loop->StopsWaiting(open);
    });
    if (owns_.loop) loop_->Stop();
  }
  Executor::Cancel DialLater(const DialOptions& options, Dialed done) override;
  Result<std::unique_ptr<Connection>> Dial(const Context& ctx, const DialOptions& options) override;
  Executor& loop() override { return *loop_; }
  std::shared_ptr<Dialer> On(const std::shared_ptr<Loop>& loop) override;
  bool ended() const override { return open_->ended() || loop_->stopped(); }
  // Ends the connections when the loop stops.
  void EndWithLoop() {
    loop_->Post([raw = loop_.get(), open = open_] { raw->Waits(open); });
  }

 private:
  const std::shared_ptr<DialResources> shared_;
  const std::shared_ptr<Loop> loop_;
  const std::shared_ptr<OpenCarriers> open_ = std::make_shared<OpenCarriers>();
  const Owns owns_;
};

std::shared_ptr<Dialer> LoopDialer::On(const std::shared_ptr<Loop>& loop) {
  auto dialer = std::make_shared<LoopDialer>(shared_, loop, Owns());
  shared_->Add(loop, dialer->open_);
  dialer->EndWithLoop();
  return dialer;
}

// An IP address goes straight to the loop, so that a slow name server delays only names.
Executor::Cancel LoopDialer::DialLater(const DialOptions& options, Dialed done) {
  auto tls = shared_->ContextFor(options);
  if (!tls.ok()) {
    done(tls.status());
    return [] {};
  }
  const auto dialing =
      std::make_shared<Dialing>(loop_, open_, options, *std::move(tls), std::move(done));
  const auto start = [loop = loop_, dialing](Result<std::vector<Address>> addresses) {
    loop->Post([dialing, addresses = std::move(addresses)]() mutable {
      dialing->Start(std::move(addresses));
    });
  };
  if (const auto address = ParseAddress(options.host, options.port); address.ok()) {
    start(std::vector<Address>{*address});
  } else if (!shared_->ResolveLater(options.host, options.port, start)) {
    start(Status(Reason::kServiceUnavailable, "the dialer has ended"));
  }
  return [loop = loop_, dialing] { loop->Post([dialing] { dialing->GiveUp(); }); };
}

Result<std::unique_ptr<Connection>> LoopDialer::Dial(const Context& ctx,
                                                     const DialOptions& options) {
  struct Outcome {
    Guarded<std::optional<Result<std::unique_ptr<Connection>>>> value{std::nullopt};
  };
  const auto outcome = std::make_shared<Outcome>();
  Executor::Cancel give_up = DialLater(options, [outcome](auto result) {
    outcome->value.Lock()->emplace(std::move(result));
    outcome->value.NotifyAll();
  });
  const Context::Registration wake = ctx.OnDone([outcome] {
    (void)outcome->value.Lock();  // A caller that found done() false is in its wait from here on.
    outcome->value.NotifyAll();
  });
  auto value = outcome->value.Lock();
  const auto done = [&] { return value->has_value() || ctx.done(); };
  if (const auto deadline = ctx.deadline()) {
    (void)value.WaitUntil(*deadline, done);
  } else {
    value.Wait(done);
  }
  if (value->has_value()) return std::move(**value);
  give_up();
  return Status(Reason::kTimeout, "gave up connecting");
}

}  // namespace

std::shared_ptr<Dialer> Dialer::On(const std::shared_ptr<Loop>& /*loop*/) { return nullptr; }

std::unique_ptr<Dialer> NewDialer() {
  auto loop = Loop::Create(NullLogSink());
  loop->Start("http-dialer");
  return std::make_unique<LoopDialer>(std::make_shared<DialResources>(), std::move(loop),
                                      LoopDialer::Owns{.resources = true, .loop = true});
}

std::unique_ptr<Dialer> NewDialerOn(const std::shared_ptr<Loop>& loop) {
  auto dialer = std::make_unique<LoopDialer>(std::make_shared<DialResources>(), loop,
                                             LoopDialer::Owns{.resources = true});
  dialer->EndWithLoop();
  return dialer;
}

}  // namespace apiserver::v0::http
