// Dialling without a thread that waits, and servers that fall silent.
#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "apiserver/http/certificates.h"
#include "frame_server.h"
#include "http/loop.h"
#include "support.h"

namespace http_test {
namespace {

std::string Where(int port) { return "127.0.0.1:" + std::to_string(port); }

// What a client is told whose first request an HTTP/2 server answers with `frames`.
Status ToldAfter(const std::string& frames, bool closes = false) {
  FrameServer server(frames, closes);
  const auto dialer = NewDialer();
  auto connection = dialer->Dial(Soon(), {.port = server.port()});
  REQUIRE(connection.ok());
  return (*connection)->Call(Soon(), {.method = "POST", .target = "/"}).status();
}

std::string CausesOf(const Status& status) {
  std::string causes;
  if (status.details() == nullptr) return causes;
  for (const auto& cause : status.details()->causes) {
    causes += (causes.empty() ? "" : " ") + cause.reason;
  }
  return causes;
}

// The outcome of one dial.
struct Dialled {
  std::string Await() {
    auto locked = outcome.Lock();
    locked.WaitUntil(RealClock().Now() + kPatience, [&] { return locked->has_value(); });
    return locked->value_or("nothing");
  }
  Dialer::Dialed Done() {
    return [this](Result<std::unique_ptr<Connection>> result) {
      if (result.ok()) connection = *std::move(result);
      outcome.Lock()->emplace(connection ? "connected" : std::string(result.status().message()));
      outcome.NotifyAll();
    };
  }
  Guarded<std::optional<std::string>> outcome{std::nullopt};
  std::unique_ptr<Connection> connection;
};

TEST_CASE("http: a dial that nobody waits for tells how it ended", "[http]") {
  TestService service([](Exchange& exchange) { return Answer(exchange, "hello"); });
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kTlsHttp2));
  Dialled dialled;  // Outlives the thread that tells it.
  const auto dialer = NewDialer();

  SECTION("by address") {
    (void)dialer->DialLater(server.dial_options(), dialled.Done());
    REQUIRE(dialled.Await() == "connected");
    CHECK(dialled.connection->Call(Soon(), {.target = "/"})->body == "hello");
  }
  SECTION("by name, over whichever of its addresses answers") {
    auto options = server.dial_options();
    options.host = "localhost";
    if (options.tls) options.tls->server_name = "127.0.0.1";
    (void)dialer->DialLater(options, dialled.Done());
    REQUIRE(dialled.Await() == "connected");
    CHECK(dialled.connection->Call(Soon(), {.target = "/"})->body == "hello");
  }
  SECTION("to nobody") {
    int port = 0;
    { port = Deaf().port; }
    (void)dialer->DialLater({.port = port}, dialled.Done());
    CHECK(dialled.Await() == "dial tcp " + Where(port) + ": connect: connection refused");
  }
  SECTION("with material that cannot be used") {
    (void)dialer->DialLater({.port = 1, .tls = ClientTls{.ca_pem = "x"}}, dialled.Done());
    CHECK(dialled.Await().starts_with("tls: "));
  }
  dialled.connection.reset();
}

TEST_CASE("http: a connection tells which certificates its server has shown", "[http]") {
  TestService service([](Exchange& exchange) { return Answer(exchange, "hello"); });
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kTlsHttp2));
  const auto dialer = NewDialer();
  const auto connection = dialer->Dial(Soon(), server.dial_options());
  REQUIRE(connection.ok());

  const auto shown = (*connection)->ServerCertificates();

  REQUIRE((shown != nullptr) == server.dial_options().tls.has_value());
  if (shown == nullptr) return;
  const auto facts = DescribeCertificates(*shown);
  REQUIRE(facts.ok());
  CHECK_FALSE(facts->front().authority);
  CHECK(facts->front().not_after > RealClock().WallNow());
  CHECK(DescribeCertificates(PeerCertificates{}).status().reason() == Reason::kInvalid);
  CHECK(DescribeCertificates(PeerCertificates{{"x"}}).status().reason() == Reason::kInvalid);
}

TEST_CASE("http: a dial ends when it is given up, or its time is", "[http]") {
  Deaf deaf;
  Dialled dialled;  // Outlives the thread that tells it.
  const auto dialer = NewDialer();
  DialOptions options{.port = deaf.port, .tls = ClientTls{}};

  SECTION("given up") {
    auto give_up = dialer->DialLater(options, dialled.Done());
    give_up();
    CHECK(dialled.Await() == "gave up connecting");
    give_up();
  }
  SECTION("too late") {
    options.connect_timeout = std::chrono::milliseconds(50);
    (void)dialer->DialLater(options, dialled.Done());
    CHECK(dialled.Await() == "tls: the handshake did not come");
  }
}

