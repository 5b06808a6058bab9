#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/executor.h"
#include "http/loop.h"
#include "http/protocol.h"
#include "http/server_config.h"

// A server's protocol machine fed from memory, without socket, thread or pool: what the HTTP fuzz
// targets share.
namespace apiserver_fuzz {

namespace http = apiserver::http;

// Runs what it is given at once, where it is.
class InlinePool final : public apiserver::Executor {
 public:
  void Post(Task task) override { task(); }
  Cancel PostAfter(std::chrono::nanoseconds /*delay*/, Task /*task*/) override {
    return [] {};
  }
  bool may_block() const override { return true; }
  bool Inside() const override { return true; }
};

class MemoryWire final : public http::Wire {
 public:
  explicit MemoryWire(std::shared_ptr<http::Loop> loop) : loop_(std::move(loop)) {}
  void MarkDirty() override {}
  const std::shared_ptr<http::Loop>& loop() override { return loop_; }

 private:
  std::shared_ptr<http::Loop> loop_;
};

// A body in two pieces.
class TwoPieces final : public http::BodySource {
 public:
  http::Pull Next(http::ChunkWriter& out, const apiserver::Waker& waker) override {
    out.Write("piece");
    if (std::exchange(second_, true)) return http::Pull::kEnd;
    waker.Wake();
    return http::Pull::kWait;
  }

 private:
  bool second_ = false;
};

// Takes a stream as it comes, pausing after each piece, and sends it back where it may.
class Streamed final : public http::StreamSink {
 public:
  void OnData(std::string_view bytes) override {
    came += bytes.size();
    http::ReadStream& stream = tunnel ? *tunnel : *body;
    stream.Pause();
    if (tunnel) tunnel->Write(std::string(bytes));
    stream.Resume();
  }
  void OnEnd(const apiserver::Status& status) override {
    if (resume) (*resume)(status.ok() ? Answered() : http::Step(status));
    tunnel.reset();
    body.reset();
  }
  http::Step Answered() {
    exchange->writer().Send({}, std::to_string(came));
    return http::Step::Done();
  }

  std::shared_ptr<http::Exchange> exchange;
  std::unique_ptr<http::ReadStream> body;
  std::unique_ptr<http::Tunnel> tunnel;
  std::optional<http::Resume> resume;
  std::size_t came = 0;
};

inline bool IsStreamed(const http::Exchange& exchange) {
  return exchange.request().method == "PUT" || exchange.request().IsUpgrade();
}

inline http::Step HandleStreamed(http::Exchange& exchange) {
  const auto streamed = std::make_shared<Streamed>();
  if (exchange.request().IsUpgrade()) {
    const apiserver::Status opened =
        exchange.writer().Upgrade({.code = 101}, [streamed](std::unique_ptr<http::Tunnel> tunnel) {
          streamed->tunnel = std::move(tunnel);
          streamed->tunnel->Start(streamed);
        });
    return opened.ok() ? http::Step::Done() : http::Step(opened);
  }
  streamed->exchange = exchange.Share();
  streamed->body = exchange.OpenBody({}).value();
  return http::Step::Later([streamed](http::Resume resume) {
    streamed->resume.emplace(std::move(resume));
    streamed->body->Start(streamed);
  });
}

inline http::Step Handle(http::Exchange& exchange) {
  if (IsStreamed(exchange)) return HandleStreamed(exchange);
  if (exchange.request().method == "GET") {
    exchange.writer().Stream({}, std::make_unique<TwoPieces>());
    return http::Step::Done();
  }
  return http::Step::OnPool([&exchange] {
    exchange.writer().Send({}, *exchange.body());
    return http::Step::Done();
  });
}

class CollectFilter final : public http::Filter {
 public:
  std::string_view name() const override { return "collect"; }
  http::Step Begin(http::Exchange& exchange) const override {
    return IsStreamed(exchange) ? http::Step::Next() : exchange.CollectBody(4096);
  }
};

using MakeProtocol = std::unique_ptr<http::Protocol> (*)(http::Wire&,
                                                         std::shared_ptr<const http::ServerConfig>,
                                                         http::Origin);

// Feeds `bytes` in pieces, whose size the first byte gives; returns what the server said.
inline std::string Feed(MakeProtocol make, const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return {};
  const std::size_t piece = bytes[0] == 0 ? size : bytes[0];
  InlinePool pool;
  http::Service service;
  service.filters.push_back(std::make_unique<CollectFilter>());
  service.handler = Handle;
  service.pool = &pool;
  auto config = std::make_shared<http::ServerConfig>();
  config->options.header_bytes_max = 8192;
  config->service = &service;
  const auto loop = http::Loop::Create(apiserver::NullLogSink());
  MemoryWire wire(loop);
  const auto protocol = make(wire, config, http::Origin{});
  std::string said;
  for (std::size_t at = 1; at < size; at += piece) {
    if (protocol->state() != http::Protocol::State::kOpen || !protocol->wants_read()) break;
    const std::size_t count = std::min(piece, size - at);
    protocol->Receive({reinterpret_cast<const char*>(bytes) + at, count});
    loop->RunReady();
    protocol->Produce(said, said.size() + (64 << 10));
    loop->RunReady();
  }
  protocol->OnClosed(apiserver::Status());
  loop->RunReady();
  loop->Stop();
  return said;
}

}  // namespace apiserver_fuzz
