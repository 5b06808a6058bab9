#include "faults/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

namespace apiserver::inline v0::faults {
namespace {

using std::chrono::milliseconds;

// A server that answers one connection after the other with what it is told.
class Echo {
 public:
  Echo() {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(listener_, 8) == 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = Thread("echo", [this] { Run(); });
  }
  ~Echo() {
    shutdown(listener_, SHUT_RDWR);
    thread_.Join();
    close(listener_);
  }
  std::uint16_t port() const { return port_; }

 private:
  void Run() const {
    while (true) {
      const int client = accept(listener_, nullptr, nullptr);
      if (client < 0) return;
      char buffer[1024];
      for (ssize_t n = 0; (n = read(client, buffer, sizeof buffer)) > 0;) {
        (void)!send(client, buffer, static_cast<std::size_t>(n), MSG_NOSIGNAL);
      }
      close(client);
    }
  }

  int listener_ = -1;
  std::uint16_t port_ = 0;
  Thread thread_;
};

class Client {
 public:
  explicit Client(std::uint16_t port) {
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  void Say(const std::string& text) const {
    (void)!send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  // "timeout": nothing within `patience`; "reset", "end": so.
  std::string Hear(milliseconds patience = std::chrono::seconds(10)) const {
    const timeval wait{patience.count() / 1000, patience.count() % 1000 * 1000};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    char buffer[1024];
    const ssize_t size = read(socket_, buffer, sizeof buffer);
    if (size == 0) return "end";
    if (size < 0) return errno == EAGAIN ? "timeout" : "reset";
    return std::string(buffer, static_cast<std::size_t>(size));
  }

 private:
  int socket_ = -1;
  bool connected_ = false;
};

constexpr milliseconds kAMoment{100};

TEST_CASE("faults: a proxy passes what it is given", "[faults]") {
  const Echo echo;
  TcpProxy proxy(echo.port());
  const Client client(proxy.port());
  client.Say("hello");
  CHECK(client.Hear() == "hello");
  CHECK(proxy.counters().accepted == 1);
  // Bytes are counted once they have been passed on, and so may be heard before.
  for (int i = 0; i < 5000 && proxy.counters().to_server < 5; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  CHECK(proxy.counters().to_server == 5);
}

TEST_CASE("faults: a blackhole holds all until it is lifted", "[faults]") {
  const Echo echo;
  TcpProxy proxy(echo.port());
  const Client client(proxy.port());
  client.Say("1");
  REQUIRE(client.Hear() == "1");
  proxy.Set(TcpProxy::Mode::kBlackhole);
  client.Say("2");
  CHECK(client.Hear(kAMoment) == "timeout");
  CHECK(proxy.counters().to_server == 1);
  proxy.Set(TcpProxy::Mode::kPass);
  CHECK(client.Hear() == "2");
}

TEST_CASE("faults: a half-open connection takes what is said and answers nothing", "[faults]") {
  const Echo echo;
  TcpProxy proxy(echo.port());
  const Client client(proxy.port());
  proxy.Set(TcpProxy::Mode::kDropAnswers);
  client.Say("1");
  CHECK(client.Hear(kAMoment) == "timeout");
  while (proxy.counters().to_server == 0) {
  }
  CHECK(proxy.counters().to_client == 0);
}

TEST_CASE("faults: a cut resets the connections and lets new ones come", "[faults]") {
  const Echo echo;
  TcpProxy proxy(echo.port());
  const Client client(proxy.port());
  client.Say("1");
  REQUIRE(client.Hear() == "1");
  proxy.Cut();
  CHECK(client.Hear() == "reset");
  const Client again(proxy.port());
  again.Say("2");
  CHECK(again.Hear() == "2");
}

TEST_CASE("faults: a refusing proxy has no port, and later the same one", "[faults]") {
  const Echo echo;
  TcpProxy proxy(echo.port());
  const std::uint16_t port = proxy.port();
  {
    const Client client(port);
    client.Say("1");
    REQUIRE(client.Hear() == "1");
    proxy.Set(TcpProxy::Mode::kRefuse);
    CHECK(client.Hear() == "reset");
  }
  while (Client(port).connected()) {
  }
  proxy.Set(TcpProxy::Mode::kPass);
  while (!Client(port).connected()) {
  }
  CHECK(proxy.port() == port);
}

TEST_CASE("faults: a delay holds each piece so long", "[faults]") {
  const Echo echo;
  TcpProxy proxy(echo.port());
  proxy.SetDelay(milliseconds(60));
  const Client client(proxy.port());
  const auto begin = std::chrono::steady_clock::now();
  client.Say("1");
  CHECK(client.Hear() == "1");
  CHECK(std::chrono::steady_clock::now() - begin >= milliseconds(120));
}

TEST_CASE("faults: a proxy passes the end of a conversation", "[faults]") {
  const Echo echo;
  TcpProxy proxy(echo.port());
  { const Client client(proxy.port()); }
  while (proxy.counters().accepted == 0 || proxy.counters().open > 0) {
  }
  CHECK(proxy.counters().accepted == 1);
}

}  // namespace
}  // namespace apiserver::inline v0::faults
