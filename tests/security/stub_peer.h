#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

namespace apiserver::security {

// A server that says the same to whoever connects, whatever they say, and reads until they go.
class StubPeer {
 public:
  explicit StubPeer(std::string says) : says_(std::move(says)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    ::listen(listener_, 4);
    socklen_t size = sizeof(address);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~StubPeer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  int port() const { return port_; }

 private:
  void Serve() {
    for (;;) {
      const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) return;
      std::size_t sent = 0;
      while (sent < says_.size()) {
        const ssize_t now = ::send(peer, says_.data() + sent, says_.size() - sent, MSG_NOSIGNAL);
        if (now <= 0) break;
        sent += static_cast<std::size_t>(now);
      }
      std::array<char, 4096> ignored{};
      while (::recv(peer, ignored.data(), ignored.size(), 0) > 0) {
      }
      ::close(peer);
    }
  }

  std::string says_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace apiserver::security
