#include "frame_server.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <utility>

namespace http_test {
namespace {

constexpr std::size_t kPrefaceBytes = 24;
constexpr std::size_t kHeadBytes = 9;

std::size_t NumberIn(std::string_view bytes) {
  std::size_t number = 0;
  for (const char byte : bytes) number = (number << 8U) | static_cast<unsigned char>(byte);
  return number;
}

std::size_t PayloadBytes(std::string_view frames) { return NumberIn(frames.substr(0, 3)); }

void Send(int fd, std::string_view bytes) {
  (void)send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

// Returns `frames` with `stream` in the place of stream 1.
std::string OnStream(std::string frames, std::uint32_t stream) {
  for (std::size_t at = 0; at + kHeadBytes <= frames.size();) {
    const std::string_view head = std::string_view(frames).substr(at, kHeadBytes);
    const std::size_t next = at + kHeadBytes + PayloadBytes(head);
    if (NumberIn(head.substr(5)) == 1) {
      for (int i = 0; i < 4; ++i) frames[at + 5 + i] = static_cast<char>(stream >> (24 - 8 * i));
    }
    at = next;
  }
  return frames;
}

}  // namespace

Deaf::Deaf(bool listens) : fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&at), size) == 0);
  REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) == 0);
  port = ntohs(at.sin_port);
  if (listens) Listen();
}

Deaf::~Deaf() { close(fd); }

void Deaf::Listen() const { REQUIRE(listen(fd, 16) == 0); }

FrameServer::FrameServer(Answers answers, bool listens)
    : deaf_(listens), answers_(std::move(answers)) {
  if (listens) thread_ = Thread("frames", [this] { Run(); });
}

void FrameServer::Listen() {
  deaf_.Listen();
  thread_ = Thread("frames", [this] { Run(); });
}

FrameServer::~FrameServer() {
  stopping_.store(true);
  (void)shutdown(deaf_.fd, SHUT_RDWR);
  if (thread_.joinable()) thread_.Join();
}

void FrameServer::Run() {
  while (!stopping_.load()) {
    const int fd = accept4(deaf_.fd, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    ++seen_.Lock()->connections;
    Serve(fd);
    close(fd);
  }
}

void FrameServer::Serve(int fd) {
  Send(fd, std::string_view("\0\0\0\x04\0\0\0\0\0", 9));  // Settings, all of them the default.
  std::string came;
  std::string buffer(4096, '\0');
  for (std::size_t at = kPrefaceBytes;;) {
    const ssize_t count = recv(fd, buffer.data(), buffer.size(), 0);
    if (count <= 0) return;
    came.append(buffer, 0, static_cast<std::size_t>(count));
    while (at + kHeadBytes <= came.size()) {
      const std::string_view head = std::string_view(came).substr(at, kHeadBytes);
      const std::size_t next = at + kHeadBytes + PayloadBytes(head);
      if (next > came.size()) break;
      const auto stream = static_cast<std::uint32_t>(NumberIn(head.substr(5)));
      const Frame frame{head[3], stream,
                        std::string_view(came).substr(at + kHeadBytes, next - at - kHeadBytes)};
      at = next;
      if (!OnFrame(fd, frame)) return;
    }
  }
}

bool FrameServer::OnFrame(int fd, const Frame& frame) {
  std::size_t index = 0;
  {
    auto seen = seen_.Lock();
    seen->types += static_cast<char>('0' + frame.type);
    if (frame.type == 0) seen->data += frame.payload;
    if (frame.type == 1) ++seen->requests;
    index = seen->requests - 1;
  }
  std::uint32_t stream = frame.type == 1 ? frame.stream : 0;
  if (frame.type == 6) stream = std::exchange(held_, 0);
  if (stream == 0 || index >= answers_.size()) return true;
  const FrameAnswer& answer = answers_[index];
  if (answer.after_ping && frame.type == 1) {
    held_ = stream;
    return true;
  }
  Send(fd, OnStream(answer.frames, stream));
  return !answer.closes;
}

}  // namespace http_test
