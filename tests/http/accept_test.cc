// Row 73 of docs/security.md.
// Connections that come while a listener's loops are busy: a kernel's queue that nobody empties
// overflows, and a client whose first packet is dropped tries again after a whole second.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "http/net.h"
#include "support.h"

namespace http_test {
namespace {

using Clients = std::vector<std::unique_ptr<RawClient>>;

// A server with one loop, which "/hold" keeps busy until it is let go.
class HeldServer {
 public:
  explicit HeldServer(Wire wire, ListenerOptions options = {})
      : service_([this](Exchange& exchange) { return Serve(exchange); }),
        server_(service_.service, wire, std::move(options)),
        holder_(server_.Connect()) {}
  ~HeldServer() { LetGo(); }

  // Returns when the loop is busy.
  void Hold() {
    held_ = holder_->Open({.target = "/hold"}).value();
    REQUIRE(holds_.WaitFor(kPatience));
  }
  void LetGo() { let_go_.Notify(); }
  Clients Dial(int count) {
    Clients clients;
    for (int i = 0; i < count; ++i) {
      clients.push_back(std::make_unique<RawClient>(server_.listener().port()));
    }
    return clients;
  }
  // Whether the listener comes to have so many connections.
  bool AwaitConnections(std::size_t count) {
    const auto until = RealClock().Now() + kPatience;
    while (server_.listener().connections() != count && RealClock().Now() < until) {
      Notification().WaitFor(std::chrono::milliseconds(1));
    }
    return server_.listener().connections() == count;
  }
  TestServer& server() { return server_; }

 private:
  Step Serve(Exchange& exchange) {
    if (exchange.request().target == "/hold") {
      holds_.Notify();
      let_go_.WaitFor(kPatience);
    }
    return Answer(exchange, "served");
  }

  Notification holds_;
  Notification let_go_;
  TestService service_;
  TestServer server_;
  std::unique_ptr<Connection> holder_;
  std::unique_ptr<ClientStream> held_;
};

TEST_CASE("http: connections are accepted while every loop is busy", "[http]") {
  HeldServer held(GENERATE(Wire::kHttp1, Wire::kTlsHttp1));
  held.Hold();

  const Clients clients = held.Dial(200);

  CHECK(held.AwaitConnections(201));
}

TEST_CASE("http: what was accepted while the loop was busy is served", "[http]") {
  HeldServer held(Wire::kHttp1);
  held.Hold();
  const Clients clients = held.Dial(200);
  for (const auto& client : clients) {
    client->Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }
  REQUIRE(held.AwaitConnections(201));

  held.LetGo();

  int served = 0;
  for (const auto& client : clients) {
    served += client->ReadAll().ends_with("served") ? 1 : 0;
  }
  CHECK(served == 200);
}

TEST_CASE("http: clients that are gone before their handshake cost none", "[http]") {
  Journal errors;
  ListenerOptions options;
  options.on_handshake_error = [&errors](const std::string& /*peer*/, const Status& why) {
    errors.Add(std::string(why.message()));
  };
  HeldServer held(Wire::kTlsHttp1, options);
  held.Hold();
  {
    // The head of a ClientHello that promises 508 more bytes.
    constexpr std::string_view kHello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
    const Clients clients = held.Dial(200);
    for (const auto& client : clients) client->Send(kHello);
    REQUIRE(held.AwaitConnections(201));
  }

  held.LetGo();

  CHECK(held.AwaitConnections(1));
  CHECK(errors.lines() == std::vector<std::string>(200, "tls: closed during the handshake"));
}

TEST_CASE("http: a stop closes what waits for its handshake", "[http]") {
  HeldServer held(Wire::kTlsHttp1);
  held.Hold();
  const Clients clients = held.Dial(200);
  REQUIRE(held.AwaitConnections(201));
  Thread stop("stop", [&] { held.server().listener().Stop(std::chrono::milliseconds(0)); });

  held.LetGo();
  stop.Join();

  CHECK(held.server().listener().connections() == 0);
  for (const auto& client : clients) CHECK(client->ReadAll().empty());
}

TEST_CASE("http: a socket of the host's is served, and keeps clients while it is not", "[http]") {
  const int hosts = OpenListener(ParseAddress("127.0.0.1", 0).value()).value();
  const int port = PortOf(LocalAddress(hosts));
  TestService service([](Exchange& exchange) { return Answer(exchange, "served"); });
  auto first = Listen({.address = "::1", .port = 1, .socket = dup(hosts)}, service.service).value();
  CHECK(first->port() == port);
  const std::string request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  RawClient before(port);
  before.Send(request);
  CHECK(before.ReadAll().ends_with("served"));
  first->Stop(kPatience);

  RawClient between(port);
  between.Send(request);
  const auto second = Listen({.socket = dup(hosts)}, service.service).value();

  CHECK(between.ReadAll().ends_with("served"));
  CHECK(fcntl(hosts, F_GETFD) >= 0);
  second->Stop(kPatience);
  close(hosts);
}

TEST_CASE("http: a descriptor that does not listen is refused and closed", "[http]") {
  TestService service([](Exchange& exchange) { return Answer(exchange, "served"); });
  const int connects = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  for (const int fd : {connects, file}) {
    const Status refused = Listen({.socket = fd}, service.service).status();
    CHECK(refused.reason() == Reason::kInvalid);
    CHECK(refused.message() ==
          "descriptor " + std::to_string(fd) + " is no stream socket that listens");
    CHECK(fcntl(fd, F_GETFD) < 0);
  }
}

}  // namespace
}  // namespace http_test
