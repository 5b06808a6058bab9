#include <catch2/catch.hpp>
#include <filesystem>

#include "support.h"

namespace http_test {
namespace {

const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
// GET / over http, authority "x", as HPACK; and POST.
const std::string kGet = "\x82\x86\x84\x41\x01x";
const std::string kPostBlock = "\x83\x86\x84\x41\x01x";

enum FrameType : char {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kReset = 3,
  kSettings = 4,
  kPing = 6,
  kGoaway = 7
};
constexpr char kWindowUpdate = 8;
constexpr char kContinuation = 9;
constexpr char kAck = 1;

std::string Number(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

std::string Frame(char type, char flags, std::uint32_t stream, const std::string& payload = "") {
  return Number(static_cast<std::uint32_t>(payload.size())).substr(1) + type + flags +
         Number(stream) + payload;
}

// The payload of the first frame of `type` in what a server said; nullopt: there is none.
std::optional<std::string> Find(const std::string& said, char type) {
  for (std::size_t at = 0; at + 9 <= said.size();) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(said[at + i]); };
    const std::size_t size = (byte(0) << 16U) + (byte(1) << 8U) + byte(2);
    if (said[at + 3] == type) return said.substr(at + 9, size);
    at += 9 + size;
  }
  return std::nullopt;
}

struct CountingServer {
  explicit CountingServer(ListenerOptions options = {})
      : service([this](Exchange& exchange) {
          ++begun;
          return Answer(exchange, "ok");
        }),
        server(service.service, Wire::kHttp2, std::move(options)) {}
  std::atomic<int> begun{0};
  TestService service;
  TestServer server;
};

// GOAWAY's error code.
std::uint32_t GoawayCode(const std::string& said) {
  const auto payload = Find(said, kGoaway);
  REQUIRE(payload.has_value());
  REQUIRE(payload->size() >= 8);
  return static_cast<unsigned char>((*payload)[7]);
}

// How often a frame of `type` on this stream is in what a server said.
int Count(const std::string& said, char type, char stream) {
  int found = 0;
  for (std::size_t at = 0; at + 9 <= said.size();) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(said[at + i]); };
    if (said[at + 3] == type && said[at + 8] == stream) ++found;
    at += 9 + (byte(0) << 16U) + (byte(1) << 8U) + byte(2);
  }
  return found;
}

TEST_CASE("http: streams opened and reset at full speed end the connection", "[http]") {
  CountingServer counting;
  RawClient client(counting.server.listener().port());
  std::string flood = kPreface + Frame(kSettings, 0, 0);
  for (std::uint32_t id = 1; id < 40'000; id += 2) {
    flood += Frame(kHeaders, 5, id, kGet) + Frame(kReset, 0, id, Number(8));
  }

  client.Send(flood);
  const std::string said = client.ReadAll();

  CHECK(Find(said, kGoaway).has_value());
  CHECK(counting.begun.load() < 2000);
  CHECK(counting.server.Connect()->Call(Soon(), {.target = "/"})->body == "ok");
}

TEST_CASE("http: resets that the client makes the server send end the connection", "[http]") {
  CountingServer counting;
  RawClient client(counting.server.listener().port());
  std::string flood = kPreface + Frame(kSettings, 0, 0);
  for (std::uint32_t id = 1; id < 40'000; id += 2) {
    flood += Frame(kHeaders, 4, id, kPostBlock) + Frame(kWindowUpdate, 0, id, Number(0));
  }

  client.Send(flood);
  const std::string said = client.ReadAll();

  CHECK(GoawayCode(said) != 0);
  CHECK(counting.begun.load() < 2000);
}

TEST_CASE("http: a body that fits the window is not asked for by a frame of its own", "[http]") {
  TestService service([](Exchange& e) { return Answer(e, *e.body()); });
  service.AddFilter().begin = [](Exchange& e) { return e.CollectBody(8 << 20); };
  TestServer server(service.service, Wire::kHttp2);
  RawClient client(server.listener().port());
  // content-length, once shorter and once longer than the window of a stream.
  const auto [length, updates] =
      GENERATE(std::pair<std::string, int>("4", 0), std::pair<std::string, int>("99999", 1));
  const std::string head = kPostBlock + "\x0f\x0d" + static_cast<char>(length.size()) + length;

  client.Send(kPreface + Frame(kSettings, 0, 0) + Frame(kHeaders, 4, 1, head));
  // Answered once the filter has asked for the body.
  client.Send(Frame(kPing, 0, 0, "12345678"));
  std::string said = client.ReadUntil("12345678");
  std::string body = Frame(kData, length == "4" ? 1 : 0, 1, "body");
  if (length != "4") body += Frame(kReset, 0, 1, Number(8));
  client.Send(body + Frame(kGoaway, 0, 0, Number(0) + Number(0)));
  said += client.ReadAll();

  INFO(length);
  CHECK(Count(said, kWindowUpdate, 1) == updates);
}

