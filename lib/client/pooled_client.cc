#include "apiserver/client/pooled_client.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/detached.h"
#include "apiserver/http/dialer.h"
#include "base/status_macros.h"
#include "client/call_target.h"

// Everything except Start() runs on the dialer's loop, so that pool and calls need no lock.
namespace apiserver::v0::client {
namespace {

constexpr std::size_t kIdleMax = 32;
// These are client-go's: net/http's time for idle connections, and the health check of HTTP/2.
constexpr auto kIdleTime = std::chrono::seconds(90);
constexpr auto kConnectTimeout = std::chrono::seconds(30);
constexpr auto kPingInterval = std::chrono::seconds(30);
constexpr auto kPingTimeout = std::chrono::seconds(15);

// A dialer whose last owner may be any thread, its own too.
std::shared_ptr<http::Dialer> NewSharedDialer() {
  return {http::NewDialer().release(), [](http::Dialer* dialer) {
            std::unique_ptr<http::Dialer> last(dialer);
            if (!dialer->loop().Inside()) return;
            RunDetached("http-reaper", [last = std::move(last)] {});
          }};
}

// Returns `Post "https://…"`, the name of a call in Go's errors.
std::string CallName(const std::string& method, const std::string& url) {
  std::string name = method;
  std::transform(name.begin() + 1, name.end(), name.begin() + 1, [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name + " \"" + url + "\"";
}

std::string_view CauseOf(const Status& status) {
  const StatusDetails* details = status.details();
  if (details == nullptr || details->causes.empty()) return {};
  return details->causes.front().reason;
}

class PooledCall;

// The connections of one client, by address and expected name.
class Pool final : public std::enable_shared_from_this<Pool> {
 public:
  Pool(std::shared_ptr<http::Dialer> dialer, HttpClientOptions options)
      : dialer_(std::move(dialer)), options_(std::move(options)) {}

  Executor& loop() const { return dialer_->loop(); }
  std::size_t response_bytes_max() const { return options_.response_bytes_max; }
  // Calls OnConnection or OnNoConnection of `call`, now or later.
  void Connect(const std::shared_ptr<PooledCall>& call, bool fresh);
  void GiveBack(const std::string& key, std::shared_ptr<http::Connection> connection);

 private:
  struct Idle {
    std::shared_ptr<http::Connection> connection;
    std::uint64_t number = 0;
  };
  struct Host {
    std::shared_ptr<http::Connection> shared;  // HTTP/2.
    // Changes with every use of `shared`, so that DropIdle() knows whether it was idle.
    std::uint64_t uses = 0;
    std::deque<Idle> idle;  // HTTP/1.1, the newest last.
    bool dialing = false;
    bool one_by_one = false;  // The host has spoken HTTP/1.1.
    std::vector<std::shared_ptr<PooledCall>> waiting;
  };

  void Dial(const std::shared_ptr<PooledCall>& call);
  void OnDialed(const std::shared_ptr<PooledCall>& call, const std::string& key,
                Result<std::unique_ptr<http::Connection>> dialed);
  void DropIdleLater(const std::string& key, std::uint64_t number);
  void DropIdle(const std::string& key, std::uint64_t number);
  void ForgetIfUnused(const std::string& key);
  void DropOldest();
  http::DialOptions OptionsFor(const CallTarget& target) const;

  const std::shared_ptr<http::Dialer> dialer_;  // Outlives the connections.
  const HttpClientOptions options_;
  std::unordered_map<std::string, Host> hosts_;
  std::size_t idle_ = 0;
  std::uint64_t next_number_ = 0;
};

// One call from its start to `done`. Ends by the first of: the response, an error, too many bytes,
// the timeout, the Context's end.
class PooledCall final : public std::enable_shared_from_this<PooledCall> {
 public:
  struct Setup {
    std::shared_ptr<Pool> pool;
    CallTarget target;
    HttpRequest request;
    Context ctx;
    HttpClient::Done done;
  };
  explicit PooledCall(Setup setup)
      : setup_(std::move(setup)), key_(setup_.target.base + " " + setup_.target.host) {}

  void Start();
  const CallTarget& target() const { return setup_.target; }
  const std::string& key() const { return key_; }
  bool over() const { return !setup_.done; }
  void OnConnection(std::shared_ptr<http::Connection> connection, bool kept);
  void OnNoConnection(const Status& why);

 private:
  // The response to one attempt.
  class Answer;

  void OnHead(const http::ResponseHead& head);
  void OnData(std::string_view bytes);
  void OnAnswerEnd(const Status& status);
  bool MayTryAgain(const Status& status) const;
  void FailLost(const Status& status);
  void TimeOut();
  void Fail(Reason reason, const std::string& why);
  void Finish(Result<http::ClientResponse> result);

  Setup setup_;  // Without `done`: over.
  const std::string key_;
  std::shared_ptr<http::Connection> connection_;
  Executor::Cancel cancel_answer_;
  Executor::Cancel timer_;
  Context::Registration registration_;
  std::uint64_t attempt_ = 0;
  bool kept_ = false;
  bool head_came_ = false;
  http::ClientResponse response_;
};

class PooledCall::Answer final : public http::StreamObserver {
 public:
  Answer(std::shared_ptr<PooledCall> call, std::uint64_t attempt)
      : call_(std::move(call)), attempt_(attempt) {}
  void OnHead(const http::ResponseHead& head) override {
    if (current()) call_->OnHead(head);
  }
  void OnData(std::string_view bytes) override {
    if (current()) call_->OnData(bytes);
  }
  void OnEnd(const Status& status) override {
    if (current()) call_->OnAnswerEnd(status);
  }

 private:
  bool current() const { return !call_->over() && call_->attempt_ == attempt_; }

  const std::shared_ptr<PooledCall> call_;
  const std::uint64_t attempt_;
};

// ------------------------------------------------------------------------------ the pool

void Pool::Connect(const std::shared_ptr<PooledCall>& call, bool fresh) {
  Host& host = hosts_[call->key()];
  if (host.shared && host.shared->closed()) host.shared.reset();
  if (host.shared && !fresh) {
    ++host.uses;
    return call->OnConnection(host.shared, /*kept=*/true);
  }
  while (!host.idle.empty() && !fresh) {
    const std::shared_ptr<http::Connection> last = std::move(host.idle.back().connection);
    host.idle.pop_back();
    --idle_;
    if (!last->closed()) return call->OnConnection(last, /*kept=*/true);
  }
  // The connection that is being made may serve all of them.
  if (host.dialing && !host.one_by_one) return host.waiting.push_back(call);
  Dial(call);
}

void Pool::Dial(const std::shared_ptr<PooledCall>& call) {
  hosts_[call->key()].dialing = true;
  // Dialling goes on without this call, for others that wait or will come.
  (void)dialer_->DialLater(OptionsFor(call->target()),
                           [self = shared_from_this(), call, key = call->key()](auto dialed) {
                             self->OnDialed(call, key, std::move(dialed));
                           });
}

void Pool::OnDialed(const std::shared_ptr<PooledCall>& call, const std::string& key,
                    Result<std::unique_ptr<http::Connection>> dialed) {
  Host& host = hosts_[key];
  host.dialing = false;
  auto waiting = std::exchange(host.waiting, {});
  if (!dialed.ok()) {
    ForgetIfUnused(key);
    call->OnNoConnection(dialed.status());
    for (const auto& each : waiting) each->OnNoConnection(dialed.status());
    return;
  }
  const std::shared_ptr<http::Connection> connection = *std::move(dialed);
  host.one_by_one = !connection->multiplexed();
  if (connection->multiplexed()) {
    host.shared = connection;
    host.uses = 1;
  }
  if (!call->over()) {
    call->OnConnection(connection, /*kept=*/false);
  } else {
    GiveBack(key, connection);
  }
  for (const auto& each : waiting) {
    if (!each->over()) Connect(each, /*fresh=*/false);
  }
}

http::DialOptions Pool::OptionsFor(const CallTarget& target) const {
  http::DialOptions options;
  options.host = target.to_host;
  std::from_chars(target.to_port.data(), target.to_port.data() + target.to_port.size(),
                  options.port);
  options.http2 = target.tls;  // Negotiated in the handshake.
  options.connect_timeout = kConnectTimeout;
  options.ping_interval = kPingInterval;
  options.ping_timeout = kPingTimeout;
  if (!target.tls) return options;
  options.tls = options_.tls;
  options.tls->system_roots |= options.tls->ca_pem.empty();
  if (options.tls->server_name.empty()) options.tls->server_name = target.host;
  return options;
}

void Pool::GiveBack(const std::string& key, std::shared_ptr<http::Connection> connection) {
  Host& host = hosts_[key];
  const std::uint64_t number = ++next_number_;
  if (connection->multiplexed()) {
    if (host.shared != connection) return;
    host.uses = number;
    return DropIdleLater(key, number);
  }
  if (connection->closed()) return;
  host.idle.push_back({std::move(connection), number});
  if (++idle_ > kIdleMax) DropOldest();
  DropIdleLater(key, number);
}

void Pool::DropOldest() {
  Host* with_oldest = nullptr;
  for (auto& [key, host] : hosts_) {
    if (host.idle.empty()) continue;
    if (with_oldest == nullptr || host.idle.front().number < with_oldest->idle.front().number) {
      with_oldest = &host;
    }
  }
  with_oldest->idle.pop_front();
  --idle_;
}

// Later drops connections that were not used since they got `number`.
void Pool::DropIdleLater(const std::string& key, std::uint64_t number) {
  (void)loop().PostAfter(kIdleTime, [weak = weak_from_this(), key, number] {
    if (const auto self = weak.lock()) self->DropIdle(key, number);
  });
}

void Pool::DropIdle(const std::string& key, std::uint64_t number) {
  const auto found = hosts_.find(key);
  if (found == hosts_.end()) return;
  Host& host = found->second;
  if (host.shared && host.uses == number) host.shared.reset();
  idle_ -= std::erase_if(host.idle, [&](const Idle& idle) { return idle.number == number; });
  ForgetIfUnused(key);
}

// Names may come from untrusted input, such as the claims of a token.
void Pool::ForgetIfUnused(const std::string& key) {
  const Host& host = hosts_[key];
  const bool used = host.shared || host.dialing || !host.idle.empty() || !host.waiting.empty();
  if (!used) hosts_.erase(key);
}

// ------------------------------------------------------------------------------ one call

void PooledCall::Start() {
  std::chrono::nanoseconds left = setup_.request.timeout;
  if (const auto deadline = setup_.ctx.deadline()) {
    left = std::min(left, *deadline - RealClock().Now());
  }
  Executor& loop = setup_.pool->loop();
  timer_ = loop.PostAfter(std::max(left, std::chrono::nanoseconds(0)),
                          [self = shared_from_this()] { self->TimeOut(); });
  registration_ = setup_.ctx.OnDone([weak = weak_from_this(), pool = setup_.pool] {
    pool->loop().Post([weak] {
      if (const auto self = weak.lock()) self->Fail(Reason::kTimeout, "context canceled");
    });
  });
  if (!over()) setup_.pool->Connect(shared_from_this(), /*fresh=*/false);
}

void PooledCall::OnNoConnection(const Status& why) {
  if (over()) return;
  FailLost(why);
}

void PooledCall::OnConnection(std::shared_ptr<http::Connection> connection, bool kept) {
  connection_ = std::move(connection);
  kept_ = kept;
  head_came_ = false;
  response_ = {};
  http::ClientRequest request{.method = setup_.request.method,
                              .target = setup_.target.resource,
                              .headers = setup_.request.headers,
                              .body = setup_.request.body};
  request.headers.Add("Host", setup_.target.host_line);
  auto cancel = connection_->Observe(std::move(request),
                                     std::make_shared<Answer>(shared_from_this(), ++attempt_));
  if (!cancel.ok()) return FailLost(cancel.status());
  cancel_answer_ = *std::move(cancel);
}

void PooledCall::OnHead(const http::ResponseHead& head) {
  head_came_ = true;
  // An unrequested 101 would hand the connection to another protocol.
  if (head.code < 200 || head.code > 999) {
    return Fail(Reason::kServiceUnavailable, "the server answered " + std::to_string(head.code));
  }
  response_.code = head.code;
  response_.headers = head.headers;
  const std::string_view text = head.headers.Get("Content-Length");
  std::uint64_t length = 0;
  std::from_chars(text.data(), text.data() + text.size(), length);
  const std::size_t most = setup_.pool->response_bytes_max();
  if (length > most && setup_.request.method != "HEAD") {
    Fail(Reason::kRequestEntityTooLarge,
         "the answer has " + std::string(text) + " bytes, more than " + std::to_string(most));
  }
}

void PooledCall::OnData(std::string_view bytes) {
  const std::size_t most = setup_.pool->response_bytes_max();
  if (bytes.size() > most - response_.body.size()) {
    return Fail(Reason::kRequestEntityTooLarge,
                "the answer is longer than " + std::to_string(most) + " bytes");
  }
  response_.body.append(bytes);
}

void PooledCall::OnAnswerEnd(const Status& status) {
  cancel_answer_ = nullptr;
  if (status.ok()) {
    setup_.pool->GiveBack(key_, std::exchange(connection_, nullptr));
    return Finish(std::move(response_));
  }
  if (!MayTryAgain(status)) return FailLost(status);
  // Only after a kept connection, so that there is one retry.
  connection_.reset();
  setup_.pool->Connect(shared_from_this(), /*fresh=*/true);
}

bool PooledCall::MayTryAgain(const Status& status) const {
  return kept_ && !head_came_ && CauseOf(status) == http::kUnansweredCause;
}

void PooledCall::FailLost(const Status& status) {
  const std::string message = std::string(status.message());
  const std::string_view cause = CauseOf(status);
  if (cause == http::kConnectionResetCause) {
    return Finish(
        ConnectionReset(CallName(setup_.request.method, setup_.request.url) + ": " + message));
  }
  if (cause == http::kAnswerTooLargeCause) return Fail(Reason::kRequestEntityTooLarge, message);
  Fail(status.reason() == Reason::kTimeout ? Reason::kTimeout : Reason::kServiceUnavailable,
       message);
}

void PooledCall::TimeOut() {
  if (connection_) return Fail(Reason::kTimeout, "context deadline exceeded");
  Fail(
      Reason::kTimeout,
      "dial tcp " + setup_.target.base.substr(setup_.target.base.find("//") + 2) + ": i/o timeout");
}

void PooledCall::Fail(Reason reason, const std::string& why) {
  Finish(Status(reason, CallName(setup_.request.method, setup_.request.url) + ": " + why));
}

void PooledCall::Finish(Result<http::ClientResponse> result) {
  const auto keep = shared_from_this();
  HttpClient::Done done = std::exchange(setup_.done, nullptr);
  if (!done) return;
  if (timer_) std::exchange(timer_, nullptr)();
  registration_.Reset();
  // The rest of the response belongs to no later call: cancelling closes an HTTP/1.1 connection.
  if (auto cancel = std::exchange(cancel_answer_, nullptr)) cancel();
  if (connection_ && connection_->multiplexed()) setup_.pool->GiveBack(key_, connection_);
  connection_.reset();
  try {
    done(std::move(result));
  } catch (...) {  // NOLINT(bugprone-empty-catch): the connection of other calls must not see it
  }
}

// ------------------------------------------------------------------------------ the client

class PooledClient final : public HttpClient {
 public:
  PooledClient(std::shared_ptr<http::Dialer> dialer, const HttpClientOptions& options)
      : address_(options.address), pool_(std::make_shared<Pool>(std::move(dialer), options)) {}

  void Start(const Context& ctx, HttpRequest request, Done done) override {
    if (Status bad = CheckCallHead(request); !bad.ok()) return done(std::move(bad));
    auto target = ParseCallTarget(request.url, address_);
    if (!target.ok()) return done(target.status());
    if (Status ended = ctx.Err(); !ended.ok()) {
      return done(Status(Reason::kTimeout, std::string(ended.message())));
    }
    auto call = std::make_shared<PooledCall>(
        PooledCall::Setup{pool_, *std::move(target), std::move(request), ctx, std::move(done)});
    pool_->loop().Post([call = std::move(call)] { call->Start(); });
  }

 private:
  const std::string address_;
  const std::shared_ptr<Pool> pool_;
};

Result<std::shared_ptr<HttpClient>> NewPooledClient(const std::shared_ptr<http::Dialer>& dialer,
                                                    const HttpClientOptions& options) {
  RETURN_IF_ERROR(http::CheckClientTls(options.tls));
  return std::shared_ptr<HttpClient>(std::make_shared<PooledClient>(dialer, options));
}

}  // namespace

HttpClientFactory NewHttpClientFactory() {
  return [dialer = NewSharedDialer()](const HttpClientOptions& options) {
    return NewPooledClient(dialer, options);
  };
}

Result<std::shared_ptr<HttpClient>> NewHttpClient(const HttpClientOptions& options) {
  return NewHttpClientFactory()(options);
}

}  // namespace apiserver::v0::client
