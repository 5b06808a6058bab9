// The bytes of a source that are put into the frame which asks for them.
#include "http/frame_writer.h"

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

#include "apiserver/base/memory_budget.h"
#include "http/body_queue.h"

namespace http_test {
namespace {

using apiserver::MemoryBudget;
using apiserver::http::BodyQueue;
using apiserver::http::ChunkWriter;
using apiserver::http::FrameWriter;

struct Frame {
  explicit Frame(std::size_t room) : writer(text, room, queue) {}
  // Returns what waits behind the frame.
  std::string Rest() {
    std::string rest;
    queue.AppendTo(rest, queue.size());
    return rest;
  }

  MemoryBudget memory;
  BodyQueue queue{memory.output};
  std::string text = "header";
  FrameWriter writer;
};

void Share(ChunkWriter& out, std::string text) {
  const auto owner = std::make_shared<const std::string>(std::move(text));
  out.Write(owner, *owner);
}

TEST_CASE("http: bytes that fit into a frame do not pass through the queue", "[http]") {
  Frame frame(10);
  CHECK(frame.writer.room() == 10);

  frame.writer.Write("abc");
  frame.writer.Take("de");
  Share(frame.writer, "fg");
  frame.writer.Gather([](std::string& text) { text += "hi"; });

  CHECK(frame.text == "headerabcdefghi");
  CHECK(frame.queue.empty());
  CHECK(frame.writer.bytes() == 9);
  CHECK(frame.writer.room() == 1);
}

TEST_CASE("http: bytes that find no room in a frame wait, and those after them too", "[http]") {
  Frame frame(4);
  frame.writer.Write("ab");

  SECTION("copied") {
    frame.writer.Write("cdef");
    CHECK(frame.text == "headerabcd");
  }
  SECTION("gathered") {
    frame.writer.Gather([](std::string& text) { text += "cdef"; });
    CHECK(frame.text == "headerabcd");
  }
  SECTION("taken: they are not cut") {
    frame.writer.Take("cdef");
    CHECK(frame.text == "headerab");
  }
  SECTION("shared: they are not cut") {
    Share(frame.writer, "cdef");
    CHECK(frame.text == "headerab");
  }
  frame.writer.Write("g");
  frame.writer.Gather([](std::string& text) { text += "h"; });

  CHECK(frame.text.substr(6) + frame.Rest() == "abcdefgh");
}

TEST_CASE("http: what a gathering that throws has appended is taken back", "[http]") {
  Frame frame(10);
  frame.writer.Write("ab");
  const auto fail = [](std::string& text) {
    text += "lost";
    throw std::runtime_error("no more");
  };

  CHECK_THROWS_AS(frame.writer.Gather(fail), std::runtime_error);

  CHECK(frame.text == "headerab");
  CHECK(frame.writer.bytes() == 2);
  CHECK(frame.queue.empty());
}

TEST_CASE("http: a frame and the queue behind it hold all bytes in order", "[http]") {
  std::mt19937 random(7);
  const auto below = [&random](std::size_t bound) { return random() % bound; };
  for (int round = 0; round < 500; ++round) {
    const std::size_t room = 1 + below(3000);
    Frame frame(room);
    std::string all;
    for (std::size_t i = below(12); i > 0; --i) {
      const std::string part(below(1200), static_cast<char>('a' + i));
      all += part;
      switch (below(4)) {
        case 0:
          frame.writer.Write(part);
          break;
        case 1:
          frame.writer.Take(part);
          break;
        case 2:
          Share(frame.writer, part);
          break;
        default:
          frame.writer.Gather([&part](std::string& text) { text += part; });
      }
    }
    REQUIRE(frame.writer.bytes() <= room);
    REQUIRE(frame.writer.bytes() == frame.text.size() - 6);
    REQUIRE(frame.text.substr(6) + frame.Rest() == all);
  }
}

}  // namespace
}  // namespace http_test