TEST_CASE("http: a flood of pings or settings ends the connection", "[http]") {
  CountingServer counting;
  RawClient client(counting.server.listener().port());
  const std::string frame = GENERATE(Frame(kPing, 0, 0, "12345678"), Frame(kSettings, 0, 0));
  std::string flood = kPreface + Frame(kSettings, 0, 0);
  for (int i = 0; i < 100'000; ++i) flood += frame;

  client.Send(flood);
  const std::string said = client.ReadAll();

  CHECK(said.size() < 1'000'000);
  CHECK(counting.server.Connect()->Call(Soon(), {.target = "/"}).ok());
}

// Rows 39 and 40: nothing of it has to be answered, or the client reads all answers.
TEST_CASE("http: a flood of what asks for no work ends the connection", "[http]") {
  CountingServer counting;
  RawClient client(counting.server.listener().port());
  const std::string frame = GENERATE(Frame(kPriority, 0, 1, Number(0) + '\x10'), Frame(kData, 0, 1),
                                     Frame(kSettings, kAck, 0), Frame(kPing, kAck, 0, "12345678"));
  std::string flood = kPreface + Frame(kSettings, 0, 0) + Frame(kHeaders, 4, 1, kPostBlock);
  for (int i = 0; i < 100'000; ++i) flood += frame;

  client.Send(flood);
  const std::string said = client.ReadAll();

  CHECK(GoawayCode(said) != 0);
  CHECK(counting.server.Connect()->Call(Soon(), {.target = "/"}).ok());
}

TEST_CASE("http: endless continuations end the connection", "[http]") {
  CountingServer counting;
  RawClient client(counting.server.listener().port());
  std::string flood = kPreface + Frame(kSettings, 0, 0) + Frame(kHeaders, 1, 1, kGet);
  for (int i = 0; i < 10'000; ++i) flood += Frame(kContinuation, 0, 1, "");

  client.Send(flood);
  const std::string said = client.ReadAll();

  CHECK(GoawayCode(said) != 0);
  CHECK(counting.begun.load() == 0);
}

TEST_CASE("http: a head with 257 fields or over the byte limit is 431", "[http]") {
  CountingServer counting({.header_bytes_max = 50'000});
  const auto connection = counting.server.Connect();
  ClientRequest many{.target = "/"};
  for (int i = 0; i < 257; ++i) many.headers.Add("a", "b");
  ClientRequest long_value{.target = "/"};
  for (int i = 0; i < 20; ++i) long_value.headers.Add("a", std::string(3'000, 'b'));

  CHECK(connection->Call(Soon(), many)->code == 431);
  CHECK(connection->Call(Soon(), long_value)->code == 431);
  CHECK(connection->Call(Soon(), {.target = "/"})->code == 200);
  CHECK(counting.begun.load() == 1);
}

TEST_CASE("http: HTTP/2 gets names in lower case, and values without line ends", "[http]") {
  TestService service([](Exchange& exchange) {
    exchange.writer().Send({.headers = {{"Audit-Id", "a"},
                                        {"AUDIT-ID", "b"},
                                        {"Content-Type", "text/plain\r\nx: y"},
                                        {"Cache-Control", "no-cache, private"},
                                        {"X-Kubernetes-PF-FlowSchema-UID", "c"},
                                        {"X-Kubernetes-PF-PriorityLevel-UID", "d"},
                                        {"X-Kubernetes-PF-PriorityLevel-Uid", "e"},
                                        {"X-Other", "f\ng"},
                                        {"Upgrade", "h2c"},
                                        {"Keep-Alive", "1"},
                                        {"", "no name"}}},
                           Bytes());
    return Step::Done();
  });
  TestServer server(service.service, Wire::kHttp2);
  const auto connection = server.Connect();
  const std::string uid = "x-kubernetes-pf-prioritylevel-uid";
  const std::string expected =
      "audit-id=a|audit-id=b|content-type=text/plain  x: y|cache-control=no-cache, private|"
      "x-kubernetes-pf-flowschema-uid=c|" +
      uid + "=d|" + uid + "=e|x-other=f g|";

  // The second answer's names are in the connection's table of headers.
  for (int i = 0; i < 2; ++i) {
    const auto answer = connection->Call(Soon(), {.target = "/"});
    std::string came;
    for (const auto& [name, value] : answer->headers) {
      if (name != "date" && name != "content-length") came += name + "=" + value + "|";
    }
    CHECK(came == expected);
  }
}

TEST_CASE("http: trailers and the heads of other streams find their own streams", "[http]") {
  TestService service([](Exchange& exchange) {
    return Answer(exchange, exchange.request().method + exchange.request().host + ".");
  });
  TestServer server(service.service, Wire::kHttp2);
  RawClient client(server.listener().port());
  const auto block = [](char name) { return std::string("\x82\x86\x84\x41\x01") + name; };
  const std::string trailers("\x00\x01\x61\x01\x62", 5);

  client.Send(kPreface + Frame(kSettings, 0, 0) + Frame(kHeaders, 0, 1, kPostBlock.substr(0, 3)) +
              Frame(kContinuation, 4, 1, kPostBlock.substr(3)) + Frame(kHeaders, 5, 3, block('y')) +
              Frame(kHeaders, 5, 1, trailers) + Frame(kHeaders, 5, 5, block('z')));
  const std::string said = client.ReadUntil("GETz.");

  CHECK(said.find("POSTx.") != std::string::npos);
  CHECK(said.find("GETy.") != std::string::npos);
}

TEST_CASE("http: what follows a complete answer is dropped and starts nothing", "[http]") {
  CountingServer counting;
  RawClient client(counting.server.listener().port());
  client.Send(kPreface + Frame(kSettings, 0, 0) + Frame(kHeaders, 4, 1, kPostBlock));
  std::string said = client.ReadUntil("ok");
  const std::string trailers("\x00\x01\x61\x01\x62", 5);

  client.Send(Frame(kData, 0, 1, std::string(1000, 'x')) + Frame(kHeaders, 5, 1, trailers) +
              Frame(kPing, 0, 0, "12345678"));
  said += client.ReadUntil("12345678");

  CHECK_FALSE(Find(said, kReset).has_value());
  CHECK_FALSE(Find(said, kGoaway).has_value());
  CHECK(counting.begun.load() == 1);
}

TEST_CASE("http: a request that never ends is reset a second after its answer", "[http]") {
  CountingServer counting;
  RawClient client(counting.server.listener().port());
  client.Send(kPreface + Frame(kSettings, 0, 0) + Frame(kHeaders, 4, 1, kPostBlock));
  const std::string reset = Frame(kReset, 0, 1, Number(0));

  CHECK(client.ReadUntil(reset).find(reset) != std::string::npos);
}

TEST_CASE("http: a drain does not wait for a client that answers no ping", "[http]") {
  CountingServer counting;
  RawClient client(counting.server.listener().port());
  client.Send(kPreface + Frame(kSettings, 0, 0) + Frame(kHeaders, 5, 1, kGet));
  client.ReadUntil("ok");

  counting.server.listener().Drain();
  const std::string said = client.ReadAll();

  CHECK(Find(said, kGoaway).has_value());
}

// As h2spec looks for the answer to its own PING.
TEST_CASE("http: a client's PING is answered before a drain sends one", "[http]") {
  TestService service([](Exchange& exchange) {
    exchange.writer().Send({.code = 401, .close_connection = true}, "who");
    return Step::Done();
  });
  TestServer server(service.service, Wire::kHttp2);
  RawClient client(server.listener().port());
  const std::string ping = Frame(kPing, 0, 0, std::string(8, '\0'));
  const std::string answer = Frame(kPing, kAck, 0, std::string(8, '\0'));
  client.Send(kPreface + Frame(kSettings, 0, 0) + Frame(kHeaders, 4, 1, kGet) + ping);
  std::string said = client.ReadUntil(answer);

  CHECK(Find(said, kGoaway).has_value());
  CHECK(said.find(answer) < said.find(ping));

  // The server's own comes later, and its answer ends the drain before its time.
  said = client.ReadUntil(ping);
  CHECK(said.find(ping) != std::string::npos);
  client.Send(answer);
  CHECK(Find(client.ReadAll(), kGoaway).has_value());
}

TEST_CASE("http: no more streams than the limit are worked on at once", "[http]") {
  Journal steps;
  Notification go_on;
  TestService service(
      [&](Exchange& exchange) {
        if (exchange.request().path == "/first") return Answer(exchange, "ok");
        return Step::OnPool([&] {
          steps.Add("in");
          go_on.Wait();
          return Answer(exchange, "ok");
        });
      },
      8);
  TestServer server(service.service, Wire::kHttp2, {.streams_max = 4});
  const auto connection = server.Connect();
  REQUIRE(connection->Call(Soon(), {.target = "/first"}).ok());
  std::vector<std::unique_ptr<ClientStream>> streams;
  for (int i = 0; i < 12; ++i) streams.push_back(connection->Open({.target = "/"}).value());
  REQUIRE(steps.Await("in"));
  // The fifth waits in the client, which knows the limit from SETTINGS.
  CHECK(steps.lines().size() <= 4);

  go_on.Notify();

  for (const auto& stream : streams) CHECK(stream->Read(Soon()).value() == "ok");
}

TEST_CASE("http: targets that are no path are 400", "[http]") {
  CountingServer counting;
  const auto connection = counting.server.Connect();

  CHECK(connection->Call(Soon(), {.target = "/%zz"})->code == 400);
  CHECK(connection->Call(Soon(), {.target = "/%2e%2e/x"})->code == 200);
  CHECK(connection->Call(Soon(), {.target = "api"}).status().reason() ==
        Reason::kServiceUnavailable);
  CHECK(counting.begun.load() == 1);
}

TEST_CASE("http: each request of a connection has its host looked at", "[http]") {
  CountingServer counting;
  RawClient client(counting.server.listener().port());
  std::string sent = kPreface + Frame(kSettings, 0, 0);
  std::uint32_t stream = 1;
  for (const std::string host : {"x", "x:99999", "x:99999", "x:1", "x", ":1", "x"}) {
    const std::string size(1, static_cast<char>(host.size()));
    sent += Frame(kHeaders, 5, stream, "\x82\x86\x84\x41" + size + host);
    stream += 2;
  }

  client.Send(sent + Frame(kPing, 0, 0, "12345678"));
  (void)client.ReadUntil("12345678");

  CHECK(counting.begun.load() == 4);
}

TEST_CASE("http: more query parameters than ten thousand are 400", "[http]") {
  TestService service([](Exchange& exchange) {
    return Answer(exchange, std::to_string(exchange.query().GetAll("a").size()));
  });
  TestServer server(service.service, GENERATE(Wire::kHttp2, Wire::kHttp1));
  const auto connection = server.Connect();
  std::string target = "/?a";
  for (int i = 1; i < 10'000; ++i) target += "&a";

  CHECK(connection->Call(Soon(), {.target = target})->body == "10000");
  CHECK(connection->Call(Soon(), {.target = target + "&a"})->code == 400);
}

TEST_CASE("http: a request's body waits in the client until somebody reads it", "[http]") {
  Journal steps;
  Guarded<std::optional<Resume>> waiting;
  TestService service([](Exchange& e) { return Answer(e, std::to_string(e.body()->size())); });
  service.AddFilter().begin = [&](Exchange& exchange) {
    if (exchange.request().path != "/big") return Step::Next();
    return Step::Later([&](Resume resume) {
      waiting.Lock()->emplace(std::move(resume));
      steps.Add("waiting");
    });
  };
  service.AddFilter().begin = [](Exchange& e) { return e.CollectBody(8 << 20); };
  TestServer server(service.service, GENERATE(Wire::kHttp2, Wire::kHttp1));
  const auto connection = server.Connect();
  const auto big =
      connection->Open({.method = "POST", .target = "/big", .body = std::string(5'000'000, 'b')})
          .value();
  REQUIRE(steps.Await("waiting"));
  const auto other = server.Connect();
  CHECK(other->Call(Soon(), {.method = "POST", .target = "/s", .body = "abc"})->body == "3");

  auto resume = std::move(*std::exchange(*waiting.Lock(), std::nullopt));
  resume(Step::Next());

  CHECK(big->Read(Soon()).value() == "5000000");
}

// Ten thousand streams of one event source.
class Stadium {
 public:
  void Cheer() { Wake(1); }
  // Wakes all for nothing.
  void Stir() { Wake(0); }
  std::size_t waiting() { return state_.Lock()->wakers.size(); }

  class Seat final : public BodySource {
   public:
    explicit Seat(Stadium& stadium) : stadium_(stadium) {}
    Pull Next(ChunkWriter& out, const Waker& waker) override {
      auto state = stadium_.state_.Lock();
      if (seen_ < state->events) {
        out.Write("event\n");
        ++seen_;
      }
      state->wakers.push_back(waker);
      return Pull::kWait;
    }

   private:
    Stadium& stadium_;
    int seen_ = 0;
  };

 private:
  struct State {
    int events = 0;
    std::vector<Waker> wakers;
  };
  void Wake(int events) {
    std::vector<Waker> wakers;
    {
      auto state = state_.Lock();
      state->events += events;
      wakers = std::exchange(state->wakers, {});
    }
    Waker::WakeAll(wakers);
  }
  Guarded<State> state_;
};

bool Await(const std::function<bool()>& condition) {
  const auto until = RealClock().Now() + kPatience;
  while (!condition() && RealClock().Now() < until) {
    Notification().WaitFor(std::chrono::milliseconds(1));
  }
  return condition();
}

// Once has no window at first: nothing is made then for a client that takes nothing.
TEST_CASE("http: a stream that waits sends a frame when it has something, and no other", "[http]") {
  const bool window = GENERATE(true, false);
  Stadium stadium;
  TestService service([&](Exchange& exchange) {
    exchange.writer().Stream({}, std::make_unique<Stadium::Seat>(stadium));
    return Step::Done();
  });
  TestServer server(service.service, Wire::kHttp2);
  RawClient client(server.listener().port());
  const auto seated = [&stadium] { return stadium.waiting() == 1; };
  const auto hear_until_now = [&client](const std::string& word) {
    client.Send(Frame(kPing, 0, 0, word));
    return client.ReadUntil(word);
  };
  const std::string no_window = std::string("\0\4", 2) + Number(0);
  client.Send(kPreface + Frame(kSettings, 0, 0, window ? "" : no_window) +
              Frame(kHeaders, 5, 1, kGet));
  std::string said = hear_until_now("aaaaaaaa");
  CHECK(Count(said, kHeaders, 1) == 1);
  if (!window) {
    CHECK(stadium.waiting() == 0);
    client.Send(Frame(kWindowUpdate, 0, 1, Number(100)));
  }
  REQUIRE(Await(seated));
  CHECK(Count(said + hear_until_now("bbbbbbbb"), kData, 1) == 0);

  for (int i = 0; i < 3; ++i) {
    stadium.Cheer();
    CHECK(Count(client.ReadUntil("event\n"), kData, 1) == 1);
    REQUIRE(Await(seated));
    stadium.Stir();
    REQUIRE(Await(seated));
    CHECK(Count(hear_until_now("cccccccc"), kData, 1) == 0);
  }
}

TEST_CASE("http: ten thousand idle watches hold no thread, and each gets its event", "[http]") {
  struct Spectator final : StreamObserver {
    explicit Spectator(std::atomic<int>& n) : count(n) {}
    void OnHead(const ResponseHead& /*head*/) override {}
    void OnData(std::string_view bytes) override { count += bytes == "event\n" ? 1 : 1'000'000; }
    void OnEnd(const Status& /*status*/) override {}
    std::atomic<int>& count;
  };
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  Stadium stadium;
  TestService service([&](Exchange& exchange) {
    exchange.writer().Stream({}, std::make_unique<Stadium::Seat>(stadium));
    return Step::Done();
  });
  TestServer server(service.service, Wire::kTlsHttp2);
  std::atomic<int> count{0};
  std::vector<std::unique_ptr<Connection>> connections;
  const auto before = threads();
  const std::size_t heap = HeapBytes();
  for (int i = 0; i < 100; ++i) {
    connections.push_back(server.Connect());
    for (int j = 0; j < 100; ++j) {
      const auto cancel =
          connections.back()->Observe({.target = "/watch"}, std::make_shared<Spectator>(count));
      REQUIRE(cancel.ok());
    }
  }
  REQUIRE(Await([&] { return stadium.waiting() == 10'000; }));
  CHECK(threads() == before);
  // Both sides together, and what a hundred connections take.
  CHECK((HeapBytes() - heap) / 10'000 < 4300);

  stadium.Cheer();

  CHECK(Await([&] { return count.load() == 10'000; }));
}

}  // namespace
}  // namespace http_test
