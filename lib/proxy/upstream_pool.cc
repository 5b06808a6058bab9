#include "apiserver/proxy/upstream_pool.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"
#include "base/status_macros.h"
#include "proxy/forward_url.h"

// On() and DialForUpgrade() run on any thread, as do the first lines of Lend() and the end of a
// lease. Everything else runs on the pool's loop and needs no lock.
namespace apiserver::v0::proxy {
namespace {

using ConnectionPtr = std::shared_ptr<http::Connection>;

std::string KeyOf(const Endpoint& at) {
  return (at.tls ? "https " : "http ") + at.host + " " + std::to_string(at.port) + " " +
         at.server_name;
}

class Pool final : public UpstreamPool, public std::enable_shared_from_this<Pool> {
 public:
  explicit Pool(UpstreamPoolOptions options)
      : options_(std::move(options)), loop_(options_.dialer->loop()) {}
  // Works on the loop of `dialer`, which the options name.
  Pool(UpstreamPoolOptions options, std::shared_ptr<http::Dialer> dialer)
      : dialer_(std::move(dialer)), options_(std::move(options)), loop_(options_.dialer->loop()) {}

  Executor::Cancel Lend(const Endpoint& endpoint, bool fresh, Lent done) override {
    const auto wait = std::make_shared<Wait>();
    wait->endpoint = endpoint;
    wait->done = std::move(done);
    if (loop().Inside()) {
      Serve(wait, fresh);
    } else {
      loop().Post([self = shared_from_this(), wait, fresh] {
        if (wait->done) self->Serve(wait, fresh);
      });
    }
    return
        [self = shared_from_this(), wait] { self->loop().Post([wait] { wait->done = nullptr; }); };
  }
  Executor::Cancel DialForUpgrade(const Endpoint& endpoint, http::Dialer::Dialed done) override {
    http::DialOptions options = OptionsFor(endpoint);
    options.http2 = false;
    return options_.dialer->DialLater(options, std::move(done));
  }
  Executor& loop() override { return loop_; }
  std::shared_ptr<UpstreamPool> On(const std::shared_ptr<http::Loop>& loop) override;

  // Takes a lent connection back.
  void Return(const std::string& key, const ConnectionPtr& connection, bool usable);

 private:
  // A request that waits for a connection. Without `done`: it was served, or has given up.
  struct Wait {
    Endpoint endpoint;
    Lent done;
  };
  // A connection of HTTP/2, with the number of its requests.
  struct Shared {
    ConnectionPtr connection;
    std::size_t requests = 0;
    Clock::Monotonic idle_since = {};
  };
  // A connection of HTTP/1.1 that serves no request.
  struct Idle {
    ConnectionPtr connection;
    Clock::Monotonic since = {};
  };
  // The pool of another loop.
  struct LoopPool {
    std::shared_ptr<http::Loop> loop;
    std::shared_ptr<Pool> pool;
  };
  // The connections to one endpoint.
  struct Host {
    std::vector<Shared> shared;
    std::deque<Idle> idle;  // The newest last.
    std::size_t dialing = 0;
    bool one_by_one = false;  // It has spoken HTTP/1.1.
    std::deque<std::shared_ptr<Wait>> waiting;
  };

  void Serve(const std::shared_ptr<Wait>& wait, bool fresh);
  bool ServeKept(const std::shared_ptr<Wait>& wait, const std::string& key, Host& host);
  void Dial(const std::string& key, const std::shared_ptr<Wait>& wait);
  void OnDialed(const std::string& key, const std::shared_ptr<Wait>& wait,
                Result<std::unique_ptr<http::Connection>> dialed);
  void Hand(const std::shared_ptr<Wait>& wait, const std::string& key, ConnectionPtr connection,
            bool reused);
  void SweepLater();
  void Sweep();
  static bool Unused(const Host& host);
  http::DialOptions OptionsFor(const Endpoint& endpoint) const;

