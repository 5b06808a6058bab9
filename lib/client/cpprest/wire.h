#pragma once

#include <cstdint>

#include "apiserver/base/sync.h"
#include "client/cpprest/cpprest.h"

namespace apiserver::inline v0::client {

// The socket of a connection, by which a call can be ended while cpprestsdk reads. Its own
// cancellation closes the socket beside the thread that reads, which may then find no descriptor; a
// shutdown in the kernel only ends the read.
class Wire {
 public:
  using Tcp = boost::asio::ip::tcp;

  explicit Wire(Tcp protocol) : protocol_(protocol) {}

  // Starts a call.
  void Begin() { state_.Lock()->cut = false; }
  // Called by cpprestsdk before it connects or sends; opens the socket if it is not open. Throws
  // once the call has been cut: cpprestsdk would otherwise repeat it on another connection.
  void Use(Tcp::socket& socket);
  // True if there is a peer at the other end. Any thread, at any time.
  bool Connected();
  // Shuts the socket down, whatever it is used for, connecting and sending too. Any thread, at any
  // time.
  void Cut();

 private:
  struct State {
    bool cut = false;
    int descriptor = -1;
    std::uint64_t cookie = 0;  // The socket's cookie: descriptors of closed sockets are used again.
  };

  // Returns a copy of the descriptor, which the caller closes; -1: the socket is closed, or not
  // open yet. cpprestsdk may close its own at any moment; the copy keeps the socket.
  static int CopyOfDescriptor(const State& state);

  const Tcp protocol_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::client
