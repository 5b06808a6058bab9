#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>

#include "apiserver/base/sync.h"

namespace apiserver::inline v0::faults {

// Stands between a client and a server on loopback, on a free port, and spoils what passes. What is
// set holds for the connections that are there and those that come.
class TcpProxy {
 public:
  enum class Mode : std::uint8_t {
    kPass,
    // Nothing passes and nobody is told; connections are accepted. What was held passes later, as
    // after a partition that TCP has lived through.
    kBlackhole,
    // As a blackhole, but only for what the server says: the half-open connection.
    kDropAnswers,
    // Connections are refused: there are none, and nobody listens.
    kRefuse,
  };
  struct Counters {
    std::size_t accepted = 0;
    std::size_t open = 0;
    std::uint64_t to_server = 0;  // Bytes.
    std::uint64_t to_client = 0;
  };

  // In front of 127.0.0.1:`server_port`.
  explicit TcpProxy(std::uint16_t server_port);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  // Where clients connect; stays the same. Zero: it could not be had.
  std::uint16_t port() const { return port_; }
  // Holds when it returns. kRefuse cuts the connections that are there with a reset.
  void Set(Mode mode);
  // How long each piece is held, in each direction.
  void SetDelay(std::chrono::milliseconds delay);
  // Resets all connections.
  void Cut();
  Counters counters() const;

 private:
  struct Pipe;
  struct Connection;
  struct Wishes {
    Mode mode = Mode::kPass;
    std::chrono::milliseconds delay{0};
    bool cut = false;
    bool stopping = false;
    std::uint64_t asked = 0;
    std::uint64_t heard = 0;
    Counters counters;
  };

  void Run();
  void Listen();
  void Accept();
  int Poll(const Wishes& wishes);
  bool Serve(Connection& connection, const Wishes& wishes);
  bool Pump(Pipe& pipe, const Wishes& wishes, bool held);
  void CloseAll();
  void Wake() const;

  const std::uint16_t server_port_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  int wake_[2] = {-1, -1};
  std::list<Connection> connections_;
  Guarded<Wishes> wishes_;
  Thread thread_;
};

}  // namespace apiserver::inline v0::faults