TEST_CASE("http: connections end with their dialer, and a dial after that tells so", "[http]") {
  Deaf deaf;
  const DialOptions options{.port = deaf.port, .http2 = GENERATE(false, true)};
  Dialled again;
  Journal ends;
  auto dialer = NewDialer();
  const auto connection = dialer->Dial(Soon(), options).value();
  const auto stream = connection->OpenStream({.target = "/"}).value();
  stream->Start(NewSink({.end = [&, last = dialer.get()](const Status& status) {
    ends.Add(std::string(ReasonWord(status.reason())));
    (void)last->DialLater(options, again.Done());
  }}));

  dialer.reset();

  CHECK(connection->closed());
  CHECK(ends.Text() == "ServiceUnavailable");
  CHECK(again.Await() == "the dialer has ended");
}

// A loop as a server has them, and the thread that it runs on.
struct ForeignLoop {
  ForeignLoop() {
    loop->Start("foreign");
    Notification known;
    loop->Post([&] {
      thread = std::this_thread::get_id();
      known.Notify();
    });
    known.Wait();
  }
  ~ForeignLoop() { loop->Stop(); }
  std::shared_ptr<Loop> loop = Loop::Create(NullLogSink());
  std::thread::id thread;
};

TEST_CASE("http: a dialer serves connections on the loop of an exchange", "[http]") {
  TestService service([](Exchange& exchange) {
    exchange.writer().Send({}, "hello");
    return Step::Done();
  });
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kHttp2));
  const auto dialer = NewDialer();
  ForeignLoop there;
  const auto on = dialer->On(there.loop);
  REQUIRE(on);
  CHECK(&on->loop() == there.loop.get());
  DialOptions options = server.dial_options();
  options.host = GENERATE("127.0.0.1", "localhost");
  const auto connection = on->Dial(Soon(), options).value();
  Journal told;
  const auto stream = connection->OpenStream({.target = "/"}).value();
  stream->Start(NewSink({.data =
                             [&](std::string_view bytes) {
                               const bool here = std::this_thread::get_id() == there.thread;
                               told.Add(std::string(bytes) + (here ? "" : " on another thread"));
                             },
                         .end = [&](const Status& status) { told.Add(status.ToString()); }}));
  CHECK(told.AwaitCount(2));
  CHECK(told.Text() == "hello " + Status::Ok().ToString());
  CHECK_FALSE(on->ended());
}

TEST_CASE("http: connections on the loop of an exchange end with it, and with either dialer",
          "[http]") {
  Deaf deaf;
  const DialOptions options{.port = deaf.port, .http2 = GENERATE(false, true)};
  auto dialer = NewDialer();
  auto there = std::make_unique<ForeignLoop>();
  auto on = dialer->On(there->loop);
  const auto connection = on->Dial(Soon(), options).value();
  Journal ends;
  const auto stream = connection->OpenStream({.target = "/"}).value();
  stream->Start(NewSink(
      {.end = [&](const Status& status) { ends.Add(std::string(ReasonWord(status.reason()))); }}));
  SECTION("the loop") {
    there.reset();
    CHECK(on->ended());
  }
  SECTION("the dialer that it was asked of") {
    dialer.reset();
    CHECK(ends.AwaitCount(1));
    CHECK(on->ended());
    Dialled again;
    (void)on->DialLater(options, again.Done());
    CHECK(again.Await() == "the dialer has ended");
    DialOptions named = options;
    named.host = "localhost";
    Dialled by_name;
    (void)on->DialLater(named, by_name.Done());
    CHECK(by_name.Await() == "the dialer has ended");
  }
  SECTION("the dialer on the loop") { on.reset(); }
  CHECK(ends.AwaitCount(1));
  CHECK(connection->closed());
  CHECK(ends.Text() == "ServiceUnavailable");
}

// The loop ends while nobody reads: what waits for the reader must not wait for ever.
TEST_CASE("http: a paused stream is told that the loop of an exchange has stopped", "[http]") {
  Deaf deaf;
  const auto dialer = NewDialer();
  auto there = std::make_unique<ForeignLoop>();
  const auto on = dialer->On(there->loop);
  const auto connection =
      on->Dial(Soon(), {.port = deaf.port, .http2 = GENERATE(false, true)}).value();
  Journal ends;
  const auto stream = connection->OpenStream({.target = "/"}).value();
  stream->Pause();
  stream->Start(NewSink(
      {.end = [&](const Status& status) { ends.Add(std::string(ReasonWord(status.reason()))); }}));
  there.reset();
  CHECK(ends.Text() == "ServiceUnavailable");
}

