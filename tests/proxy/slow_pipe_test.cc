// Measures the memory that a pipe takes while its reader is slow.
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/status_macros.h"
#include "front.h"
#include "http/talker.h"

namespace proxy_test {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// A backend that writes `bytes` to each client that asks for an upgrade, as fast as it may.
struct Writing {
  explicit Writing(std::size_t bytes)
      : service([this, bytes](http::Exchange& exchange) -> http::Step {
          Executor& loop = exchange.loop();
          RETURN_IF_ERROR(exchange.writer().Upgrade(
              {.code = 101, .headers = {{"Upgrade", "raw"}}},
              [this, &loop, bytes](std::unique_ptr<http::Tunnel> tunnel) {
                talker =
                    std::make_shared<http_test::Talker>(loop, bytes, std::chrono::nanoseconds(-1));
                talker->Begin(std::move(tunnel));
                talker->Resume();
              }));
          return http::Step::Done();
        }),
        server(service.service, Wire::kTlsHttp1) {}

  std::shared_ptr<http_test::Talker> talker;
  TestService service;
  TestServer server;
};

// Relays `bytes`, with TLS on both sides, to a client that takes so many of them a second. Returns
// by how much the heap of the process grew.
std::size_t RelaySlowly(std::size_t bytes, std::size_t bytes_per_second) {
  Writing backend(bytes);
  Front front({.location = {.scheme = "https",
                            .host = "127.0.0.1:" + std::to_string(backend.server.listener().port()),
                            .path = "/"}},
              Wire::kTlsHttp1, {.tls = http::ClientTls()});
  const auto connection = front.server().Connect(/*window_bytes=*/64 << 10);
  const auto stream =
      connection->Open({.target = "/", .headers = {{"Connection", "Upgrade"}, {"Upgrade", "raw"}}})
          .value();
  REQUIRE(stream->Head(Soon())->code == 101);

  const std::size_t before = http_test::HeapBytes();
  std::size_t peak = before;
  const auto began = RealClock().Now();
  std::size_t came = 0;
  for (bool right = true;;) {
    const auto piece = stream->Read(Soon());
    REQUIRE(piece.ok());
    if (piece->empty()) break;
    http_test::CheckTalk(*piece, came, right);
    REQUIRE(right);
    came += piece->size();
    peak = std::max(peak, http_test::HeapBytes());
    const auto due = began + std::chrono::milliseconds(came * 1'000 / bytes_per_second);
    (void)Notification().WaitFor(
        std::chrono::duration_cast<std::chrono::milliseconds>(due - RealClock().Now()));
  }
  CHECK(came == bytes);
  CHECK(backend.talker->stops > 0);
  return peak - before;
}

}  // namespace

TEST_CASE("proxy: a pipe with a slow reader costs little", "[proxy]") {
  CHECK(RelaySlowly(8 * kMegabyte, 16 * kMegabyte) < 2 * kMegabyte);
}

// 64 seconds; run by name.
TEST_CASE("proxy: a pipe's reader that takes 1 MB/s makes the process no larger", "[.rate]") {
  const std::size_t grown = RelaySlowly(64 * kMegabyte, kMegabyte);
  WARN("the heap grew by " << grown);
  CHECK(grown < 2 * kMegabyte);
}

}  // namespace proxy_test
