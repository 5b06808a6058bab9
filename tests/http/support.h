#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/fair_share.h"
#include "apiserver/base/log.h"
#include "apiserver/base/sync.h"
#include "apiserver/http/dialer.h"
#include "apiserver/http/exchange.h"
#include "apiserver/http/in_process.h"
#include "apiserver/http/listener.h"
#include "apiserver/http/tls.h"

// What the tests of http share: servers on free ports, clients, raw sockets and filters that
// remember.
namespace http_test {

using namespace apiserver;        // NOLINT: tests only.
using namespace apiserver::http;  // NOLINT: tests only.

inline constexpr auto kPatience = std::chrono::seconds(60);
inline constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// A context that ends by itself, so that a failing test does not hang.
inline Context Soon() {
  return Context::Child(Context::Background(), RealClock().Now() + kPatience);
}

// Returns how many bytes of the heap the whole process uses, clients and servers alike.
std::size_t HeapBytes();

// Waits until so much of `share` is used; false: it never was.
inline bool Comes(const FairShare& share, std::size_t used) {
  const auto until = RealClock().Now() + kPatience;
  while (share.used() != used && RealClock().Now() < until) {
    Notification().WaitFor(std::chrono::milliseconds(1));
  }
  return share.used() == used;
}

// A text that several threads add to, and wait for.
class Journal {
 public:
  void Add(const std::string& line) {
    lines_.Lock()->push_back(line);
    lines_.NotifyAll();
  }
  bool Await(const std::string& line) {
    auto lines = lines_.Lock();
    return lines.WaitUntil(RealClock().Now() + kPatience, [&] {
      for (const auto& each : *lines) {
        if (each == line) return true;
      }
      return false;
    });
  }
  bool AwaitCount(std::size_t count) {
    auto lines = lines_.Lock();
    return lines.WaitUntil(RealClock().Now() + kPatience, [&] { return lines->size() >= count; });
  }
  std::vector<std::string> lines() { return *lines_.Lock(); }
  std::string Text() {
    std::string text;
    for (const auto& line : lines()) text += (text.empty() ? "" : " ") + line;
    return text;
  }

 private:
  Guarded<std::vector<std::string>> lines_;
};

// A filter made of functions.
class LambdaFilter final : public Filter {
 public:
  std::function<Step(Exchange&)> begin;
  std::function<void(Exchange&, ResponseHead&)> head;
  std::function<void(Exchange&, const Outcome&)> end;

  std::string_view name() const override { return "lambda"; }
  Step Begin(Exchange& exchange) const override { return begin ? begin(exchange) : Step::Next(); }
  void Head(Exchange& exchange, ResponseHead& out) const override {
    if (head) head(exchange, out);
  }
  void End(Exchange& exchange, const Outcome& outcome) const override {
    if (end) end(exchange, outcome);
  }
};

// A sink made of functions.
class LambdaSink final : public StreamSink {
 public:
  struct Calls {
    std::function<void(std::string_view)> data = {};
    std::function<void(const Status&)> end = {};
    std::function<void()> room = {};
    std::function<void(const ResponseHead&)> head = {};
  };
  explicit LambdaSink(Calls calls) : calls_(std::move(calls)) {}
  void OnData(std::string_view bytes) override {
    if (calls_.data) calls_.data(bytes);
  }
  void OnEnd(const Status& status) override {
    if (calls_.end) calls_.end(status);
  }
  void OnRoom() override {
    if (calls_.room) calls_.room();
  }
  void OnHead(const ResponseHead& head) override {
    if (calls_.head) calls_.head(head);
  }

 private:
  Calls calls_;
};

inline std::shared_ptr<StreamSink> NewSink(LambdaSink::Calls calls) {
  return std::make_shared<LambdaSink>(std::move(calls));
}

// Logs into a journal.
class JournalSink final : public LogSink {
 public:
  explicit JournalSink(Journal& journal) : journal_(journal) {}
  bool Enabled(LogLevel level) const override { return level >= LogLevel::kWarning; }
  void Write(LogLevel /*level*/, std::string_view message,
             std::span<const LogField> fields) override {
    std::string line(message);
    for (const auto& field : fields) line += " " + std::string(field.key) + "=" + field.value;
    journal_.Add(line);
  }

 private:
  Journal& journal_;
};

// A service with a pool of its own. Outcomes go to `ends` as "200 ok" or "504 cut".
struct TestService {
  explicit TestService(Handler handler, std::size_t threads = 2)
      : pool(NewThreadPool({.name = "test", .threads = threads})) {
    auto recorder = std::make_unique<LambdaFilter>();
    recorder->end = [this](Exchange&, const Outcome& outcome) {
      ends.Add(std::to_string(outcome.code) + (outcome.completed ? " ok" : " cut"));
    };
    service.filters.push_back(std::move(recorder));
    service.handler = std::move(handler);
    service.pool = pool.get();
    service.log = &sink;
  }

  LambdaFilter& AddFilter() {
    auto filter = std::make_unique<LambdaFilter>();
    LambdaFilter& added = *filter;
    service.filters.push_back(std::move(filter));
    return added;
  }

  Journal ends;
  Journal log;
  JournalSink sink{log};
  std::unique_ptr<ThreadPool> pool;
  Service service;
};

enum class Wire { kHttp1, kHttp2, kTlsHttp1, kTlsHttp2 };

// A CA, and pairs for a server on the loopback and a client, made once.
struct TestPki {
  KeyPair ca;
  KeyPair server;
  KeyPair client;
};
const TestPki& Pki();

// A listener and a dialer for it.
class TestServer {
 public:
  TestServer(const Service& service, Wire wire, ListenerOptions options = {});
  ~TestServer();

  std::unique_ptr<Connection> Connect(std::size_t window_bytes = 1 << 20);
  DialOptions dial_options() const;
  Listener& listener() { return *listener_; }
  Dialer& dialer() { return *dialer_; }
  void StopListening() { listener_.reset(); }

 private:
  Wire wire_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<Listener> listener_;
};

// A blocking socket to 127.0.0.1 that sends exactly what it is told.
class RawClient {
 public:
  explicit RawClient(int port);
  // Takes over a connected socket.
  struct Connected {
    int fd;
  };
  explicit RawClient(Connected connected);
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient();
  void Send(std::string_view bytes);
  // Until the peer closes, or patience ends.
  std::string ReadAll();
  // Until `text` has come; what came so far.
  std::string ReadUntil(std::string_view text);
  void Reset();
  // Says that no more is sent.
  void CloseWrite();
  // Sends as much as the peer takes, and gives up after a moment in which it takes nothing. Returns
  // how much that was.
  std::size_t SendSome(std::string_view bytes);

 private:
  void BePatient();
  std::string Receive();
  int fd_;
  std::string read_;
};

// A listening socket on the loopback, for servers that send exactly what a test tells them.
class RawServer {
 public:
  RawServer();
  ~RawServer();
  int port() const { return port_; }
  // Waits for the next connection.
  RawClient Accept();

 private:
  int fd_;
  int port_ = 0;
};

Step Answer(Exchange& exchange, std::string body);

}  // namespace http_test
