#include "apiserver/cpprest/mount.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/http/dialer.h"
#include "contains.h"
#include "host.h"

// A server in a listener of cpprestsdk's, seen over its socket.
namespace apiserver::inline v0 {
namespace {

using testing::Contains;
using testing::Host;
using testing::kPatience;
using testing::RawPeer;

// A service whose handler is a function.
struct BareService {
  explicit BareService(http::Handler handler) {
    service.handler = std::move(handler);
    service.pool = pool.get();
  }
  std::unique_ptr<ThreadPool> pool = NewThreadPool({.name = "test", .threads = 2});
  http::Service service;
};

class CollectBody final : public http::Filter {
 public:
  std::string_view name() const override { return "collect-body"; }
  http::Step Begin(http::Exchange& exchange) const override {
    return exchange.has_body() ? exchange.CollectBody(1 << 20) : http::Step::Next();
  }
};

TEST_CASE("cpprest: a request arrives whole, and so does its answer", "[cpprest]") {
  BareService bare([](http::Exchange& exchange) -> http::Step {
    const auto& request = exchange.request();
    std::string text = request.method + " " + request.path + " " + request.query + " ";
    text += std::string(request.headers.Get("X-Test")) + " ";
    text += std::to_string(exchange.body()->size()) + (request.peer ? " peer" : "");
    text += request.tls ? " tls" : "";
    exchange.writer().Send({.code = 201, .headers = {{"X-Answer", "yes"}}}, text);
    return http::Step::Done();
  });
  bare.service.filters.push_back(std::make_unique<CollectBody>());
  Host host(bare.service);
  const auto answer =
      host.Call("POST", "/a%2Fb/c?d=e%20f", std::string(100'000, 'x'), {{"X-Test", "t"}});
  CHECK(answer.code == 201);
  CHECK(answer.headers.Get("X-Answer") == "yes");
  CHECK(answer.body == "POST /a/b/c d=e%20f t 100000");
  const auto head = host.Call("HEAD", "/a");
  CHECK(head.code == 201);
  CHECK(head.body.empty());
}

TEST_CASE("cpprest: what a front proxy would say never arrives", "[cpprest]") {
  BareService bare([](http::Exchange& exchange) -> http::Step {
    std::string names;
    for (const auto& field : exchange.request().headers) names += field.name + ",";
    exchange.writer().Send({}, names);
    return http::Step::Done();
  });
  Host host(bare.service);
  const auto names = host.Call("GET", "/", "",
                               {{"X-Remote-User", "admin"},
                                {"x-remote-group", "system:masters"},
                                {"X-REMOTE-EXTRA-scopes", "all"},
                                {"X-Other", "1"}})
                         .body;
  CHECK(Contains(names, "X-Other,"));
  for (const char* name : {"emote", "EMOTE"}) CHECK(!Contains(names, name));
}

TEST_CASE("cpprest: paths are those after the listener's", "[cpprest]") {
  BareService bare([](http::Exchange& exchange) -> http::Step {
    exchange.writer().Send({}, exchange.request().target);
    return http::Step::Done();
  });
  Host host(bare.service, "/k8s");
  CHECK(host.Call("GET", "/k8s/apis/x?y=z").body == "/apis/x?y=z");
}

TEST_CASE("cpprest: upgrades are answered with 501 and the reason", "[cpprest]") {
  BareService bare([](http::Exchange& exchange) -> http::Step {
    exchange.writer().Send({}, "ok");
    return http::Step::Done();
  });
  Host host(bare.service);
  for (const std::string upgrade : {"websocket", "SPDY/3.1", "h2c"}) {
    const RawPeer peer(host.port);
    peer.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: " + upgrade +
              "\r\n\r\n");
    const std::string answer = peer.ReadUntil("}\n");
    CHECK(answer.starts_with("HTTP/1.1 501 "));
    CHECK(Contains(answer, "cpprestsdk's listener cannot upgrade a connection, nor speak HTTP/2"));
  }
  const RawPeer peer(host.port);
  peer.Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  CHECK(!peer.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 200"));
}

TEST_CASE("cpprest: a body over the limit is refused, and not read to its end", "[cpprest]") {
  std::atomic<int> handled{0};
  BareService bare([&](http::Exchange& exchange) -> http::Step {
    ++handled;
    exchange.writer().Send({}, "ok");
    return http::Step::Done();
  });
  Host host(bare.service, "/", {.request_body_bytes_max = 64 << 10, .tls = false});
  CHECK(host.Call("POST", "/", std::string(64 << 10, 'x')).code == 200);
  const std::string piece(16 << 10, 'x');
  for (const bool chunked : {true, false}) {
    const RawPeer peer(host.port);
    peer.Send(std::string("POST / HTTP/1.1\r\nHost: x\r\n") +
              (chunked ? "Transfer-Encoding: chunked" : "Content-Length: 99999999999") +
              "\r\n\r\n");
    std::size_t sent = 0;
    while (sent < (64 << 20) && peer.Send(chunked ? "4000\r\n" + piece + "\r\n" : piece)) {
      sent += piece.size();
    }
    CHECK(sent < (64 << 20));
  }
  CHECK(handled == 1);
}

TEST_CASE("cpprest: more requests than allowed are answered with 503", "[cpprest]") {
  Guarded<std::vector<http::Resume>> held;
  BareService bare([&](http::Exchange& exchange) -> http::Step {
    if (exchange.request().path == "/hold") {
      return http::Step::Later([&](http::Resume resume) {
        held.Lock()->push_back(std::move(resume));
        held.NotifyAll();
      });
    }
    exchange.writer().Send({}, "ok");
    return http::Step::Done();
  });
  Host host(bare.service, "/", {.requests_max = 1, .tls = false});
  const RawPeer holder(host.port);
  holder.Send("GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
  {
    auto waiting = held.Lock();
    REQUIRE(waiting.WaitUntil(RealClock().Now() + kPatience, [&] { return waiting->size() == 1; }));
  }
  const auto refused = host.Call("GET", "/");
  CHECK(refused.code == 503);
  CHECK(Contains(refused.body, "too many requests are under way"));
  held.Lock()->clear();
  CHECK(holder.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 500"));
}

TEST_CASE("cpprest: who was refused does not count any more", "[cpprest]") {
  BareService bare([](http::Exchange& exchange) -> http::Step {
    exchange.writer().Send({}, "ok");
    return http::Step::Done();
  });
  Host host(bare.service, "/", {.request_body_bytes_max = 10, .requests_max = 2, .tls = false});
  // Each kind more often than there may be; the mount hears of an end a moment later.
  for (const std::string request :
       {"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX y: z\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n01234567890"}) {
    for (int i = 0; i < 3; ++i) {
      const RawPeer peer(host.port);
      peer.Send(request);
      const std::string answer = peer.ReadUntil("}\n");
      CHECK((answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 50")));
    }
  }
  const auto deadline = RealClock().Now() + kPatience;
  int code = 0;
  while (code != 200 && RealClock().Now() < deadline) code = host.Call("GET", "/").code;
  CHECK(code == 200);
}

// Pieces as fast as they are taken, until the test ends it.
class Flood final : public http::BodySource {
 public:
  explicit Flood(std::atomic<std::size_t>& made, Notification& gone) : made_(made), gone_(gone) {}
  ~Flood() override { gone_.Notify(); }
  http::Pull Next(http::ChunkWriter& out, const Waker& /*waker*/) override {
    const std::string piece(std::min<std::size_t>(out.room(), 16 << 10), 'x');
    out.Write(piece);
    made_ += piece.size();
    return http::Pull::kMore;
  }

 private:
  std::atomic<std::size_t>& made_;
  Notification& gone_;
};

// Returns a handler that answers with a Flood.
http::Handler Flooding(std::atomic<std::size_t>& made, Notification& gone) {
  return [&made, &gone](http::Exchange& exchange) -> http::Step {
    exchange.writer().Stream({}, std::make_unique<Flood>(made, gone));
    return http::Step::Done();
  };
}

TEST_CASE("cpprest: a stream is made as it is taken, and given up when its client has gone",
          "[cpprest]") {
  std::atomic<std::size_t> made{0};
  Notification gone;
  BareService bare(Flooding(made, gone));
  Host host(bare.service);
  {
    const RawPeer peer(host.port);
    peer.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(Contains(peer.ReadUntil("xxxx"), "ransfer-Encoding: chunked"));
    // The sockets fill, and nothing more is made: it stands still for a while.
    std::size_t before = 0;
    const auto deadline = RealClock().Now() + kPatience;
    while (RealClock().Now() < deadline) {
      before = made;
      if (!gone.WaitFor(std::chrono::seconds(1)) && made == before) break;
    }
    CHECK(made == before);
    CHECK(made < (64 << 20));
    CHECK(!gone.HasBeenNotified());
  }
  CHECK(gone.WaitFor(kPatience));
}

TEST_CASE("cpprest: a watch is streamed, and ends with the mount, which lets the listener close",
          "[cpprest]") {
  Guarded<Waker> waker;
  Guarded<std::string> news;
  class Events final : public http::BodySource {
   public:
    Events(Guarded<Waker>& waker, Guarded<std::string>& news) : waker_(waker), news_(news) {}
    http::Pull Next(http::ChunkWriter& out, const Waker& waker) override {
      *waker_.Lock() = waker;
      const std::string now = std::exchange(*news_.Lock(), "");
      if (now.empty()) return http::Pull::kWait;
      out.Write(now);
      return http::Pull::kMore;
    }

   private:
    Guarded<Waker>& waker_;
    Guarded<std::string>& news_;
  };
  BareService bare([&](http::Exchange& exchange) -> http::Step {
    exchange.writer().Stream({.headers = {{"Content-Type", "application/json"}}},
                             std::make_unique<Events>(waker, news));
    return http::Step::Done();
  });
  Host host(bare.service);
  const auto connection = host.Connect();
  const auto stream = connection->Open({.target = "/watch"});
  REQUIRE(stream.ok());
  *news.Lock() = "one\n";
  const auto head = (*stream)->Head(Host::Soon());
  REQUIRE(head.ok());
  CHECK(head->headers.Get("Content-Type") == "application/json");
  CHECK((*stream)->Read(Host::Soon()).value() == "one\n");
  *news.Lock() = "two\n";
  waker.Lock()->Wake();
  CHECK((*stream)->Read(Host::Soon()).value() == "two\n");

  host.Close();  // Would never return with the stream open.
  CHECK(!(*stream)->Read(Host::Soon()).ok());
}

TEST_CASE("cpprest: a stopped mount has written what it answered", "[cpprest]") {
  constexpr std::size_t kHolders = 8;
  Guarded<std::vector<http::Resume>> held;
  BareService bare([&](http::Exchange&) -> http::Step {
    return http::Step::Later([&](http::Resume resume) {
      held.Lock()->push_back(std::move(resume));
      held.NotifyAll();
    });
  });
  Host host(bare.service);
  std::vector<std::unique_ptr<RawPeer>> holders;
  for (std::size_t i = 0; i < kHolders; ++i) {
    holders.push_back(std::make_unique<RawPeer>(host.port));
    holders.back()->Send("GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  {
    auto waiting = held.Lock();
    REQUIRE(waiting.WaitUntil(RealClock().Now() + kPatience,
                              [&] { return waiting->size() == kHolders; }));
  }
  host.mount->Stop();
  for (const auto& holder : holders) {
    char head[12] = {};
    // The answer is there already.
    CHECK(::recv(holder->fd, head, sizeof head, MSG_DONTWAIT) == sizeof head);
    CHECK(std::string_view(head, sizeof head) == "HTTP/1.1 503");
  }
  held.Lock()->clear();
}

TEST_CASE("cpprest: a mount stops although a client does not read", "[cpprest]") {
  std::atomic<std::size_t> made{0};
  Notification gone;
  BareService bare(Flooding(made, gone));
  Host host(bare.service);
  const RawPeer peer(host.port);
  peer.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(Contains(peer.ReadUntil("xxxx"), "HTTP/1.1 200"));
  host.Close();
  CHECK(gone.WaitFor(kPatience));
}

}  // namespace
}  // namespace apiserver::inline v0
