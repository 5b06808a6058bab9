#include "storage/etcd/grpc_wire.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apiserver::inline v0::storage::etcd {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Returns the messages in `bytes`, which come in pieces, or the error.
std::string Read(std::string_view bytes, std::size_t piece) {
  MessageReader reader(100);
  std::string text;
  while (!bytes.empty()) {
    std::string_view next = bytes.substr(0, piece);
    bytes.remove_prefix(next.size());
    while (!next.empty()) {
      const auto message = reader.Next(next);
      if (!message.ok()) return std::string(message.status().message());
      if (*message) text += "[" + **message + "]";
    }
  }
  return text;
}

TEST_CASE("storage.etcd: messages are put together from pieces of every length", "[storage.etcd]") {
  CHECK(FrameOf("abc") == std::string("\0\0\0\0\x03"
                                      "abc",
                                      8));
  const std::string bytes =
      FrameOf("one") + FrameOf("") + FrameOf(std::string(100, 'x')) + FrameOf("") + FrameOf("last");
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    INFO(piece);
    CHECK(Read(bytes, piece) == "[one][][" + std::string(100, 'x') + "][][last]");
  }
}

TEST_CASE("storage.etcd: messages that are compressed or too long are refused", "[storage.etcd]") {
  std::string compressed = FrameOf("abc");
  compressed[0] = 1;
  for (std::size_t piece = 1; piece <= compressed.size(); ++piece) {
    CHECK(Read(compressed, piece) == "the message is compressed");
  }
  CHECK(Read(FrameOf(std::string(101, 'x')), 3) == "the message is too long");
  CHECK(Read(std::string("\0\xff\xff\xff\xff", 5), 5) == "the message is too long");
}

TEST_CASE("storage.etcd: a long message is put together whole", "[storage.etcd]") {
  // Longer than the room that is made before its bytes arrive.
  std::string sent((std::size_t{40} << 20U) + 1, 'x');
  for (std::size_t i = 0; i < sent.size(); i += 1000) sent[i] = static_cast<char>('a' + i % 26);
  const std::string bytes = FrameOf(sent) + FrameOf("next");
  MessageReader reader(sent.size());
  std::vector<std::string> read;
  for (std::string_view left = bytes; !left.empty();) {
    std::string_view piece = left.substr(0, 16'384);
    left.remove_prefix(piece.size());
    while (!piece.empty()) {
      auto message = reader.Next(piece);
      REQUIRE(message.ok());
      if (*message) read.push_back(**std::move(message));
    }
  }
  REQUIRE(read.size() == 2);
  CHECK((read[0] == sent));
  CHECK(read[1] == "next");
}

std::string Line(const RpcOutcome& outcome) {
  return std::to_string(static_cast<int>(outcome.code)) + " " + outcome.message;
}

TEST_CASE("storage.etcd: an outcome is read from trailers", "[storage.etcd]") {
  CHECK(OutcomeOf({{"grpc-status", "0"}}).ok());
  CHECK(Line(OutcomeOf({{"grpc-status", "14"}, {"grpc-message", "etcdserver%3A no leader"}})) ==
        "14 etcdserver: no leader");
  // A sequence that is none stays.
  CHECK(Line(OutcomeOf({{"grpc-status", "2"}, {"grpc-message", "50% of %zz and %4"}})) ==
        "2 50% of %zz and %4");
  for (const char* none : {"", "x", "17", "-1", "1x", "99999999999"}) {
    CHECK(OutcomeOf({{"grpc-status", none}}).code == RpcCode::kUnknown);
  }
  CHECK(OutcomeOf(http::Headers()).code == RpcCode::kUnknown);
}

// The table of http-grpc-status-mapping.md.
TEST_CASE("storage.etcd: an answer that is no gRPC has the outcome of its code", "[storage.etcd]") {
  CHECK(OutcomeOfCode(400).code == RpcCode::kInternal);
  CHECK(OutcomeOfCode(401).code == RpcCode::kUnauthenticated);
  CHECK(OutcomeOfCode(403).code == RpcCode::kPermissionDenied);
  CHECK(OutcomeOfCode(404).code == RpcCode::kUnimplemented);
  for (const int code : {429, 502, 503, 504}) {
    CHECK(OutcomeOfCode(code).code == RpcCode::kUnavailable);
  }
  CHECK(Line(OutcomeOfCode(500)) == "2 the server answers 500, not in gRPC");
}

TEST_CASE("storage.etcd: a timeout is told in at most eight digits", "[storage.etcd]") {
  CHECK(TimeoutText(milliseconds(1500)) == "1500m");
  CHECK(TimeoutText(microseconds(1)) == "1m");
  CHECK(TimeoutText(milliseconds(-5)) == "1m");
  CHECK(TimeoutText(std::chrono::hours(24 * 365)) == "99999999m");
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
