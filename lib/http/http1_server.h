#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/driver.h"
#include "http/http1_body.h"
#include "http/http1_head.h"
#include "http/server_config.h"
#include "http/tunnel.h"

namespace apiserver::inline v0::http {

// The requests of one connection, one at a time.
class Http1Server final : public Protocol, public ServerStream, public TunnelEnd {
 public:
  Http1Server(Wire& wire, std::shared_ptr<const ServerConfig> config, Origin origin)
      : wire_(wire),
        config_(std::move(config)),
        origin_(std::move(origin)),
        scanner_(config_->options.header_bytes_max, config_->options.header_fields_max),
        waiting_since_(wire.loop()->now()) {}

  // --- Protocol.
  void Receive(std::string_view bytes) override;
  void Produce(std::string& out, std::size_t limit) override;
  State state() const override { return state_; }
  bool wants_read() const override;
  bool linger() const override { return linger_; }
  bool OnReadEnd() override;
  bool write_ended() const override;
  std::optional<Clock::Monotonic> deadline() const override;
  void Drain() override;
  std::optional<Clock::Monotonic> wake_at() const override;
  void OnClosed(const Status& why) override;

  // --- ServerStream.
  void OnAnswer() override;
  void OnBodyReady() override {
    source_waits_ = false;
    wire_.MarkNews();
  }
  void OnBodyWanted() override;
  void OnBodyConsumed(std::size_t /*bytes*/) override {
    process_again_ = true;
    wire_.MarkDirty();
  }
  void Cut() override;

  // --- TunnelEnd.
  void OnTunnelRead() override {
    process_again_ = true;
    wire_.MarkDirty();
  }
  void OnTunnelWrite(std::string bytes) override;
  void OnTunnelPour(std::unique_ptr<BodySource> body) override;
  void OnTunnelCloseWrite() override;
  void OnTunnelClose() override {
    linger_ = !read_ended_;
    Finish();
  }
  void OnTunnelCancel() override {
    state_ = State::kBroken;
    wire_.MarkDirty();
  }

 private:
  // Limits how much of an unwanted body is read to keep the connection, as in Go's net/http.
  static constexpr std::uint64_t kDiscardBytesMax = 256 << 10;

  enum class Answer { kNone, kBody, kTunnel };

  std::size_t Process(std::string_view in);
  std::size_t ProcessSome(std::string_view in);
  std::size_t ProcessHead(std::string_view in);
  std::size_t ProcessBody(std::string_view in);
  void ProcessLeftover();
  void TellReadEnd();
  void Begin(std::unique_ptr<Asked> asked, const Framing& framing);
  void Refuse(int code);
  void Finish();
  void WriteHead(const ResponseHead& head, ExchangeDriver::Kind kind);
  void WriteVerbatim(const ResponseHead& head);
  void OpenTunnel();
  template <class Call>
  void GuardTunnel(Call call);
  bool PullBody(std::string& out, std::size_t limit);
  bool PullTunnel(std::string& out, std::size_t limit);
  bool PullChunk(std::string& out, std::size_t room);
  bool Filled(ExchangeDriver::FillState fill, std::string& out);
  void AnswerDone();
  void NextRequest();

  Wire& wire_;
  const std::shared_ptr<const ServerConfig> config_;
  const Origin origin_;
  State state_ = State::kOpen;
  HeadScanner scanner_;
  std::string in_;  // Received, not yet used.
  bool head_begun_ = false;
  bool first_ = true;
  Clock::Monotonic waiting_since_;  // The start of waiting for a head, or for its first byte.

  std::shared_ptr<ExchangeDriver> exchange_;
  BodyDecoder body_;
  std::uint64_t discarded_ = 0;
  bool expect_continue_ = false;
  bool close_after_ = false;
  bool head_only_ = false;
  bool http10_ = false;
  bool draining_ = false;
  std::optional<Clock::Monotonic> drain_until_;  // When an idle connection closes.
  bool linger_ = false;

  Answer answer_ = Answer::kNone;
  bool processing_ = false;
  bool answer_waits_ = false;  // Until what was received is processed.
  bool chunked_ = false;
  bool source_waits_ = false;
  bool process_again_ = false;
  std::string control_;  // Heads, before the body.
  std::shared_ptr<TunnelLink> tunnel_;
  std::optional<TunnelQueue> tunnel_out_;
  bool pouring_ = false;
  bool read_ended_ = false;   // The tunnel's peer has sent its last.
  bool write_ended_ = false;  // So has this side.
};

// The callbacks of a tunnel are the host's; nothing they throw may reach the loop.
template <class Call>
void Http1Server::GuardTunnel(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    Log(*config_->options.log, LogLevel::kError, "exception in a tunnel",
        {{"error", error.what()}});
    Finish();
  }
}

}  // namespace apiserver::inline v0::http
