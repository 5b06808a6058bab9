#include <catch2/catch.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "client/http_client/raw_server.h"

// Servers that are slow, huge, endless or lie.
namespace http_client_test {
namespace {

constexpr std::size_t kMax = 64 << 10;
// What fits into both sides' sockets, and what a client on a busy machine drops until it closes.
constexpr std::size_t kWrittenMax = 256 << 20;

struct Told {
  Status status;
  std::size_t written = 0;  // By the server, before the client was gone.
};

// Calls a server over TLS (or plain) that writes `head`, then `more` until nobody listens.
Told Listen(const std::string& head, const std::string& more, bool tls = true) {
  std::atomic<std::size_t> written{0};
  Told told;
  {
    RawServer server(
        [&](Wire& wire) {
          wire.ReadUntil("\r\n\r\n");
          if (!wire.Write(head)) return;
          while (!more.empty() && wire.Write(more)) written += more.size();
          wire.Close();
        },
        tls ? http::NewServerTls(Pki().server).value() : nullptr);
    auto options = Trusting(server.address());
    options.response_bytes_max = kMax;
    const auto client = NewClient(options);
    told.status =
        Get(*client, tls ? "https://server.test/" : "http://server.test/", std::chrono::seconds(60))
            .status();
  }
  told.written = written;
  return told;
}

TEST_CASE("client: an answer that is too long is refused and not read", "[client]") {
  const std::string piece(kMax / 4, 'x');
  struct Case {
    std::string head, more;
    bool plain_too;
    bool framing = false;
  };
  const std::vector<Case> cases = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n", piece, true},
      {"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n", piece, true, true},
      {"HTTP/1.1 200 OK\r\n\r\n", piece, true},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "4000\r\n" + piece + "\r\n", true},
      // cpprestsdk reads these whole before it shows a byte.
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7ffffff0\r\n", piece, false},
      {"HTTP/1.1 200 OK\r\nX-Endless: ", piece, false},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", piece, false, true},
      {"", piece, false},
  };
  for (const auto& each : cases) {
    for (const bool tls : {true, false}) {
      if (!tls && !each.plain_too) continue;
      INFO(each.head << tls);
      const Told told = Listen(each.head, each.more, tls);
      INFO(told.status.ToString());
      CHECK(told.status.reason() ==
            (each.framing ? Implementation().endless_framing : Reason::kRequestEntityTooLarge));
      CHECK(told.written < kWrittenMax);
    }
  }
}

TEST_CASE("client: an answer of exactly the limit is whole", "[client]") {
  RawServer server([](Wire& wire) {
    wire.ReadUntil("\r\n\r\n");
    wire.Write("HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n" + std::string(kMax, 'x'));
    wire.ReadUntil("never");
  });
  const auto client = NewClient({.response_bytes_max = kMax});
  const auto answer = Get(*client, "http://" + server.address() + "/");
  REQUIRE(answer.status().ToString() == Status().ToString());
  CHECK(answer->body == std::string(kMax, 'x'));
}

TEST_CASE("client: answers that break off or are none are errors", "[client]") {
  for (const std::string head : {
           "",
           "HTTP/1.1 200 OK\r\nContent-Le",
           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
           "SSH-2.0-OpenSSH_9.2\r\n\r\n",
           "HTTP/1.1\r\n\r\n",
           "HTTP/1.1 abc\r\n\r\n",
           "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
       }) {
    INFO(head);
    for (const bool tls : {true, false}) {
      CHECK(Listen(head, "", tls).status.reason() == Reason::kServiceUnavailable);
    }
  }
}

TEST_CASE("client: an interim answer is passed over, or is no answer", "[client]") {
  for (const bool tls : {true, false}) {
    const Status status =
        Listen("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "",
               tls)
            .status;
    CHECK(status.reason() ==
          (Implementation().reads_interim ? Reason::kUnknown : Reason::kServiceUnavailable));
  }
}

TEST_CASE("client: a chunk whose size wraps around is no way to the client's memory", "[client]") {
  for (const std::string size :
       {"fffffffffffffffe", "ffffffffffffffff", "ffffffff", "7ffffffe", "-1", "-2", "-5"}) {
    for (const bool tls : {true, false}) {
      INFO(size);
      const Status status =
          Listen("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + size + "\r\nabc\r\n", "",
                 tls)
              .status;
      CHECK(!status.ok());
    }
  }
}

