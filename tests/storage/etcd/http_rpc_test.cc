#include "storage/etcd/http_rpc.h"

#include "../../http/support.h"
#include "storage/etcd/fixture.h"
#include "storage/etcd/grpc_frames.h"

// The transport against servers that are not an etcd, or no longer one.
namespace apiserver::inline v0::storage::etcd {
namespace {

using http_test::Answers;
using http_test::FrameAnswer;
using http_test::FrameServer;
using std::chrono::milliseconds;

Clock::Monotonic In(milliseconds time) { return RealClock().Now() + time; }

// The outcome of one call.
struct Told {
  Rpc::Done Done() {
    return [this](const RpcOutcome& outcome, const std::string& response) {
      lines_.Lock()->push_back(std::to_string(static_cast<int>(outcome.code)) +
                               (outcome.sent ? " sent: " : " unsent: ") + outcome.message +
                               response);
      lines_.NotifyAll();
    };
  }
  std::string Await() {
    auto told = lines_.Lock();
    const auto until = RealClock().Now() + http_test::kPatience;
    REQUIRE(told.WaitUntil(until, [&] { return !told->empty(); }));
    return told->front();
  }
  std::size_t times() { return lines_.Lock()->size(); }

 private:
  Guarded<std::vector<std::string>> lines_;
};

// Makes a call and waits for its outcome.
std::string Call(Rpc& rpc, const RpcOptions& options = {}) {
  Told told;
  (void)rpc.Unary(kAnyMethod, "request", options, told.Done());
  return told.Await();
}

// Returns the outcome of a call that a server answers with `frames`.
std::string ToldAfter(const std::string& frames, bool closes = false) {
  FrameServer server(frames, closes);
  const auto rpc = RpcTo({server.port()});
  std::string text = Call(*rpc);
  rpc->Stop();
  CHECK(server.seen().requests == 1);
  return text;
}

TEST_CASE("storage.etcd: a request that may have been begun is sent once", "[storage.etcd]") {
  CHECK(ToldAfter(kFailed) == "14 sent: stream reset: INTERNAL_ERROR");
  CHECK(ToldAfter(kHead + kRefused) == "14 sent: stream reset: REFUSED_STREAM");
  // It may have been carried out before the connection broke.
  CHECK(ToldAfter("", /*closes=*/true).starts_with("14 sent: "));
  CHECK(ToldAfter(kHead, /*closes=*/true).starts_with("14 sent: "));
}

TEST_CASE("storage.etcd: a request that was refused is sent once more", "[storage.etcd]") {
  const FrameAnswer good{.frames = kAnswer};
  SECTION("on the same connection") {
    FrameServer server(Answers{{.frames = kRefused}, good});
    const auto rpc = RpcTo({server.port()});
    CHECK(Call(*rpc) == "0 sent: answer");
    rpc->Stop();
    CHECK(server.seen().requests == 2);
  }
  SECTION("on another connection, as the server goes away") {
    FrameServer server(Answers{{.frames = kGoAway}, good});
    const auto rpc = RpcTo({server.port()});
    CHECK(Call(*rpc) == "0 sent: answer");
    rpc->Stop();
    CHECK(server.seen().connections == 2);
  }
  SECTION("and fails, certainly not begun, when it is refused again") {
    FrameServer server(Answers{{.frames = kRefused}, {.frames = kRefused}, good});
    const auto rpc = RpcTo({server.port()});
    CHECK(Call(*rpc) == "14 unsent: stream reset: REFUSED_STREAM");
    rpc->Stop();
    CHECK(server.seen().requests == 2);
  }
  SECTION("unless the first sending is then not the last that may have happened") {
    FrameServer server(Answers{{.frames = kRefused}, {.closes = true}});
    const auto rpc = RpcTo({server.port()});
    CHECK(Call(*rpc).starts_with("14 sent: "));
    rpc->Stop();
  }
}

TEST_CASE("storage.etcd: an answer must be one message with a status", "[storage.etcd]") {
  CHECK(ToldAfter(kAnswer) == "0 sent: answer");
  const std::string message = FrameOf("answer");
  CHECK(ToldAfter(kHead + Data(message.substr(0, 3)) + Data(message.substr(3, 4)) +
                  Data(message.substr(7)) + Trailers("0")) == "0 sent: answer");
  CHECK(ToldAfter(kHead + Trailers("0")) == "13 sent: the answer has no message");
  CHECK(ToldAfter(kHead + Data(message.substr(0, 8)) + Trailers("0")) ==
        "13 sent: the answer has no message");
  CHECK(ToldAfter(kHead + Frame(0, 1, message)) == "2 sent: the answer has no status");
  CHECK(ToldAfter(kHead + Data(message) + Trailers("5")) == "5 sent: ");
  const std::string two = "13 sent: the answer has more than one message";
  CHECK(ToldAfter(kHead + Data(message + message)) == two);
  CHECK(ToldAfter(kHead + Data(message) + Data("x")) == two);
  // The request may have been carried out.
  CHECK(ToldAfter(kHead + Data("\x01zzzz")) == "15 sent: the message is compressed");
  CHECK(ToldAfter(kHead + Data(std::string("\0\xff\xff\xff\xff", 5))) ==
        "15 sent: the message is too long");
}

// None of these heads ends its stream: what follows it is not waited for.
TEST_CASE("storage.etcd: a failure that a head tells ends the call", "[storage.etcd]") {
  const auto head = [](const std::string& fields) { return Frame(1, 4, fields); };
  CHECK(ToldAfter(head("\x88" + Field("grpc-status", "7") + Field("grpc-message", "no%21"))) ==
        "7 sent: no!");
  CHECK(ToldAfter(head("\x88" + Field("grpc-status", "0"))) ==
        "13 sent: the answer has no message");
  CHECK(ToldAfter(head("\x8d")) == "12 sent: the server answers 404, not in gRPC");
  CHECK(ToldAfter(kPlainHead + Data("<html>")) == "2 sent: the server answers 200, not in gRPC");
}

TEST_CASE("storage.etcd: a request says what gRPC's servers ask for", "[storage.etcd]") {
  http_test::Journal asked;
  http_test::TestService service([&](http::Exchange& exchange) {
    const auto& headers = exchange.request().headers;
    asked.Add(exchange.request().method + " " + std::string(exchange.request().target) + " " +
              std::string(headers.Get("content-type")) + " te=" + std::string(headers.Get("te")) +
              " hasleader=" + std::string(headers.Get("hasleader")) +
              " timeout=" + std::string(headers.Get("grpc-timeout")));
    return http_test::Answer(exchange, "");
  });
  http_test::TestServer server(service.service, http_test::Wire::kHttp2);
  const auto rpc = RpcTo({server.dial_options().port});

  CHECK(Call(*rpc) == "2 sent: the server answers 200, not in gRPC");
  CHECK(asked.lines().back() ==
        "POST /etcdserverpb.KV/Range application/grpc te=trailers hasleader= timeout=");
  (void)Call(*rpc, {.deadline = In(std::chrono::hours(9000)), .member = std::nullopt});
  CHECK(asked.lines().back().ends_with(" timeout=99999999m"));
  rpc->Stop();
}

TEST_CASE("storage.etcd: a call without a member ends when it has waited long enough",
          "[storage.etcd]") {
  const http_test::Deaf closed(/*listens=*/false);
  const auto rpc = RpcTo({closed.port});
  RpcOptions options{.connect_wait_max = milliseconds(100), .member = std::nullopt};
  SECTION("for any") {}
  SECTION("for one") { options.member = 0; }
  CHECK(Call(*rpc, options) == "14 unsent: dial tcp 127.0.0.1:" + std::to_string(closed.port) +
                                   ": connect: connection refused");
  rpc->Stop();
}

TEST_CASE("storage.etcd: a call that is not answered ends with its deadline", "[storage.etcd]") {
  FrameServer silent("");
  const auto rpc = RpcTo({silent.port()});
  CHECK(Call(*rpc, {.deadline = In(milliseconds(300)), .member = std::nullopt}) ==
        "4 sent: the deadline has passed");
  rpc->Stop();
}

TEST_CASE("storage.etcd: a call is not sent after its deadline", "[storage.etcd]") {
  FrameServer server(kAnswer);
  const auto rpc = RpcTo({server.port()});
  RpcOptions late{.deadline = In(milliseconds(-1)), .member = std::nullopt};
  SECTION("to any") {}
  SECTION("to one") { late.member = 0; }
  const std::string told = Call(*rpc, late);
  INFO(told);
  CHECK(told.find(" unsent: ") != std::string::npos);
  CHECK(Call(*rpc) == "0 sent: answer");
  rpc->Stop();
  CHECK(server.seen().requests == 1);
}

TEST_CASE("storage.etcd: a call ends once, whoever ends it", "[storage.etcd]") {
  FrameServer silent("");
  const auto rpc = RpcTo({silent.port()});
  Told told;
  const auto call =
      rpc->Unary(kAnyMethod, "", {.deadline = In(milliseconds(200)), .member = {}}, told.Done());
  SECTION("its caller") {
    call->Cancel();
    call->Cancel();
    CHECK(told.Await().starts_with("1 "));
    // Its deadline passes.
    CHECK(Call(*rpc, {.deadline = In(milliseconds(300)), .member = {}}).starts_with("4 "));
    rpc->Stop();
  }
  SECTION("the transport") {
    rpc->Stop();
    CHECK(told.Await().starts_with("14 "));
    call->Cancel();
  }
  CHECK(told.times() == 1);
}

TEST_CASE("storage.etcd: a call that is cancelled during a dial ends once", "[storage.etcd]") {
  const http_test::Deaf hangs;
  HttpRpcOptions to = OptionsTo({hangs.port});
  to.endpoints[0].tls = true;
  const auto rpc = NewHttpRpc(to);
  Told told;
  RpcOptions options{.deadline = In(milliseconds(50)), .member = std::nullopt};
  SECTION("for any member") {}
  SECTION("for one member") { options.member = 0; }
  rpc->Unary(kAnyMethod, "", options, told.Done())->Cancel();
  CHECK(told.Await() == "1 unsent: cancelled");
  // The deadline of another one passes after its own.
  options.deadline = In(milliseconds(300));
  CHECK(Call(*rpc, options).starts_with("14 unsent: "));
  rpc->Stop();
  CHECK(told.times() == 1);
}

// Counts how often each of many calls ends.
TEST_CASE("storage.etcd: calls that a stop meets end once each", "[storage.etcd]") {
  FrameServer server(Answers(50, {.frames = kAnswer}));
  for (int round = 0; round < 20; ++round) {
    const http_test::Deaf closed(/*listens=*/false);
    const auto rpc = RpcTo({server.port(), closed.port});
    constexpr std::size_t kCalls = 100;
    std::vector<std::atomic<int>> ends(3 * kCalls);
    std::vector<Thread> threads;
    for (std::size_t thread = 0; thread < 3; ++thread) {
      threads.emplace_back("caller", [&, thread] {
        for (std::size_t i = 0; i < kCalls; ++i) {
          RpcOptions options{.member = std::nullopt};
          if (i % 3 == 1) options.member = i % 2;
          if (i % 5 == 1) options.deadline = In(milliseconds(i % 4));
          const auto call =
              rpc->Unary(kAnyMethod, "", options,
                         [&ends, at = thread * kCalls + i](auto, auto) { ++ends[at]; });
          if (i % 4 == 0) call->Cancel();
        }
      });
    }
    if (round % 2 == 0) Notification().WaitFor(milliseconds(round / 4));
    rpc->Stop();
    for (Thread& thread : threads) thread.Join();
    for (const auto& each : ends) CHECK(each.load() == 1);
  }
}

TEST_CASE("storage.etcd: a member that hangs in its handshake holds up no other",
          "[storage.etcd]") {
  const http_test::Deaf hangs;
  FrameServer later(Answers{{.frames = kAnswer}}, /*listens=*/false);
  HttpRpcOptions options = OptionsTo({hangs.port, later.port()});
  options.endpoints[0].tls = true;
  const auto rpc = NewHttpRpc(options);
  Told told;
  (void)rpc->Unary(kAnyMethod, "", {}, told.Done());
  Notification().WaitFor(milliseconds(150));
  CHECK(told.times() == 0);
  later.Listen();
  // The first dial would be given up after 5 seconds, and the call with it.
  CHECK(told.Await() == "0 sent: answer");
  rpc->Stop();
}

TEST_CASE("storage.etcd: a member whose call has timed out comes last", "[storage.etcd]") {
  FrameServer silent("");
  FrameServer good(Answers(20, {.frames = kAnswer}));
  const auto rpc = RpcTo({silent.port(), good.port()});
  const auto call = [&] { return Call(*rpc, {.deadline = In(milliseconds(300)), .member = {}}); };
  // Until both are connected.
  CHECK(Call(*rpc, {.member = 1}) == "0 sent: answer");
  CHECK(Call(*rpc, {.deadline = In(milliseconds(300)), .member = 0}).starts_with("4 sent"));
  for (int i = 0; i < 10; ++i) CHECK(call() == "0 sent: answer");
  rpc->Stop();
}

TEST_CASE("storage.etcd: a server that closes connections at once is not dialled without a pause",
          "[storage.etcd]") {
  FrameServer server(Answers(1000, {.frames = "", .closes = true}));
  const auto rpc = RpcTo({server.port()});
  const auto until = In(milliseconds(500));
  int calls = 0;
  for (; RealClock().Now() < until; ++calls) CHECK(Call(*rpc).starts_with("14 sent: "));
  rpc->Stop();
  // After 0, 100, 300 and 700 ms.
  CHECK(calls <= 4);
  CHECK(server.seen().connections == calls);
}

TEST_CASE("storage.etcd: a member that answers no PING is given up", "[storage.etcd]") {
  FrameServer silent("");
  HttpRpcOptions options = OptionsTo({silent.port()});
  options.keepalive_time = milliseconds(20);
  options.keepalive_timeout = milliseconds(50);
  const auto rpc = NewHttpRpc(options);
  CHECK(Call(*rpc).starts_with("14 sent: "));
  rpc->Stop();
  const std::string types = silent.seen().types;
  CHECK(types.find('1') < types.find('6'));
  CHECK(types.find('6') != std::string::npos);
}

// etcd counts them against the client, and closes its connection.
TEST_CASE("storage.etcd: a member that is not asked anything gets no PING", "[storage.etcd]") {
  FrameServer server(Answers{{.frames = kAnswer}, {.frames = kAnswer, .after_ping = true}});
  HttpRpcOptions options = OptionsTo({server.port()});
  options.keepalive_time = milliseconds(20);
  options.keepalive_timeout = milliseconds(500);
  const auto rpc = NewHttpRpc(options);
  CHECK(Call(*rpc) == "0 sent: answer");
  Notification().WaitFor(milliseconds(600));
  CHECK(server.seen().types.find('6') == std::string::npos);
  CHECK(Call(*rpc) == "0 sent: answer");
  rpc->Stop();
  CHECK(server.seen().connections == 1);
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
