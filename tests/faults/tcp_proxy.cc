#include "faults/tcp_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace apiserver::inline v0::faults {
namespace {

using Time = std::chrono::steady_clock::time_point;

// Held in each direction at most; then nothing more is read, as by a full socket.
constexpr std::size_t kHeldMax = std::size_t{1} << 20;

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void Reset(int socket) {
  const linger at_once{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(socket);
}

}  // namespace

// One direction of a connection.
struct TcpProxy::Pipe {
  int from = -1;
  int to = -1;
  std::deque<std::pair<Time, std::string>> held;  // With when it may pass.
  std::size_t bytes = 0;
  bool ended = false;     // `from` says no more.
  bool told_end = false;  // And `to` knows.
  std::uint64_t passed = 0;
};

struct TcpProxy::Connection {
  Pipe up;    // To the server.
  Pipe down;  // To the client.

  int client() const { return up.from; }
  int server() const { return up.to; }
};

TcpProxy::TcpProxy(std::uint16_t server_port) : server_port_(server_port) {
  if (pipe2(wake_, O_NONBLOCK | O_CLOEXEC) != 0) return;
  Listen();
  thread_ = Thread("tcp-proxy", [this] { Run(); });
}

TcpProxy::~TcpProxy() {
  wishes_.Lock()->stopping = true;
  Wake();
  if (thread_.joinable()) thread_.Join();
  if (listener_ >= 0) close(listener_);
  for (const int end : wake_) {
    if (end >= 0) close(end);
  }
}

void TcpProxy::Listen() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = Loopback(port_);
  socklen_t size = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, SOMAXCONN) != 0) {
    close(std::exchange(listener_, -1));
    return;
  }
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
}

void TcpProxy::Set(Mode mode) {
  auto wishes = wishes_.Lock();
  wishes->mode = mode;
  const std::uint64_t asked = ++wishes->asked;
  Wake();
  wishes.Wait([&wishes, asked] { return wishes->heard >= asked; });
}

void TcpProxy::SetDelay(std::chrono::milliseconds delay) {
  auto wishes = wishes_.Lock();
  wishes->delay = delay;
  const std::uint64_t asked = ++wishes->asked;
  Wake();
  wishes.Wait([&wishes, asked] { return wishes->heard >= asked; });
}

void TcpProxy::Cut() {
  wishes_.Lock()->cut = true;
  Wake();
}

TcpProxy::Counters TcpProxy::counters() const { return wishes_.Lock()->counters; }

void TcpProxy::Wake() const {
  // A full pipe wakes as well.
  (void)!write(wake_[1], "", 1);
}

void TcpProxy::CloseAll() {
  for (Connection& connection : connections_) {
    Reset(connection.client());
    Reset(connection.server());
  }
  connections_.clear();
}

void TcpProxy::Run() {
  while (true) {
    Wishes wishes;
    {
      auto told = wishes_.Lock();
      told->counters.open = connections_.size();
      wishes = *told;
      told->cut = false;
      told->heard = told->asked;
      wishes_.NotifyAll();
    }
    if (wishes.stopping) break;
    if (wishes.cut || wishes.mode == Mode::kRefuse) CloseAll();
    if (wishes.mode == Mode::kRefuse && listener_ >= 0) close(std::exchange(listener_, -1));
    if (wishes.mode != Mode::kRefuse && listener_ < 0) Listen();
    (void)Poll(wishes);
    char drain[64];
    while (read(wake_[0], drain, sizeof drain) > 0) {
    }
    if (listener_ >= 0) Accept();
    connections_.remove_if([this, &wishes](Connection& connection) {
      if (Serve(connection, wishes)) return false;
      Reset(connection.client());
      Reset(connection.server());
      return true;
    });
  }
  CloseAll();
}

int TcpProxy::Poll(const Wishes& wishes) {
  std::vector<pollfd> waits{{wake_[0], POLLIN, 0}};
  if (listener_ >= 0) waits.push_back({listener_, POLLIN, 0});
  // What is held is looked at again soon; precise enough for delays.
  bool holds = false;
  for (const Connection& connection : connections_) {
    for (const Pipe* pipe : {&connection.up, &connection.down}) {
      const bool reads = !pipe->ended && pipe->bytes < kHeldMax;
      if (reads) waits.push_back({pipe->from, POLLIN, 0});
      holds = holds || !pipe->held.empty() || (pipe->ended && !pipe->told_end);
    }
  }
  const bool blocked = wishes.mode == Mode::kBlackhole;
  return poll(waits.data(), waits.size(), holds && !blocked ? 1 : -1);
}

void TcpProxy::Accept() {
  while (true) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) return;
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = Loopback(server_port_);
    // On loopback it is there at once or not at all.
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      Reset(client);
      close(server);
      continue;
    }
    fcntl(server, F_SETFL, fcntl(server, F_GETFL) | O_NONBLOCK);
    const int on = 1;
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Connection& connection = connections_.emplace_back();
    connection.up.from = connection.down.to = client;
    connection.up.to = connection.down.from = server;
    ++wishes_.Lock()->counters.accepted;
  }
}

bool TcpProxy::Serve(Connection& connection, const Wishes& wishes) {
  const bool blocked = wishes.mode == Mode::kBlackhole;
  const bool goes_on = Pump(connection.up, wishes, blocked) &&
                       Pump(connection.down, wishes, blocked || wishes.mode == Mode::kDropAnswers);
  {
    auto told = wishes_.Lock();
    told->counters.to_server += std::exchange(connection.up.passed, 0);
    told->counters.to_client += std::exchange(connection.down.passed, 0);
  }
  return goes_on && !(connection.up.told_end && connection.down.told_end);
}

// False: the connection has failed.
bool TcpProxy::Pump(Pipe& pipe, const Wishes& wishes, bool held) {
  const Time now = std::chrono::steady_clock::now();
  char buffer[16384];
  while (!pipe.ended && pipe.bytes < kHeldMax) {
    const ssize_t size = read(pipe.from, buffer, sizeof buffer);
    if (size < 0 && errno == EAGAIN) break;
    if (size < 0) return false;
    pipe.ended = size == 0;
    if (size == 0) break;
    pipe.held.emplace_back(now + wishes.delay, std::string(buffer, static_cast<std::size_t>(size)));
    pipe.bytes += static_cast<std::size_t>(size);
  }
  if (held) return true;
  while (!pipe.held.empty() && pipe.held.front().first <= now) {
    std::string& piece = pipe.held.front().second;
    const ssize_t size = send(pipe.to, piece.data(), piece.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EAGAIN) return true;
    if (size < 0) return false;
    pipe.passed += static_cast<std::uint64_t>(size);
    pipe.bytes -= static_cast<std::size_t>(size);
    piece.erase(0, static_cast<std::size_t>(size));
    if (piece.empty()) pipe.held.pop_front();
  }
  if (pipe.ended && pipe.held.empty() && !pipe.told_end) {
    shutdown(pipe.to, SHUT_WR);
    pipe.told_end = true;
  }
  return true;
}

}  // namespace apiserver::inline v0::faults