  const std::shared_ptr<http::Dialer> dialer_;  // Null: it is the host's.
  const UpstreamPoolOptions options_;
  Executor& loop_;
  Guarded<std::vector<LoopPool>> others_;  // Those that On() has made.
  std::unordered_map<std::string, Host> hosts_;
  bool sweeps_ = false;  // A timer for Sweep() runs.
};

class PoolLease final : public Lease {
 public:
  PoolLease(std::shared_ptr<Pool> pool, std::string key, ConnectionPtr connection, bool reused)
      : pool_(std::move(pool)),
        key_(std::move(key)),
        connection_(std::move(connection)),
        reused_(reused) {}
  ~PoolLease() override {
    Executor& loop = pool_->loop();
    // A connection of HTTP/1.1 tells only after this turn's call whether it closes.
    if (loop.Inside() && connection_->multiplexed()) {
      pool_->Return(key_, connection_, usable_);
    } else {
      loop.Post([pool = std::move(pool_), key = std::move(key_),
                 connection = std::move(connection_),
                 usable = usable_] { pool->Return(key, connection, usable); });
    }
  }
  http::Connection& connection() override { return *connection_; }
  bool reused() const override { return reused_; }
  void GiveBack() override { usable_ = true; }

 private:
  std::shared_ptr<Pool> pool_;
  std::string key_;
  ConnectionPtr connection_;
  const bool reused_;
  bool usable_ = false;
};

std::shared_ptr<UpstreamPool> Pool::On(const std::shared_ptr<http::Loop>& loop) {
  {
    const auto others = others_.Lock();
    for (const LoopPool& each : *others) {
      if (each.loop == loop) return each.pool;
    }
  }
  auto dialer = options_.dialer->On(loop);
  if (!dialer) return shared_from_this();
  UpstreamPoolOptions options = options_;
  options.dialer = dialer.get();
  const auto made = std::make_shared<Pool>(std::move(options), std::move(dialer));
  std::vector<LoopPool> ended;  // Destroyed without the lock.
  auto others = others_.Lock();
  for (const LoopPool& each : *others) {
    if (each.loop == loop) return each.pool;  // Another thread was faster.
  }
  const auto gone = std::partition(others->begin(), others->end(), [](const LoopPool& each) {
    return !each.pool->dialer_->ended();
  });
  ended.assign(std::make_move_iterator(gone), std::make_move_iterator(others->end()));
  others->erase(gone, others->end());
  others->push_back({loop, made});
  return made;
}

void Pool::Serve(const std::shared_ptr<Wait>& wait, bool fresh) {
  const std::string key = KeyOf(wait->endpoint);
  Host& host = hosts_[key];
  if (!fresh && ServeKept(wait, key, host)) return;
  // A connection that is being made may serve all that wait, if it turns out to be HTTP/2.
  const bool may_share = options_.http2 && wait->endpoint.tls && !host.one_by_one;
  if (may_share && host.dialing > 0 && !fresh) return host.waiting.push_back(wait);
  Dial(key, wait);
}

bool Pool::ServeKept(const std::shared_ptr<Wait>& wait, const std::string& key, Host& host) {
  std::erase_if(host.shared,
                [](const Shared& each) { return each.connection->closed() && each.requests == 0; });
  for (Shared& each : host.shared) {
    const bool full = each.requests >= options_.requests_per_connection_max;
    if (full || each.connection->closed()) continue;
    ++each.requests;
    Hand(wait, key, each.connection, /*reused=*/true);
    return true;
  }
  while (!host.idle.empty()) {
    ConnectionPtr last = std::move(host.idle.back().connection);
    host.idle.pop_back();
    if (last->closed()) continue;
    Hand(wait, key, std::move(last), /*reused=*/true);
    return true;
  }
  return false;
}

void Pool::Dial(const std::string& key, const std::shared_ptr<Wait>& wait) {
  ++hosts_[key].dialing;
  // Dialling goes on if this request gives up: others wait, or will come.
  (void)options_.dialer->DialLater(OptionsFor(wait->endpoint),
                                   [self = shared_from_this(), key, wait](auto dialed) {
                                     self->OnDialed(key, wait, std::move(dialed));
                                   });
}

void Pool::OnDialed(const std::string& key, const std::shared_ptr<Wait>& wait,
                    Result<std::unique_ptr<http::Connection>> dialed) {
  Host& host = hosts_[key];
  --host.dialing;
  auto waiting = std::exchange(host.waiting, {});
  if (!dialed.ok()) {
    if (Unused(host)) hosts_.erase(key);
    waiting.push_front(wait);
    for (const auto& each : waiting) {
      if (auto done = std::exchange(each->done, nullptr)) done(dialed.status());
    }
    return;
  }
  const ConnectionPtr connection = *std::move(dialed);
  host.one_by_one = !connection->multiplexed();
  if (connection->multiplexed()) host.shared.push_back({.connection = connection, .requests = 1});
  Hand(wait, key, connection, /*reused=*/false);
  for (const auto& each : waiting) {
    if (each->done) Serve(each, /*fresh=*/false);
  }
}

// A request that has given up meanwhile leaves the connection to the next one.
void Pool::Hand(const std::shared_ptr<Wait>& wait, const std::string& key, ConnectionPtr connection,
                bool reused) {
  auto lease = std::make_unique<PoolLease>(shared_from_this(), key, std::move(connection), reused);
  if (auto done = std::exchange(wait->done, nullptr)) return done(std::move(lease));
  lease->GiveBack();
}

void Pool::Return(const std::string& key, const ConnectionPtr& connection, bool usable) {
  Host& host = hosts_[key];
  const Clock::Monotonic now = RealClock().Now();
  if (connection->multiplexed()) {
    const auto found =
        std::find_if(host.shared.begin(), host.shared.end(),
                     [&](const Shared& each) { return each.connection == connection; });
    if (found != host.shared.end() && --found->requests == 0) found->idle_since = now;
  } else if (usable && !connection->closed()) {
    host.idle.push_back({connection, now});
    if (host.idle.size() > options_.idle_per_endpoint_max) host.idle.pop_front();
  }
  if (!std::exchange(sweeps_, true)) SweepLater();
}

// One timer for all connections, so that a request costs none.
void Pool::SweepLater() {
  (void)loop().PostAfter(options_.idle_timeout / 2, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Sweep();
  });
}

void Pool::Sweep() {
  const Clock::Monotonic old = RealClock().Now() - options_.idle_timeout;
  for (auto entry = hosts_.begin(); entry != hosts_.end();) {
    Host& host = entry->second;
    std::erase_if(host.shared, [old](const Shared& each) {
      return each.requests == 0 && (each.idle_since <= old || each.connection->closed());
    });
    std::erase_if(host.idle, [old](const Idle& each) {
      return each.since <= old || each.connection->closed();
    });
    entry = Unused(host) ? hosts_.erase(entry) : std::next(entry);
  }
  sweeps_ = !hosts_.empty();
  if (sweeps_) SweepLater();
}

bool Pool::Unused(const Host& host) {
  return host.shared.empty() && host.idle.empty() && host.dialing == 0 && host.waiting.empty();
}

http::DialOptions Pool::OptionsFor(const Endpoint& endpoint) const {
  http::DialOptions options;
  options.host = endpoint.host;
  options.port = endpoint.port;
  options.connect_timeout = options_.connect_timeout;
  options.ping_interval = options_.ping_interval;
  options.ping_timeout = options_.ping_timeout;
  options.write_stall_timeout = options_.write_stall_timeout;
  options.memory = options_.memory;
  options.http2 = endpoint.tls && options_.http2;  // Negotiated in the handshake.
  if (!endpoint.tls) return options;
  options.tls = options_.tls;
  if (!endpoint.server_name.empty()) options.tls->server_name = endpoint.server_name;
  return options;
}

}  // namespace

Result<Endpoint> EndpointOf(const Location& location) {
  const text::GoUrl url = LocationUrl(location);
  if (url.scheme != "http" && url.scheme != "https") {
    return Status(Reason::kInvalid, "unsupported protocol scheme \"" + url.scheme + "\"");
  }
  Endpoint at{.tls = url.scheme == "https", .host = url.Hostname()};
  if (at.host.empty()) return Status(Reason::kInvalid, "http: no Host in request URL");
  const std::string port = url.Port();
  at.port = at.tls ? 443 : 80;
  if (port.empty()) return at;
  const auto read = std::from_chars(port.data(), port.data() + port.size(), at.port);
  const bool whole = read.ec == std::errc() && read.ptr == port.data() + port.size();
  if (!whole || at.port < 1 || at.port > 65535) {
    return Status(Reason::kInvalid, "invalid port \"" + port + "\"");
  }
  return at;
}

Result<std::shared_ptr<UpstreamPool>> NewUpstreamPool(UpstreamPoolOptions options) {
  RETURN_IF_ERROR(http::CheckClientTls(options.tls));
  return std::shared_ptr<UpstreamPool>(std::make_shared<Pool>(std::move(options)));
}

}  // namespace apiserver::v0::proxy