TEST_CASE("client: a server that is silent, or says a byte at a time, has until the timeout",
          "[client]") {
  const std::vector<std::string> heads = {
      "", "HTTP/1.1 200 OK\r\nX-A: ", "HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\r\n"};
  for (const auto& head : heads) {
    for (const bool trickle : {true, false}) {
      INFO(head << trickle);
      // On a busy machine the first may not be long enough to connect and ask.
      for (auto timeout = std::chrono::milliseconds(300);; timeout *= 4) {
        Notification asked;
        Notification over;
        RawServer server(
            [&](Wire& wire) {
              wire.ReadUntil("\r\n\r\n");
              asked.Notify();
              wire.Write(head);
              while (trickle && !over.WaitFor(std::chrono::milliseconds(20)) && wire.Write("x")) {
              }
              over.Wait();
            },
            http::NewServerTls(Pki().server).value());
        const auto before = RealClock().Now();
        const Status status =
            Get(*NewClient(Trusting(server.address())), "https://server.test/", timeout).status();
        const auto took = RealClock().Now() - before;
        const bool in_time = asked.HasBeenNotified();
        over.Notify();
        if (!in_time && timeout < std::chrono::seconds(60)) continue;
        CHECK(status ==
              Status(Reason::kTimeout, "Get \"https://server.test/\": context deadline exceeded"));
        CHECK(took >= timeout);
        break;
      }
    }
  }
}

TEST_CASE("client: a server that never shakes hands has until the timeout", "[client]") {
  RawServer server([](Wire& wire) { wire.ReadUntil("never"); });
  const Status status = Get(*NewClient(Trusting(server.address())), "https://server.test/",
                            std::chrono::milliseconds(100))
                            .status();
  CHECK(status.reason() == Reason::kTimeout);
}

// cpprestsdk's own cancellation closed the socket beside the thread that read from it.
TEST_CASE("client: a call is ended at any moment of its answer, and the process lives on",
          "[client]") {
  constexpr std::size_t kPiece = 100;  // Small, so that the client is nearly always between reads.
  for (const bool tls : {true, false}) {
    RawServer server(
        [](Wire& wire) {
          wire.ReadUntil("\r\n\r\n");
          wire.Write("HTTP/1.1 200 OK\r\n\r\n");
          while (wire.Write(std::string(kPiece, 'x'))) {
          }
        },
        tls ? http::NewServerTls(Pki().server).value() : nullptr);
    auto options = Trusting(server.address());
    options.response_bytes_max = 1 << 30;
    const auto client = NewClient(options);
    for (int round = 0; round < 150; ++round) {
      const Context ctx = Context::Child(Context::Background());
      Notification ended;
      Status status;
      client->Start(ctx, {.url = tls ? "https://server.test/" : "http://server.test/"},
                    [&](Result<http::ClientResponse> answer) {
                      status = answer.status();
                      ended.Notify();
                    });
      // From before it has connected to the middle of its answer.
      Notification moment;
      moment.WaitFor(std::chrono::milliseconds(round / 20));
      ctx.Cancel(Status(Reason::kTimeout, "enough"));
      REQUIRE(ended.WaitFor(std::chrono::seconds(60)));
      CHECK(status.reason() == Reason::kTimeout);
    }
  }
}

TEST_CASE("client: what an aborted answer leaves behind is no answer to the next call",
          "[client]") {
  std::atomic<int> calls{0};
  RawServer server([&](Wire& wire) {
    while (wire.ReadUntil("\r\n\r\n").size() > 1) {
      wire.Write(++calls == 1 ? "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
                                "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlies"
                              : "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ntruth");
    }
  });
  const auto client = NewClient();
  CHECK(!Get(*client, "http://" + server.address() + "/").ok());
  const auto answer = Get(*client, "http://" + server.address() + "/");
  REQUIRE(answer.status().ToString() == Status().ToString());
  CHECK(answer->body == "truth");
  CHECK(server.connections() == 2);
}

}  // namespace
}  // namespace http_client_test
