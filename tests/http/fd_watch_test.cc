#include "http/fd_watch.h"

#include <sys/socket.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "support.h"

namespace http_test {
namespace {

struct ReadyJournal final : FdEvents {
  explicit ReadyJournal(Journal& j) : journal(j) {}
  void OnReadable() override { journal.Add("input"); }
  void OnWritable() override { journal.Add("room"); }
  Journal& journal;
};

// A socket that is watched on a loop, which runs on the test's thread, and its peer.
struct WatchedPair {
  WatchedPair() {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    peer = ends[0];
    watch = std::make_unique<FdWatch>(*loop, ends[1]);
  }
  WatchedPair(const WatchedPair&) = delete;
  WatchedPair& operator=(const WatchedPair&) = delete;
  ~WatchedPair() {
    ClosePeer();
    loop->Stop();
  }

  void Send(std::string_view bytes) const {
    REQUIRE(write(peer, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  void ClosePeer() {
    if (peer >= 0) close(std::exchange(peer, -1));
  }
  ssize_t Read() const {
    std::array<char, 64> into{};
    return read(watch->fd(), into.data(), into.size());
  }
  void AwaitInput() { watch->AwaitReadable(std::make_shared<ReadyJournal>(journal)); }
  std::string Told() {
    loop->RunReady();
    return journal.Text();
  }

  const std::shared_ptr<Loop> loop = Loop::Create(NullLogSink());
  Journal journal;
  int peer = -1;
  std::unique_ptr<FdWatch> watch;
};

TEST_CASE("http: input is told once to who waits, now or later", "[http]") {
  WatchedPair pair;
  pair.AwaitInput();
  CHECK(pair.Told().empty());
  pair.Send("a");
  CHECK(pair.Told() == "input");
  // It waits for more than what has been told.
  CHECK(pair.Read() == 1);
  pair.AwaitInput();
  CHECK(pair.Told() == "input");
  pair.Send("b");
  CHECK(pair.Told() == "input input");

  // This input comes while no reader waits.
  CHECK(pair.Read() == 1);
  pair.Send("c");
  CHECK(pair.Told() == "input input");
  pair.AwaitInput();
  CHECK(pair.Told() == "input input input");
}

TEST_CASE("http: a reader that takes no more than there is learns of the end", "[http]") {
  WatchedPair pair;
  pair.Send("last");
  pair.ClosePeer();
  pair.AwaitInput();
  CHECK(pair.Told() == "input");
  CHECK(pair.Read() == 4);
  pair.AwaitInput();
  CHECK(pair.Told() == "input input");
  CHECK(pair.Read() == 0);
}

TEST_CASE("http: a reader that has left something has another turn", "[http]") {
  WatchedPair pair;
  pair.watch->AwaitTurn(std::make_shared<ReadyJournal>(pair.journal));
  CHECK(pair.journal.Text().empty());
  CHECK(pair.Told() == "input");
}

TEST_CASE("http: room is told after a write that found none", "[http]") {
  WatchedPair pair;
  const std::string much(64 << 10, 'x');
  while (write(pair.watch->fd(), much.data(), much.size()) > 0) {
  }
  pair.watch->AwaitWritable(std::make_shared<ReadyJournal>(pair.journal));
  CHECK(pair.Told().empty());
  std::string into(much.size(), ' ');
  while (read(pair.peer, into.data(), into.size()) > 0) {
  }
  CHECK(pair.Told() == "room");
  // A peer that has ended its direction may still be slow.
  while (write(pair.watch->fd(), much.data(), much.size()) > 0) {
  }
  REQUIRE(shutdown(pair.peer, SHUT_WR) == 0);
  pair.watch->AwaitWritable(std::make_shared<ReadyJournal>(pair.journal));
  CHECK(pair.Told() == "room");
  pair.ClosePeer();
  CHECK(pair.Told() == "room room");
}

TEST_CASE("http: who waits is let go when the descriptor is closed, or with the loop", "[http]") {
  const bool closed = GENERATE(true, false);
  WatchedPair pair;
  pair.Send("a");
  CHECK(pair.Told().empty());
  auto reader = std::make_shared<ReadyJournal>(pair.journal);
  auto writer = std::make_shared<ReadyJournal>(pair.journal);
  const std::weak_ptr<FdEvents> waits = reader;
  const std::weak_ptr<FdEvents> waits_too = writer;
  pair.watch->AwaitReadable(std::move(reader));
  pair.watch->AwaitWritable(std::move(writer));
  if (closed) {
    pair.watch->Close();
    CHECK(pair.watch->fd() < 0);
  } else {
    pair.watch.reset();
  }
  CHECK(waits.expired());
  CHECK(waits_too.expired());
  CHECK(pair.Told().empty());
}

// The receiver of the input closes the socket, which has room.
TEST_CASE("http: nothing is told of a descriptor that was closed meanwhile", "[http]") {
  struct Closing final : FdEvents {
    explicit Closing(WatchedPair& p) : pair(p) {}
    void OnReadable() override {
      pair.journal.Add("closed");
      pair.watch->Close();
    }
    void OnWritable() override { pair.journal.Add("room"); }
    WatchedPair& pair;
  };
  WatchedPair pair;
  pair.Send("a");
  pair.watch->AwaitReadable(std::make_shared<Closing>(pair));
  pair.watch->AwaitWritable(std::make_shared<Closing>(pair));
  CHECK(pair.Told() == "closed");
}

// As a process does that the host starts with its descriptors.
TEST_CASE("http: a socket that somebody else has, too, is watched no more once it is closed",
          "[http]") {
  WatchedPair pair;
  const int other = dup(pair.watch->fd());
  REQUIRE(other >= 0);
  pair.AwaitInput();
  pair.watch.reset();
  pair.Send("a");
  CHECK(pair.Told().empty());
  close(other);
}

}  // namespace
}  // namespace http_test
