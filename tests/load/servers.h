#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/http/dialer.h"

namespace load {

// What happened to the requests of all workers.
struct Figures {
  std::atomic<std::size_t> requests{0};
  std::atomic<std::size_t> created{0};
  std::atomic<std::size_t> moves{0};  // To the other server, or to a new connection.
  std::atomic<std::size_t> watch_streams{0};
  std::atomic<std::size_t> watch_events{0};
  std::atomic<std::size_t> relists{0};
  apiserver::Guarded<std::vector<std::string>> failures;

  void Fail(const std::string& what) {
    auto all = failures.Lock();
    if (all->size() < 20) all->push_back(what);
    ++failed;
  }
  std::atomic<std::size_t> failed{0};
};

// The servers that one worker knows, and its connection to one of them. It moves to the next when
// the server says GOAWAY or Connection: close, or refuses to be connected; never otherwise. Used by
// one thread.
class Servers {
 public:
  // `turns`: the connection is given up after so many requests, so that there are handshakes; 0:
  // never.
  Servers(apiserver::http::Dialer& dialer, std::vector<apiserver::http::DialOptions> addresses,
          std::size_t first, std::size_t turns, Figures& figures)
      : dialer_(dialer),
        addresses_(std::move(addresses)),
        at_(first % addresses_.size()),
        turns_(turns),
        figures_(figures) {}

  // A connection that takes requests; null: no server could be reached for long.
  apiserver::http::Connection* Current();
  // Sends `request`, again if it crossed the end of an idle connection. A failure is in the
  // figures.
  apiserver::Result<apiserver::http::ClientResponse> Call(
      const apiserver::http::ClientRequest& request);
  // Whether an error says that nothing was sent.
  static bool NothingSent(const apiserver::Status& status);
  void Leave();

 private:
  // Returns whether `status` may mean that an idle connection was closed while a request was on its
  // way to it, which HTTP/1.1 cannot tell (RFC 9112, 9.5). If the server had begun the request, it
  // fails when it is sent again: its object exists already, or is gone.
  bool CrossedAnEnd(const apiserver::Status& status) const;

  apiserver::http::Dialer& dialer_;
  const std::vector<apiserver::http::DialOptions> addresses_;
  std::size_t at_;
  const std::size_t turns_;
  std::size_t turn_ = 0;
  Figures& figures_;
  std::unique_ptr<apiserver::http::Connection> connection_;
};

}  // namespace load
