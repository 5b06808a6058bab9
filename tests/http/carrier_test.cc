// The order in which a loop's connections have their turn.
#include "http/carrier.h"

#include <sys/socket.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support.h"

namespace http_test {
namespace {

using apiserver::http::Carrier;
using apiserver::http::Protocol;

// Has `left` writes to make, each of them alone, and tells of them and of what it receives.
struct Chatter final : Protocol {
  void Receive(std::string_view bytes) override { on_input(bytes); }
  void Produce(std::string& out, std::size_t /*limit*/) override {
    if (left == 0) return;
    --left;
    out += '.';
    on_output();
  }
  State state() const override { return State::kOpen; }
  bool wants_read() const override { return true; }
  std::optional<Clock::Monotonic> deadline() const override { return std::nullopt; }
  void Drain() override {}
  void OnClosed(const Status& /*why*/) override {}

  int left = 0;
  std::function<void()> on_output = [] {};
  std::function<void(std::string_view)> on_input = [](std::string_view) {};
};

// One end of a pair of sockets, which a loop carries. The test has the other.
struct CarriedChatter {
  explicit CarriedChatter(const std::shared_ptr<Loop>& loop) {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    peer = ends[0];
    auto made = std::make_unique<Chatter>();
    chatter = made.get();
    Carrier::Setup setup{.loop = loop,
                         .fd = ends[1],
                         .handshake_timeout = std::chrono::hours(1),
                         .write_stall_timeout = std::chrono::hours(1)};
    setup.make_protocol = [&made](Carrier&) { return std::move(made); };
    carrier = std::make_shared<Carrier>(std::move(setup));
    carrier->Start();
  }
  CarriedChatter(const CarriedChatter&) = delete;
  CarriedChatter& operator=(const CarriedChatter&) = delete;
  ~CarriedChatter() {
    carrier->Close(Status::Ok());
    close(peer);
  }

  int peer = -1;
  Chatter* chatter = nullptr;
  std::shared_ptr<Carrier> carrier;
};

TEST_CASE("http: a connection that has much to send lets what arrives be looked at in between",
          "[http]") {
  constexpr int kWritesOfATurn = 64;
  const auto loop = Loop::Create(NullLogSink());
  int writes = 0;
  std::optional<int> writes_before_input;
  CarriedChatter sender(loop);
  CarriedChatter asker(loop);
  sender.chatter->left = 4 * kWritesOfATurn;
  // The request comes when the second turn has begun.
  sender.chatter->on_output = [&] {
    if (++writes == kWritesOfATurn + 1) REQUIRE(write(asker.peer, "?", 1) == 1);
  };
  asker.chatter->on_input = [&](std::string_view) { writes_before_input = writes; };

  sender.carrier->MarkNews();
  for (int i = 0; i < 10; ++i) loop->RunReady();

  CHECK(writes == 4 * kWritesOfATurn);
  REQUIRE(writes_before_input);
  CHECK(*writes_before_input <= 2 * kWritesOfATurn);
}

}  // namespace
}  // namespace http_test
