#include "apiserver/http/dialer.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "apiserver/base/log.h"
#include "apiserver/base/sync.h"
#include "base/status_macros.h"
#include "http/carrier.h"
#include "http/client_protocol.h"
#include "http/client_stream.h"
#include "http/loop.h"
#include "http/net.h"
#include "http/tls_context.h"

namespace apiserver::http {
namespace {

// What a connection's handle and its loop share.
struct Link {
  std::shared_ptr<Loop> loop;
  std::atomic<bool> closed{false};
  std::size_t window_bytes = 0;
  // Of the loop: null when the connection has gone.
  std::shared_ptr<Carrier> carrier;
  ClientProtocol* protocol = nullptr;
  // How the handshake ended.
  Guarded<std::optional<Status>> opened{std::nullopt};

  void Start(std::shared_ptr<ClientCall> call) {
    if (call->cancelled) return call->End(Status(Reason::kTimeout, "cancelled"));
    if (protocol == nullptr) {
      return call->End(
          Status(Reason::kServiceUnavailable, "the connection takes no more requests"));
    }
    protocol->Start(std::move(call));
    Look();
  }
  void Look() {
    if (protocol != nullptr && protocol->closing()) closed.store(true);
  }
};

// Tells the link when the protocol under it stops taking requests.
class WatchedProtocol final : public Protocol {
 public:
  WatchedProtocol(std::unique_ptr<ClientProtocol> inner, std::shared_ptr<Link> link)
      : inner_(std::move(inner)), link_(std::move(link)) {}
  void Receive(std::string_view bytes) override {
    inner_->Receive(bytes);
    link_->Look();
  }
  void Produce(std::string& out, std::size_t limit) override { inner_->Produce(out, limit); }
  State state() const override { return inner_->state(); }
  bool wants_read() const override { return inner_->wants_read(); }
  std::optional<Clock::Monotonic> deadline() const override { return inner_->deadline(); }
  void Drain() override { inner_->Drain(); }
  void OnClosed(const Status& why) override { inner_->OnClosed(why); }

 private:
  std::unique_ptr<ClientProtocol> inner_;
  std::shared_ptr<Link> link_;
};

class LinkControl final : public ClientControl {
 public:
  LinkControl(std::shared_ptr<Link> link, std::shared_ptr<ClientCall> call)
      : link_(std::move(link)), call_(std::move(call)) {}

  void Cancel() override {
    link_->loop->Post([link = link_, call = call_] {
      call->cancelled = true;
      if (link->protocol != nullptr) link->protocol->Cancel(call);
    });
  }
  void Consume(std::size_t bytes) override {
    link_->loop->Post([link = link_, call = call_, bytes] {
      if (link->protocol != nullptr) link->protocol->Consume(call, bytes);
    });
  }
  void Write(std::string bytes) override {
    link_->loop->Post([link = link_, call = call_, bytes = std::move(bytes)]() mutable {
      if (link->protocol != nullptr) link->protocol->Write(call, std::move(bytes));
    });
  }

 private:
  std::shared_ptr<Link> link_;
  std::shared_ptr<ClientCall> call_;
};

class LoopConnection final : public Connection {
 public:
  explicit LoopConnection(std::shared_ptr<Link> link) : link_(std::move(link)) {}
  ~LoopConnection() override {
    link_->loop->Post([link = link_] {
      if (const auto carrier = link->carrier) carrier->Close(Status::Ok());
    });
  }

  Result<ClientResponse> Call(const Context& ctx, const ClientRequest& request) override {
    return CallOver(*this, ctx, request);
  }
  Result<std::unique_ptr<ClientStream>> Open(const ClientRequest& request) override {
    const auto buffer = NewStreamBuffer(link_->window_bytes);
    const auto call = Begin(request, SinkOf(buffer));
    return NewBufferedStream(buffer, std::make_unique<LinkControl>(link_, call));
  }
  Result<Executor::Cancel> Observe(ClientRequest request,
                                   std::shared_ptr<StreamObserver> observer) override {
    const auto call = Begin(std::move(request), NewObserverSink(std::move(observer)));
    return Executor::Cancel(
        [control = std::make_shared<LinkControl>(link_, call)] { control->Cancel(); });
  }
  bool closed() const override { return link_->closed.load(); }

 private:
  std::shared_ptr<ClientCall> Begin(ClientRequest request, std::shared_ptr<ClientSink> sink) {
    auto call = std::make_shared<ClientCall>();
    call->request = std::move(request);
    call->sink = std::move(sink);
    link_->loop->Post([link = link_, call] { link->Start(call); });
    return call;
  }

