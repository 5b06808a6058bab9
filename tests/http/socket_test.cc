// The end of a write that the kernel does not take, which a socket under TLS keeps.
#include "http/socket.h"

#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "http/tls_context.h"
#include "support.h"

namespace http_test {
namespace {

// A socket under TLS on a loop, which runs on the test's thread, and OpenSSL's own client as its
// peer. Neither blocks.
struct TlsPair {
  TlsPair() {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    peer_fd = ends[0];
    socket = std::make_unique<Socket>(*loop, ends[1]);
    const SslContext server = NewContext(TLS_server_method()).value();
    REQUIRE(UsePair(server.get(), Pki().server).ok());
    REQUIRE(socket->StartTlsServer(server).ok());
    const SslContext client = NewContext(TLS_client_method()).value();
    peer = SSL_new(client.get());
    SSL_set_fd(peer, peer_fd);
    SSL_set_connect_state(peer);
    for (int i = 0; i < 4; ++i) {
      (void)SSL_do_handshake(peer);
      socket->NoteReadable();
      handshake = socket->Handshake();
    }
  }
  TlsPair(const TlsPair&) = delete;
  TlsPair& operator=(const TlsPair&) = delete;
  ~TlsPair() {
    SSL_free(peer);
    close(peer_fd);
    socket.reset();
    loop->Stop();
  }

  // Reads what has come, and adds it to `came`.
  void ReadSome() {
    std::array<char, 20'000> part{};
    for (;;) {
      const int count = SSL_read(peer, part.data(), part.size());
      if (count <= 0) break;
      came.append(part.data(), static_cast<std::size_t>(count));
    }
    const std::string error = TakeSslError();
    if (broken.empty()) broken = error;
  }

  const std::shared_ptr<Loop> loop = Loop::Create(NullLogSink());
  int peer_fd = -1;
  std::unique_ptr<Socket> socket;
  SSL* peer = nullptr;
  Io handshake = Io::kFailed;
  std::string came;
  std::string broken;  // Why it can read no more.
};

std::string Written(std::size_t round) {
  return std::string(60'000, static_cast<char>('a' + round % 26));
}

// Fills the way to the peer; returns all bytes written, the end of which is kept.
std::string Fill(TlsPair& pair) {
  std::string sent;
  IoResult written{Io::kOk};
  for (std::size_t round = 0; written.state == Io::kOk; ++round) {
    sent += Written(round);
    written = pair.socket->Write(Written(round));
  }
  REQUIRE(written.state == Io::kWantWrite);
  REQUIRE(pair.socket->unsent() > 0);
  return sent;
}

void Drain(TlsPair& pair) {
  do {
    pair.ReadSome();
  } while (pair.socket->Flush().state == Io::kWantWrite);
  CHECK(pair.socket->unsent() == 0);
  pair.ReadSome();
}

TEST_CASE("http: an alert comes behind the records that are kept", "[http]") {
  TlsPair pair;
  REQUIRE(pair.handshake == Io::kOk);
  const std::string sent = Fill(pair);
  const std::size_t kept = pair.socket->unsent();

  constexpr std::string_view kBadRecord("\x17\x03\x03\x00\x20 no 32 bytes that anybody encrypted",
                                        37);
  REQUIRE(write(pair.peer_fd, kBadRecord.data(), kBadRecord.size()) ==
          static_cast<ssize_t>(kBadRecord.size()));
  pair.socket->NoteReadable();
  std::array<char, 64> input{};
  CHECK(pair.socket->Read(input).state == Io::kFailed);
  CHECK(pair.socket->unsent() > kept);
  Drain(pair);

  CHECK((pair.came == sent));
  CHECK(pair.broken.ends_with("alert bad record mac"));
}

TEST_CASE("http: a change of keys comes behind the records that are kept", "[http]") {
  TlsPair pair;
  REQUIRE(pair.handshake == Io::kOk);
  const std::string sent = Fill(pair);

  // The socket answers with a change of its own, in front of what it writes next.
  REQUIRE(SSL_key_update(pair.peer, SSL_KEY_UPDATE_REQUESTED) == 1);
  REQUIRE(SSL_do_handshake(pair.peer) == 1);
  pair.socket->NoteReadable();
  std::array<char, 64> input{};
  CHECK(pair.socket->Read(input).state == Io::kWantRead);
  Drain(pair);
  CHECK(pair.socket->Write("after").state == Io::kOk);
  pair.ReadSome();

  CHECK((pair.came == sent + "after"));
  CHECK(pair.broken.empty());
}

TEST_CASE("http: what a socket keeps can be dropped, and is nothing once all is sent", "[http]") {
  TlsPair pair;
  REQUIRE(pair.handshake == Io::kOk);
  CHECK(pair.socket->Write("hello").state == Io::kOk);
  CHECK(pair.socket->unsent() == 0);
  pair.ReadSome();
  CHECK(pair.came == "hello");

  while (pair.socket->Write(Written(0)).state == Io::kOk) {
  }
  CHECK(pair.socket->unsent() > 0);
  pair.socket->DropUnsent();
  CHECK(pair.socket->unsent() == 0);
}

}  // namespace
}  // namespace http_test
