// A server that systemd watches.
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

#include "apiserver/base/sync.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/server/standalone.h"

namespace apiserver::inline v0::program {
namespace {

using std::chrono::milliseconds;

// The socket that systemd listens on, and what it tells a server of it.
class Manager {
 public:
  Manager() : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const std::string name = "@apiserver-watchdog-" + std::to_string(getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, name.size());
    address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    REQUIRE(bind(socket_, reinterpret_cast<const sockaddr*>(&address), size) == 0);
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    setenv("WATCHDOG_USEC", "100000", 1);
  }
  ~Manager() {
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    close(socket_);
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // Returns the next state. Empty: none has come for so long.
  std::string Next(milliseconds patience) const {
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(patience).count();
    const timeval limit{.tv_sec = micros / 1'000'000, .tv_usec = micros % 1'000'000};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    std::array<char, 256> state{};
    const ssize_t size = recv(socket_, state.data(), state.size(), 0);
    return size > 0 ? std::string(state.data(), static_cast<std::size_t>(size)) : "";
  }

 private:
  const int socket_;
};

constexpr milliseconds kPatience{20'000};
// Ten times as long as the server is silent between two signs of life.
constexpr milliseconds kSilence{500};
// As many as the pool may have threads, which it adds while all of them wait, and some more.
constexpr int kBlocked = 1100;
// More signs of life than wait to be read when this process is late.
constexpr int kSigns = 60;

TEST_CASE("signals: a server whose pool is stuck does not say that it lives", "[program]") {
  const Manager manager;
  BlockSignals();
  const auto standalone = server::NewStandalone({});
  REQUIRE(standalone.ok());
  server::Config config;
  config.pool_threads = 2;
  auto server = standalone->NewServer(std::move(config));
  REQUIRE(server.ok());
  REQUIRE((*server)->PrepareRun().ok());

  const auto release = std::make_shared<Notification>();
  std::string ready;
  std::string alive;
  int signs = 0;
  std::string alive_again;
  Thread systemd("systemd", [&] {
    ready = manager.Next(kPatience);
    alive = manager.Next(kPatience);
    for (int i = 0; i < kBlocked; ++i) (*server)->pool().Post([release] { release->Wait(); });
    // Some may have been sent before.
    while (signs < kSigns && !manager.Next(kSilence).empty()) ++signs;
    release->Notify();
    alive_again = manager.Next(kPatience);
    kill(getpid(), SIGTERM);
  });
  CHECK(RunUntilSignal(**server, [] {}) == 0);
  systemd.Join();
  CHECK(ready == "READY=1");
  CHECK(alive == "WATCHDOG=1");
  CHECK(signs < kSigns);
  CHECK(alive_again == "WATCHDOG=1");
}

}  // namespace
}  // namespace apiserver::inline v0::program
