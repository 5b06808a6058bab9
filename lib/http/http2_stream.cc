#include "http/http2_stream.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "http/tokens.h"

namespace apiserver::v0::http {
namespace {

// The window of a body that is wanted, so that it comes quickly over long ways too.
constexpr std::int32_t kWantedBodyWindow = 256 << 10;

// NOLINTNEXTLINE(readability-function-size): the parameters are nghttp2's
ssize_t ReadBody(nghttp2_session* /*session*/, std::int32_t /*id*/, std::uint8_t* /*out*/,
                 std::size_t size, std::uint32_t* flags, nghttp2_data_source* source,
                 void* /*user*/) {
  return static_cast<Http2Stream*>(source->ptr)->Read(size, *flags);
}

}  // namespace

// A body that is a stream is ordered once there is some of it. All calls fail only for a stream
// that is gone, of which OnStreamClose tells.
void Http2Stream::SubmitHead(const HeaderBlock& block) {
  nghttp2_data_provider provider{};
  provider.source.ptr = this;
  provider.read_callback = ReadBody;
  if (is_stream_) {
    (void)nghttp2_submit_headers(connection_.session(), NGHTTP2_FLAG_NONE, id_, nullptr,
                                 block.data(), block.size(), nullptr);
  } else {
    (void)nghttp2_submit_response(connection_.session(), id_, block.data(), block.size(),
                                  sending_ ? &provider : nullptr);
  }
  connection_.wire().MarkDirty();
}

void Http2Stream::SubmitData() {
  nghttp2_data_provider provider{};
  provider.source.ptr = this;
  provider.read_callback = ReadBody;
  const int failed =
      nghttp2_submit_data(connection_.session(), NGHTTP2_FLAG_END_STREAM, id_, &provider);
  if (failed == 0) order_ = Order::kGiven;
}

bool Http2Stream::HasWindow() const {
  nghttp2_session* const session = connection_.session();
  return nghttp2_session_get_remote_window_size(session) > 0 &&
         nghttp2_session_get_stream_remote_window_size(session, id_) > 0;
}

void Http2Stream::OnHeadSent() {
  if (!is_stream_ || !exchange || order_ != Order::kNotYet) return;
  order_ = Order::kNone;
  dry_ = HasWindow() && !exchange->FetchBody();
  if (!dry_) SubmitData();
}

void Http2Stream::OnAnswer() {
  if (exchange->kind() == ExchangeDriver::Kind::kSend && connection_.TakesAnswer(*this)) return;
  SubmitAnswer();
}

void Http2Stream::SubmitAnswer() {
  if (!exchange) return;
  const ResponseHead& head = exchange->head();
  const bool bodiless = head.code == 204 || head.code == 304;
  const std::optional<std::uint64_t> bytes = exchange->announced_bytes();
  std::array<char, 16> code{};
  std::array<char, 24> length{};
  HeaderBlock block;
  const char* end = std::to_chars(code.begin(), code.end(), head.code).ptr;
  block.AddStatic(":status", {code.data(), static_cast<std::size_t>(end - code.data())});
  block.AddAll(head.headers);
  block.AddStatic("date", connection_.wire().loop()->Date());
  if (bytes && !bodiless) {
    end = std::to_chars(length.begin(), length.end(), *bytes).ptr;
    block.AddStatic("content-length",
                    {length.data(), static_cast<std::size_t>(end - length.data())});
  }
  bool close = head.close_connection;
  for (const std::string_view value : head.headers.GetAll("Connection")) {
    close |= HasToken(value, "close");
  }
  const bool empty = bytes == 0U;
  sending_ = !bodiless && !empty && exchange->request().method != "HEAD";
  ended_ = !sending_;
  is_stream_ = sending_ && exchange->kind() == ExchangeDriver::Kind::kStream;
  SubmitHead(block);
  if (close) connection_.Drain();
}

ssize_t Http2Stream::Read(std::size_t size, std::uint32_t& flags) {
  if (dry_ || !exchange) {
    order_ = Order::kDeferred;
    return NGHTTP2_ERR_DEFERRED;
  }
  SessionOutput& output = connection_.output();
  const auto filled = exchange->FillTo(output.BeginData(), size);
  flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  switch (filled.state) {
    case ExchangeDriver::FillState::kData:
      break;
    case ExchangeDriver::FillState::kWait:
      dry_ = true;
      if (filled.bytes > 0) {
        if (!is_stream_) break;
        // The order ends with this frame, and the stream goes on.
        order_ = Order::kNone;
        flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        break;
      }
      output.DropData();
      order_ = Order::kDeferred;
      return NGHTTP2_ERR_DEFERRED;
    case ExchangeDriver::FillState::kEnd:
      ended_ = true;
      flags |= NGHTTP2_DATA_FLAG_EOF;
      break;
    case ExchangeDriver::FillState::kAbort:
      aborted_ = true;
      if (filled.bytes > 0) break;
      output.DropData();
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  return static_cast<ssize_t>(filled.bytes);
}

// nghttp2 asks again only if it is told to, and only once it has been refused.
void Http2Stream::OnBodyReady() {
  dry_ = false;
  if (order_ == Order::kNone) {
    SubmitData();
  } else if (order_ == Order::kDeferred) {
    order_ = Order::kGiven;
    (void)nghttp2_session_resume_data(connection_.session(), id_);
  } else {
    return;
  }
  connection_.wire().MarkNews();
}

void Http2Stream::OnBodyWanted() {
  if (!FitsWindow()) {
    (void)nghttp2_session_set_local_window_size(connection_.session(), NGHTTP2_FLAG_NONE, id_,
                                                kWantedBodyWindow);
    connection_.wire().MarkDirty();
  }
  if (!std::exchange(expect_continue, false)) return;
  HeaderBlock block;
  block.AddStatic(":status", "100");
  (void)nghttp2_submit_headers(connection_.session(), NGHTTP2_FLAG_NONE, id_, nullptr, block.data(),
                               block.size(), nullptr);
  connection_.wire().MarkDirty();
}

bool Http2Stream::FitsWindow() const {
  if (remote_ended) return true;
  const std::int32_t window =
      nghttp2_session_get_stream_effective_local_window_size(connection_.session(), id_);
  return has_length && window > 0 && length <= static_cast<std::uint64_t>(window);
}

void Http2Stream::OnBodyConsumed(std::size_t bytes) {
  (void)nghttp2_session_consume(connection_.session(), id_, bytes);
  connection_.wire().MarkDirty();
}

void Http2Stream::Cut() {
  (void)nghttp2_submit_rst_stream(connection_.session(), NGHTTP2_FLAG_NONE, id_,
                                  NGHTTP2_INTERNAL_ERROR);
  // The exchange is over now; nghttp2 may learn of it when the peer's window allows.
  if (const auto over = std::move(exchange)) {
    (void)nghttp2_session_consume_connection(connection_.session(), over->unread_body());
    over->AnswerOver(false);
  }
  connection_.wire().MarkDirty();
}

}  // namespace apiserver::v0::http