TEST_CASE("http: a dial on a loop that has stopped is told so", "[http]") {
  Deaf deaf;
  const auto dialer = NewDialer();
  auto there = std::make_unique<ForeignLoop>();
  const auto loop = there->loop;
  const auto before = dialer->On(loop);
  there.reset();
  const auto after = dialer->On(loop);
  const DialOptions options{.host = GENERATE("127.0.0.1", "localhost"), .port = deaf.port};
  for (const auto& on : {before, after}) {
    CHECK(on->ended());
    Dialled dialled;
    (void)on->DialLater(options, dialled.Done());
    CHECK(dialled.Await() == "the dialer has ended");
  }
}

TEST_CASE("http: an HTTP/2 server that falls silent is asked, and given up when it stays so",
          "[http]") {
  Deaf deaf;
  std::string came;
  Thread server("silent", [&] {
    const int fd = accept4(deaf.fd, nullptr, nullptr, SOCK_CLOEXEC);
    // SETTINGS, and nothing more.
    const std::string settings("\0\0\0\x04\0\0\0\0\0", 9);
    (void)send(fd, settings.data(), settings.size(), MSG_NOSIGNAL);
    std::string buffer(4096, '\0');
    for (ssize_t count = 0; (count = recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
      came.append(buffer, 0, static_cast<std::size_t>(count));
    }
    close(fd);
  });
  const auto dialer = NewDialer();
  auto connection = dialer->Dial(Soon(), {.port = deaf.port,
                                          .ping_interval = std::chrono::milliseconds(20),
                                          .ping_timeout = std::chrono::milliseconds(20)});
  REQUIRE(connection.ok());

  const auto answer = (*connection)->Call(Soon(), {.target = "/"});
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.status().reason() == Reason::kTimeout);
  CHECK(answer.status().message() == "idle for too long");
  CHECK((*connection)->closed());
  connection->reset();
  server.Join();
  // A PING frame: eight bytes, type 6.
  CHECK(came.find(std::string("\0\0\x08\x06\0\0\0\0\0", 9)) != std::string::npos);
}

TEST_CASE("http: an HTTP/2 server that answers PINGs is not given up", "[http]") {
  Deaf deaf;
  Thread server("patient", [&] {
    const int fd = accept4(deaf.fd, nullptr, nullptr, SOCK_CLOEXEC);
    const auto say = [fd](std::string_view text) {
      (void)send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    };
    const std::string ping("\0\0\x08\x06\0\0\0\0\0", 9);
    say({"\0\0\0\x04\0\0\0\0\0", 9});
    std::string came;
    std::string buffer(4096, '\0');
    for (int pings = 0;;) {
      const ssize_t count = recv(fd, buffer.data(), buffer.size(), 0);
      if (count <= 0) break;
      came.append(buffer, 0, static_cast<std::size_t>(count));
      const std::size_t at = came.find(ping);
      if (at == std::string::npos || came.size() < at + 17) continue;
      came.erase(0, at + 17);
      say({"\0\0\x08\x06\x01\0\0\0\0\0\0\0\0\0\0\0\0", 17});
      // The whole answer: ":status: 200".
      if (++pings == 3) say({"\0\0\x01\x01\x05\0\0\0\x01\x88", 10});
    }
    close(fd);
  });
  const auto dialer = NewDialer();
  auto connection = dialer->Dial(Soon(), {.port = deaf.port,
                                          .ping_interval = std::chrono::milliseconds(5),
                                          .ping_timeout = kPatience});
  REQUIRE(connection.ok());

  const auto answer = (*connection)->Call(Soon(), {.target = "/"});
  INFO(answer.status().ToString());
  REQUIRE(answer.ok());
  CHECK(answer->code == 200);
  connection->reset();
  server.Join();
}

