#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace apiserver::inline v0::security {

// A server that says the same to whoever connects, whatever they say, and reads until they go. What
// it answers comes once it has read the whole head of an HTTP/2 request.
class StubPeer {
 public:
  explicit StubPeer(std::string says, std::string answers = "")
      : says_(std::move(says)), answers_(std::move(answers)) {
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
  static void Send(int peer, std::string_view text) {
    while (!text.empty()) {
      const ssize_t now = ::send(peer, text.data(), text.size(), MSG_NOSIGNAL);
      if (now <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(now));
    }
  }

  // Whether a client that has said `bytes` has ended the head of its request.
  static bool HasHead(std::string_view bytes) {
    constexpr std::size_t kPrefaceBytes = 24;
    constexpr std::size_t kFrameHeadBytes = 9;
    if (bytes.size() < kPrefaceBytes) return false;
    bytes.remove_prefix(kPrefaceBytes);
    while (bytes.size() >= kFrameHeadBytes) {
      const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
      const std::size_t size = std::size_t{at(0)} << 16 | std::size_t{at(1)} << 8 | at(2);
      if (bytes.size() < kFrameHeadBytes + size) return false;
      constexpr unsigned kHeadersKind = 1;
      constexpr unsigned kContinuationKind = 9;
      constexpr unsigned kEndHeaders = 4;
      const bool of_head = at(3) == kHeadersKind || at(3) == kContinuationKind;
      if (of_head && (at(4) & kEndHeaders) != 0) return true;
      bytes.remove_prefix(kFrameHeadBytes + size);
    }
    return false;
  }

  void Serve() {
    for (;;) {
      const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) return;
      Send(peer, says_);
      std::string heard;
      bool answered = answers_.empty();
      std::array<char, 4096> piece{};
      for (ssize_t size = 0; (size = ::recv(peer, piece.data(), piece.size(), 0)) > 0;) {
        if (answered) continue;
        heard.append(piece.data(), static_cast<std::size_t>(size));
        if (!HasHead(heard)) continue;
        answered = true;
        Send(peer, answers_);
      }
      ::close(peer);
    }
  }

  const std::string says_;
  const std::string answers_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace apiserver::inline v0::security