  std::shared_ptr<Link> link_;
};

class LoopDialer final : public Dialer {
 public:
  LoopDialer() : loop_(Loop::Create(NullLogSink())) { loop_->Start("http-dialer"); }
  ~LoopDialer() override { loop_->Stop(); }
  Result<std::unique_ptr<Connection>> Dial(const Context& ctx, const DialOptions& options) override;

 private:
  std::shared_ptr<Loop> loop_;
};

std::unique_ptr<Protocol> Speak(Carrier& carrier, const std::shared_ptr<Link>& link,
                                ClientSetup setup, bool http2) {
  const bool chosen = carrier.socket().tls() ? carrier.socket().Alpn() == "h2" : http2;
  auto protocol = chosen ? NewHttp2Client(carrier, std::move(setup))
                         : NewHttp1Client(carrier, std::move(setup));
  link->protocol = protocol.get();
  *link->opened.Lock() = Status::Ok();
  link->opened.NotifyAll();
  return std::make_unique<WatchedProtocol>(std::move(protocol), link);
}

void Lost(const std::shared_ptr<Link>& link, const Status& why) {
  link->closed.store(true);
  link->protocol = nullptr;
  link->carrier.reset();
  {
    auto opened = link->opened.Lock();
    if (!*opened) *opened = why.ok() ? Status(Reason::kServiceUnavailable, "closed") : why;
  }
  link->opened.NotifyAll();
}

Carrier::Setup CarrierFor(const std::shared_ptr<Link>& link, const DialOptions& options, int fd,
                          SslContext tls) {
  Carrier::Setup setup;
  setup.loop = link->loop;
  setup.fd = fd;
  setup.server = false;
  setup.handshake_timeout = options.connect_timeout;
  setup.write_stall_timeout = std::chrono::hours(1);
  ClientSetup client;
  // A path to a socket is no host.
  client.authority =
      options.host.starts_with("unix:") ? "localhost" : JoinHostPort(options.host, options.port);
  client.window_bytes = options.window_bytes;
  if (tls) {
    client.scheme = "https";
    const std::string& name = options.tls->server_name;
    setup.server_name = name.empty() ? options.host : name;
    setup.tls = std::move(tls);
  }
  setup.make_protocol = [link, client, http2 = options.http2](Carrier& carrier) {
    return Speak(carrier, link, client, http2);
  };
  setup.on_closed = [link](Carrier& /*carrier*/, const Status& why) { Lost(link, why); };
  return setup;
}

// Waits for the handshake.
Status AwaitOpen(const Context& ctx, const std::shared_ptr<Link>& link) {
  const Context::Registration wake = ctx.OnDone([link] {
    (void)link->opened.Lock();  // Whoever is about to wait is waiting now.
    link->opened.NotifyAll();
  });
  auto opened = link->opened.Lock();
  const auto done = [&] { return opened->has_value() || ctx.done(); };
  if (const auto deadline = ctx.deadline()) {
    (void)opened.WaitUntil(*deadline, done);
  } else {
    opened.Wait(done);
  }
  return opened->has_value() ? **opened : Status(Reason::kTimeout, "gave up connecting");
}

Result<std::unique_ptr<Connection>> LoopDialer::Dial(const Context& ctx,
                                                     const DialOptions& options) {
  SslContext tls;
  if (options.tls) {
    ASSIGN_OR_RETURN(tls, NewClientContext(*options.tls, options.http2));
  }
  auto timeout = options.connect_timeout;
  if (const auto deadline = ctx.deadline()) {
    const auto left = *deadline - RealClock().Now();
    timeout = std::min(timeout, std::chrono::duration_cast<std::chrono::milliseconds>(left));
  }
  ASSIGN_OR_RETURN(const Address address, Resolve(options.host, options.port));
  ASSIGN_OR_RETURN(const int fd, Connect(address, timeout));
  auto link = std::make_shared<Link>();
  link->loop = loop_;
  link->window_bytes = options.window_bytes;
  auto connection = std::make_unique<LoopConnection>(link);
  // Shared, because a posted task is not run when the loop has stopped.
  auto setup = std::make_shared<Carrier::Setup>(CarrierFor(link, options, fd, std::move(tls)));
  loop_->Post([link, setup] {
    link->carrier = std::make_shared<Carrier>(std::move(*setup));
    const auto carrier = link->carrier;
    carrier->Start();
  });
  RETURN_IF_ERROR(AwaitOpen(ctx, link));
  return connection;
}

}  // namespace

std::unique_ptr<Dialer> NewDialer() { return std::make_unique<LoopDialer>(); }

}  // namespace apiserver::http