// RFC 9113, 8.7; golang.org/x/net/http2's canRetryError.
TEST_CASE("http: a request whose HTTP/2 stream is refused may be sent again", "[http]") {
  const std::string refused("\0\0\x04\x03\0\0\0\0\x01\0\0\0\x07", 13);
  const std::string failed("\0\0\x04\x03\0\0\0\0\x01\0\0\0\x02", 13);
  // ":status: 200", and more is to come.
  const std::string head("\0\0\x01\x01\x04\0\0\0\x01\x88", 10);
  const std::string goaway("\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0", 17);

  const Status told = ToldAfter(refused);
  CHECK(told.reason() == Reason::kServiceUnavailable);
  CHECK(told.message() == "stream reset: REFUSED_STREAM");
  CHECK(CausesOf(told) == "Unanswered NotBegun");
  // The server has not looked at it: its last stream is 0.
  CHECK(CausesOf(ToldAfter(goaway)) == "Unanswered NotBegun");
  CHECK(ToldAfter(failed).message() == "stream reset: INTERNAL_ERROR");
  CHECK(CausesOf(ToldAfter(failed)).empty());
  CHECK(CausesOf(ToldAfter(head + refused)).empty());
  // It may have looked at it before it went.
  CHECK(CausesOf(ToldAfter("", /*closes=*/true)) == "Unanswered");
}

// ":status: 200", a body, and "code: 7" behind it.
const std::string kTrailed = std::string("\0\0\x01\x01\x04\0\0\0\x01\x88", 10) +
                             std::string("\0\0\x02\0\0\0\0\0\x01ok", 11) +
                             std::string(
                                 "\0\0\x08\x01\x05\0\0\0\x01\0\x04"
                                 "code"
                                 "\x01"
                                 "7",
                                 17);

std::string TextOf(const Headers& headers) {
  std::string text;
  for (const auto& field : headers) text += field.name + "=" + field.value;
  return text;
}

// Writes down what it is told.
class TrailersTold final : public StreamObserver, public StreamSink {
 public:
  void OnHead(const ResponseHead& head) override { journal.Add(std::to_string(head.code)); }
  void OnData(std::string_view bytes) override { journal.Add(std::string(bytes)); }
  void OnTrailers(const Headers& trailers) override { journal.Add(TextOf(trailers)); }
  void OnEnd(const Status& status) override {
    journal.Add(status.ok() ? "end" : std::string(status.message()));
  }
  Journal journal;
};

TEST_CASE("http: trailers come before the end of an HTTP/2 response", "[http]") {
  FrameServer server(kTrailed);
  const auto told = std::make_shared<TrailersTold>();
  const auto dialer = NewDialer();
  const auto connection = dialer->Dial(Soon(), {.port = server.port()}).value();
  std::unique_ptr<Stream> stream;

  SECTION("to an observer") {
    REQUIRE(connection->Observe({.target = "/"}, told).ok());
    REQUIRE(told->journal.Await("end"));
  }
  SECTION("to the sink of a stream") {
    stream = connection->OpenStream({.target = "/"}).value();
    stream->Start(told);
    REQUIRE(told->journal.Await("end"));
  }
  SECTION("behind what a paused stream has not told yet") {
    stream = connection->OpenStream({.target = "/"}).value();
    stream->Pause();
    stream->Start(told);
    REQUIRE(told->journal.Await("200"));
    stream->Resume();
    REQUIRE(told->journal.Await("end"));
  }
  CHECK(told->journal.Text() == "200 ok code=7 end");
}

// ":status: 200", and the end.
const std::string kEmpty("\0\0\x01\x01\x05\0\0\0\x01\x88", 10);

TEST_CASE("http: an HTTP/2 server may be asked only while a request is in progress", "[http]") {
  FrameServer server(Answers{{.frames = kEmpty, .after_ping = true}});
  const auto dialer = NewDialer();
  auto connection = dialer->Dial(Soon(), {.port = server.port(),
                                          .ping_interval = std::chrono::milliseconds(5),
                                          .ping_timeout = std::chrono::milliseconds(500),
                                          .ping_when_idle = false});
  REQUIRE(connection.ok());
  const auto asked = [&] { return server.seen().types.find('6') != std::string::npos; };

  // A server that had to answer within this time would be given up.
  Notification().WaitFor(std::chrono::milliseconds(600));
  CHECK_FALSE(asked());
  CHECK_FALSE((*connection)->closed());
  // The time that was idle does not count against the answer.
  CHECK((*connection)->Call(Soon(), {.target = "/"}).ok());
  const std::string types = server.seen().types;
  CHECK(types.find('1') < types.find('6'));
  // It is silent from now on.
  CHECK_FALSE((*connection)->Call(Soon(), {.target = "/"}).ok());
  CHECK((*connection)->closed());
}

}  // namespace
}  // namespace http_test
