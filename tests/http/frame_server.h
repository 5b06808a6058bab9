#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/sync.h"

// Servers that speak HTTP/2 by hand, or not at all.
namespace http_test {

using namespace apiserver;  // NOLINT: tests only.

// A socket on the loopback that nobody accepts from. One that does not listen refuses connections.
struct Deaf {
  explicit Deaf(bool listens = true);
  ~Deaf();
  Deaf(const Deaf&) = delete;
  Deaf& operator=(const Deaf&) = delete;
  void Listen() const;
  int fd;
  int port = 0;
};

// One answer of a FrameServer.
struct FrameAnswer {
  std::string frames;       // Those of stream 1 are sent on the request's stream.
  bool closes = false;      // Closes the connection behind them.
  bool after_ping = false;  // They wait for a PING.
};
using Answers = std::vector<FrameAnswer>;

// An HTTP/2 server that answers requests with frames written by hand. It serves one connection
// after another, so that its clients must end before it does.
class FrameServer {
 public:
  // Answers the first request only.
  explicit FrameServer(const std::string& frames, bool closes = false)
      : FrameServer(Answers{{.frames = frames, .closes = closes}}) {}
  // Gives each request the next answer, and none to those that come later.
  explicit FrameServer(Answers answers, bool listens = true);
  ~FrameServer();
  int port() const { return deaf_.port; }
  // Begins to listen, if it was made not to.
  void Listen();

  // The bytes that have come so far.
  struct Seen {
    int connections = 0;
    std::size_t requests = 0;
    std::string types;  // The types of the frames, a digit each: 1 is HEADERS, 6 PING.
    std::string data;   // The payload of all DATA frames.
  };
  Seen seen() { return *seen_.Lock(); }

 private:
  struct Frame {
    char type = 0;
    std::uint32_t stream = 0;
    std::string_view payload;
  };
  void Run();
  void Serve(int fd);
  // Returns whether the connection goes on.
  bool OnFrame(int fd, const Frame& frame);

  const Deaf deaf_;
  const Answers answers_;
  std::atomic<bool> stopping_{false};
  Guarded<Seen> seen_;
  std::uint32_t held_ = 0;  // The stream whose answer waits for a PING.
  Thread thread_;
};

}  // namespace http_test
