#pragma once

#include <cstdint>

#include "apiserver/base/sync.h"
#include "client/cpprest/cpprest.h"

namespace apiserver::inline v0::client {

// The socket of a connection, so that a call can be ended while cpprestsdk reads. Its own
// cancellation closes the socket beside the thread that reads, which then may find no descriptor;
// what the kernel shuts down only ends for that thread.
class Wire {
 public:
  using Tcp = boost::asio::ip::tcp;

  explicit Wire(Tcp protocol) : protocol_(protocol) {}

  // A call begins.
  void Begin() { state_.Lock()->cut = false; }
  // Called by cpprestsdk before it connects or sends; opens the socket if it is not open. Throws
  // once the call has been cut: cpprestsdk would otherwise repeat it on another connection.
  void Use(Tcp::socket& socket);
  // True if there is a peer at the other end. Any thread, at any time.
  bool Connected();
  // Ends whatever is done on the socket, connecting and sending too. Any thread, at any time.
  void Cut();

 private:
  struct State {
    bool cut = false;
    int descriptor = -1;
    std::uint64_t cookie = 0;  // The socket's cookie: descriptors of closed sockets are used again.
  };

  // A copy of the descriptor, which the caller closes; -1: the socket is closed, or not open yet.
  // cpprestsdk may close its own at any moment; the copy keeps the socket.
  static int CopyOfDescriptor(const State& state);

  const Tcp protocol_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::client
