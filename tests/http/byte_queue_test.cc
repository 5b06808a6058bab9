// The queue of unsent bytes, and the count that stops a writer.
#include <catch2/catch.hpp>

#include <string>

#include "http/byte_queue.h"

namespace http_test {
namespace {

using apiserver::http::ByteQueue;
using apiserver::http::kWriteRoomBytes;
using apiserver::http::WriteRoom;

TEST_CASE("http: a byte queue gives back its pieces in order, cut where the room ends", "[http]") {
  ByteQueue queue;
  queue.Push("abc");
  queue.Push("");
  queue.Push("defg");

  std::string out = "> ";
  CHECK(queue.TakeTo(out, 6) == 4);
  CHECK(out == "> abcd");
  std::string room(2, '.');
  CHECK(queue.TakeTo(room) == 2);
  CHECK(room == "ef");
  CHECK(queue.size() == 1);
  CHECK(queue.TakeTo(out, 100) == 1);
  CHECK(out == "> abcdg");
  CHECK(queue.empty());

  queue.Push("hij");
  queue.Push("k");
  CHECK(queue.TakePieceTo(out, out.size()) == 0);
  CHECK(queue.TakePieceTo(out, out.size() + 2) == 2);
  CHECK(queue.TakePieceTo(out, 100) == 1);
  CHECK(out == "> abcdghij");
  CHECK(queue.Clear() == 1);
  CHECK(queue.TakeTo(out, 100) == 0);
}

TEST_CASE("http: a writer that was told to stop is told once when it may go on", "[http]") {
  WriteRoom room;
  CHECK(room.Promise(kWriteRoomBytes - 1));
  CHECK_FALSE(room.Promise(1));
  CHECK_FALSE(room.Promise(10));

  CHECK_FALSE(room.Release(10));
  CHECK(room.Release(1));
  CHECK_FALSE(room.Release(1));
  CHECK(room.Promise(1));
}

}  // namespace
}  // namespace http_test
