#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "http/driver.h"
#include "http/host.h"
#include "http/http1_head.h"
#include "http/http2_line.h"
#include "http/http2_stream.h"
#include "http/nghttp2_session.h"
#include "http/server_config.h"
#include "http/token_bucket.h"
#include "http/tokens.h"

namespace apiserver::v0::http {
namespace {

// The window for unread request bodies of all streams of a connection. Bodies of requests that wait
// are not charged to a tenant yet, so that only this window limits them.
constexpr std::int32_t kConnectionWindow = 4 << 20;
// Limits the decoded heads of a connection's requests in progress. More streams are refused.
constexpr std::size_t kHeadBytesMax = 4 << 20;
// Limits control frames, which cost this side work and the peer next to nothing.
constexpr double kControlBurst = 10'000;
constexpr double kControlPerSecond = 1'000;
// Limits streams that end in RST_STREAM of either side (CVE-2023-44487, CVE-2025-8671).
constexpr double kResetBurst = 1'000;
constexpr double kResetPerSecond = 33;
// A client that sent a PING of its own just now takes the next PING frame for the answer, so the
// server's comes after what is on its way.
constexpr auto kHttp2PingDelay = std::chrono::milliseconds(20);
// Limits how much of a request is still read and dropped once its answer is complete.
constexpr std::uint32_t kDiscardBytes = 16 << 20;
constexpr auto kDiscardTime = std::chrono::milliseconds(1000);

class Http2Server final : public Protocol, public Http2Connection {
 public:
  Http2Server(Wire& wire, std::shared_ptr<const ServerConfig> config, Origin origin);

  void Receive(std::string_view bytes) override;
  void Produce(std::string& out, std::size_t limit) override;
  State state() const override { return state_; }
  bool wants_read() const override { return true; }
  bool linger() const override { return true; }
  std::optional<Clock::Monotonic> deadline() const override;
  std::optional<Clock::Monotonic> wake_at() const override;
  bool output_blocked() const override;
  void Drain() override;
  void OnClosed(const Status& why) override;

  nghttp2_session* session() override { return session_.get(); }
  Wire& wire() override { return wire_; }
  SessionOutput& output() override { return output_; }
  bool TakesAnswer(Http2Stream& stream) override { return line_.TakesAnswer(stream); }

 private:
  static Http2Server& Of(void* user) { return *static_cast<Http2Server*>(user); }
  static Callbacks NewCallbacks();
  int OnBeginHeaders(std::int32_t id);
  int OnHeader(std::int32_t id, std::string_view name, std::string_view value);
  int OnFrame(const nghttp2_frame& frame);
  int OnData(std::int32_t id, std::string_view bytes);
  int OnFrameSent(const nghttp2_frame& frame);
  int OnStreamClose(std::int32_t id, std::uint32_t code);
  void AddPseudo(Http2Stream& stream, std::string_view name, std::string_view value);
  void AddField(Http2Stream& stream, std::string_view name, std::string_view value);
  int OnHeadersEnd(Http2Stream& stream, std::int32_t id, bool ends);
  bool MayBegin(Request& request);
  void Refuse(std::int32_t id, int code);
  void Begin(Http2Stream& stream);
  // Comes before anything else that happens to a stream whose head has arrived.
  void StartArrived() {
    line_.Start([this](Http2Stream& stream) { Begin(stream); });
  }
  Http2Stream* Find(std::int32_t id);
  Http2Stream* Arriving(std::int32_t id);
  void Link(std::unique_ptr<Http2Stream> stream);
  std::unique_ptr<Http2Stream> Unlink(Http2Stream& stream);
  void CountControl(const nghttp2_frame& frame);
  void CountReset();
  void Calm();
  void AskWhetherSeen();
  void FinishDrain();
  void Discard(Http2Stream& stream);
  void EndDiscarding();
  void Abandon(std::int32_t id);
  void CheckFinished();

  Wire& wire_;
  const std::shared_ptr<const ServerConfig> config_;
  const Origin origin_;
  Session session_;
  SessionOutput output_;
  State state_ = State::kOpen;
  std::unique_ptr<Http2Stream> streams_;  // The newest first.
  const std::shared_ptr<ExchangeCount> count_ = std::make_shared<ExchangeCount>();
  std::size_t head_bytes_ = 0;
  TokenBucket controls_{kControlBurst, kControlPerSecond};
  TokenBucket resets_{kResetBurst, kResetPerSecond};
  bool calmed_ = false;
  bool head_open_ = false;
  std::string host_;                 // The last one that was well formed.
  Http2Stream* arriving_ = nullptr;  // The stream of the head that arrives. Null: not known.
  Http2Line line_;
  bool settled_ = false;    // The client's first SETTINGS came.
  Clock::Monotonic since_;  // Idle, or waiting for the rest of a head.
  std::optional<Clock::Monotonic> drain_until_;
  std::optional<Clock::Monotonic> ping_at_;
  bool drained_ = false;
  std::optional<Clock::Monotonic> discard_until_;
};

// ------------------------------------------------------------------------------ the connection

Callbacks Http2Server::NewCallbacks() {
  nghttp2_session_callbacks* made = nullptr;
  nghttp2_session_callbacks_new(&made);
  Callbacks callbacks(made);
  nghttp2_session_callbacks_set_on_begin_headers_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return Of(user).OnBeginHeaders(frame->hd.stream_id);
      });
  nghttp2_session_callbacks_set_on_header_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
               const uint8_t* value, size_t value_size, uint8_t, void* user) {
        return Of(user).OnHeader(frame->hd.stream_id, View(name, name_size),
                                 View(value, value_size));
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return Of(user).OnFrame(*frame);
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      made, [](nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
               void* user) { return Of(user).OnData(id, View(data, size)); });
  nghttp2_session_callbacks_set_send_data_callback(
      made, [](nghttp2_session*, nghttp2_frame*, const uint8_t* header, size_t,
               nghttp2_data_source*, void* user) { return Of(user).output_.EndData(header); });
  nghttp2_session_callbacks_set_on_frame_send_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return Of(user).OnFrameSent(*frame);
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      made, [](nghttp2_session*, int32_t id, uint32_t code, void* user) {
        return Of(user).OnStreamClose(id, code);
      });
  return callbacks;
}

Http2Server::Http2Server(Wire& wire, std::shared_ptr<const ServerConfig> config, Origin origin)
    : wire_(wire),
      config_(std::move(config)),
      origin_(std::move(origin)),
      since_(wire.loop()->now()) {
  nghttp2_option* made = nullptr;
  nghttp2_option_new(&made);
  const Option option(made);
  // Windows are given back as bodies are read, not as they arrive.
  nghttp2_option_set_no_auto_window_update(made, 1);
  nghttp2_option_set_stream_reset_rate_limit(made, static_cast<std::uint64_t>(kResetBurst),
                                             static_cast<std::uint64_t>(kResetPerSecond));
  // nghttp2 keeps closed streams for its priority tree otherwise, which is of no use here.
  nghttp2_option_set_no_closed_streams(made, 1);
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new2(&session, NewCallbacks().get(), this, made);
  session_.reset(session);
  const ListenerOptions& limits = config_->options;
  const std::array<nghttp2_settings_entry, 3> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, static_cast<std::uint32_t>(limits.streams_max)},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(limits.body_buffer_bytes)},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits.header_bytes_max)},
  }};
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  wire_.MarkDirty();
}

void Http2Server::Receive(std::string_view bytes) {
  const ssize_t used = nghttp2_session_mem_recv(
      session_.get(), reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (used < 0) {
    // nghttp2 has queued a GOAWAY about it, which is sent before the connection closes.
    if (state_ == State::kOpen) state_ = State::kFinished;
    (void)nghttp2_session_terminate_session(session_.get(), NGHTTP2_PROTOCOL_ERROR);
  }
  wire_.MarkDirty();
}

void Http2Server::Produce(std::string& out, std::size_t limit) {
  if (state_ == State::kBroken) return;
  if (ping_at_ && wire_.loop()->now() >= *ping_at_) AskWhetherSeen();
  if (drain_until_ && wire_.loop()->now() >= *drain_until_) FinishDrain();
  if (discard_until_ && wire_.loop()->now() >= *discard_until_) EndDiscarding();
  StartArrived();
  line_.BeginOutput();
  const bool sent = output_.Send(session_.get(), out, limit);
  line_.EndOutput();
  line_.EndSent();
  if (!sent) {
    state_ = State::kBroken;
    return;
  }
  CheckFinished();
}

void Http2Server::CheckFinished() {
  if (state_ != State::kOpen) return;
  if (!nghttp2_session_want_read(session_.get()) && !nghttp2_session_want_write(session_.get())) {
    state_ = State::kFinished;
  }
}

std::optional<Clock::Monotonic> Http2Server::deadline() const {
  const ListenerOptions& limits = config_->options;
  std::optional<Clock::Monotonic> next;
  if (!settled_ || head_open_) {
    next = since_ + limits.header_timeout;
  } else if (!streams_) {
    next = since_ + limits.idle_timeout;
  }
  return next;
}

std::optional<Clock::Monotonic> Http2Server::wake_at() const {
  std::optional<Clock::Monotonic> next;
  for (const auto& at : {ping_at_, drain_until_, discard_until_}) {
    if (at && (!next || *at < *next)) next = at;
  }
  return next;
}

// A peer that opens no window holds the memory of its answers, so that the connection counts as
// stalled.
bool Http2Server::output_blocked() const {
  nghttp2_session* session = session_.get();
  const bool all = nghttp2_session_get_remote_window_size(session) <= 0;
  for (const Http2Stream* stream = streams_.get(); stream != nullptr; stream = stream->next.get()) {
    if (stream->sending() && !stream->waits() &&
        (all || nghttp2_session_get_stream_remote_window_size(session, stream->id()) <= 0)) {
      return true;
    }
  }
  return false;
}

// Sends two GOAWAY frames (RFC 9113, 6.8): the first asks for no more requests; the second says
// which is the last, when those that were on their way must have come.
void Http2Server::Drain() {
  if (drain_until_ || drained_) return;
  (void)nghttp2_submit_shutdown_notice(session_.get());
  ping_at_ = wire_.loop()->now() + kHttp2PingDelay;
  drain_until_ = wire_.loop()->now() + config_->options.goaway_timeout;
  wire_.MarkDirty();
}

void Http2Server::AskWhetherSeen() {
  ping_at_.reset();
  // Its answer shows that the client has seen the notice; whatever it sent before has arrived.
  (void)nghttp2_submit_ping(session_.get(), NGHTTP2_FLAG_NONE, nullptr);
}

void Http2Server::FinishDrain() {
  if (std::exchange(drained_, true)) return;
  drain_until_.reset();
  ping_at_.reset();
  (void)nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE,
                              nghttp2_session_get_last_proc_stream_id(session_.get()),
                              NGHTTP2_NO_ERROR, nullptr, 0);
  wire_.MarkDirty();
}

// RFC 9113, 8.1: the answer is complete, the rest of the request is not wanted. A client that is in
// the middle of sending it may not see the answer of a stream that is reset, so for a moment what
// comes is dropped.
void Http2Server::Discard(Http2Stream& stream) {
  stream.discards = true;
  stream.discard_left = kDiscardBytes;
  if (!discard_until_) discard_until_ = wire_.loop()->now() + kDiscardTime;
  const auto over = std::move(stream.exchange);
  if (!over) return;
  if (const std::size_t unread = over->unread_body()) {
    (void)nghttp2_session_consume(session_.get(), stream.id(), unread);
  }
  over->AnswerOver(true);
}

void Http2Server::Abandon(std::int32_t id) {
  (void)nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
}

void Http2Server::EndDiscarding() {
  discard_until_.reset();
  for (const Http2Stream* stream = streams_.get(); stream != nullptr; stream = stream->next.get()) {
    if (stream->discards) Abandon(stream->id());
  }
}

void Http2Server::OnClosed(const Status& why) {
  StartArrived();
  line_.EndSent();
  state_ = State::kBroken;
  while (streams_) {
    const std::unique_ptr<Http2Stream> stream = Unlink(*streams_);
    if (const auto exchange = std::move(stream->exchange)) {
      exchange->PeerGone(why.ok() ? Status(Reason::kServiceUnavailable, "connection closed") : why);
    }
  }
}

Http2Stream* Http2Server::Find(std::int32_t id) {
  return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session_.get(), id));
}

// Spares a search for each header: no frame of another stream may come within a head.
Http2Stream* Http2Server::Arriving(std::int32_t id) {
  return arriving_ != nullptr && arriving_->id() == id ? arriving_ : Find(id);
}

void Http2Server::Link(std::unique_ptr<Http2Stream> stream) {
  if (streams_) streams_->previous = stream.get();
  stream->next = std::move(streams_);
  streams_ = std::move(stream);
}

std::unique_ptr<Http2Stream> Http2Server::Unlink(Http2Stream& stream) {
  std::unique_ptr<Http2Stream>& owner = stream.previous ? stream.previous->next : streams_;
  std::unique_ptr<Http2Stream> unlinked = std::move(owner);
  owner = std::move(unlinked->next);
  if (owner) owner->previous = unlinked->previous;
  unlinked->previous = nullptr;
  if (arriving_ == unlinked.get()) arriving_ = nullptr;
  nghttp2_session_set_stream_user_data(session_.get(), unlinked->id(), nullptr);
  return unlinked;
}

// ------------------------------------------------------------------------------ what arrives

int Http2Server::OnBeginHeaders(std::int32_t id) {
  head_open_ = true;
  since_ = wire_.loop()->now();
  arriving_ = Find(id);
  if (arriving_ != nullptr) {  // Trailers.
    StartArrived();
    return 0;
  }
  // A reset stream makes room for nghttp2, but what it started may still run.
  if (count_->live + line_.waiting() >= config_->options.streams_max ||
      head_bytes_ > kHeadBytesMax) {
    (void)nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
    return 0;
  }
  auto stream = std::make_unique<Http2Stream>(*this, id);
  stream->asked->request.headers.Reserve(12);
  nghttp2_session_set_stream_user_data(session_.get(), id, stream.get());
  arriving_ = stream.get();
  Link(std::move(stream));
  return 0;
}

int Http2Server::OnHeader(std::int32_t id, std::string_view name, std::string_view value) {
  Http2Stream* stream = Arriving(id);
  if (stream == nullptr || !stream->asked || stream->discards) return 0;
  // RFC 9113, 6.5.2: each field counts 32 bytes more than its texts.
  stream->head_bytes += name.size() + value.size() + 32;
  head_bytes_ += name.size() + value.size() + 32;
  if (name.starts_with(':')) {
    AddPseudo(*stream, name, value);
  } else {
    ++stream->fields;
    AddField(*stream, name, value);
  }
  if (stream->fields > config_->options.header_fields_max ||
      stream->head_bytes > config_->options.header_bytes_max) {
    // The rest of the head is dropped. OnHeadersEnd() answers, when it is complete.
    stream->refused = true;
    stream->asked = nullptr;
  }
  return 0;
}

void Http2Server::AddPseudo(Http2Stream& stream, std::string_view name, std::string_view value) {
  Request& request = stream.asked->request;
  if (name == ":method") request.method = value;
  if (name == ":path") request.target = value;
  if (name == ":authority") request.host = value;
}

void Http2Server::AddField(Http2Stream& stream, std::string_view name, std::string_view value) {
  Request& request = stream.asked->request;
  if (name == "cookie" && request.headers.Has(name)) {
    // RFC 9113, 8.2.3: crumbs of one header.
    request.headers.Set("cookie",
                        std::string(request.headers.Get(name)) + "; " + std::string(value));
    return;
  }
  if (name == "host") {
    if (request.host.empty()) request.host = value;
    return;
  }
  if (name == "expect") stream.expect_continue = EqualIgnoreCase(value, "100-continue");
  if (name == "content-length") {
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), stream.length);
    stream.has_length = parsed.ec == std::errc() && parsed.ptr == value.data() + value.size();
  }
  request.headers.Add(std::string(name), std::string(value));
}

int Http2Server::OnFrame(const nghttp2_frame& frame) {
  CountControl(frame);
  const std::int32_t id = frame.hd.stream_id;
  const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  switch (frame.hd.type) {
    case NGHTTP2_SETTINGS:
      settled_ = true;
      break;
    case NGHTTP2_PING:
      if ((frame.hd.flags & NGHTTP2_FLAG_ACK) != 0 && drain_until_ && !ping_at_) FinishDrain();
      break;
    case NGHTTP2_HEADERS: {
      head_open_ = false;
      Http2Stream* stream = Arriving(id);
      return stream != nullptr ? OnHeadersEnd(*stream, id, ends) : 0;
    }
    case NGHTTP2_DATA:
      StartArrived();
      if (Http2Stream* stream = Find(id); stream != nullptr && ends) {
        stream->remote_ended = true;
        if (stream->exchange) stream->exchange->BodyEnd();
      }
      break;
    default:
      break;
  }
  return 0;
}

int Http2Server::OnHeadersEnd(Http2Stream& stream, std::int32_t id, bool ends) {
  stream.remote_ended |= ends;
  if (stream.exchange || stream.discards) {  // Trailers.
    if (ends && stream.exchange) stream.exchange->BodyEnd();
    return 0;
  }
  if (stream.refused) {
    Refuse(id, 431);
  } else if (!MayBegin(stream.asked->request)) {
    Refuse(id, 400);
  } else {
    line_.Add(stream);
  }
  return 0;
}

// An API server is no forward proxy: CONNECT and absolute targets have no meaning here. The
// requests of a connection name one host nearly always, which is looked at once.
bool Http2Server::MayBegin(Request& request) {
  if (request.method == "CONNECT") return false;
  if (request.host != host_ || host_.empty()) {
    if (!IsHost(request.host)) return false;
    host_ = request.host;
  }
  return SplitTarget(request) && request.target.starts_with(request.path == "*" ? '*' : '/');
}

// Answers without an exchange: no filter has seen the request, and none should.
void Http2Server::Refuse(std::int32_t id, int code) {
  const std::string text = std::to_string(code);
  HeaderBlock block;
  block.AddStatic(":status", text);
  (void)nghttp2_submit_response(session_.get(), id, block.data(), block.size(), nullptr);
}

void Http2Server::Begin(Http2Stream& stream) {
  Request& request = stream.asked->request;
  request.http_major = 2;
  request.remote_address = origin_.remote_address;
  request.peer = origin_.peer;
  request.tls = origin_.tls;
  ExchangeDriver::Setup setup;
  setup.loop = wire_.loop();
  setup.service = config_->service;
  setup.body.present = !stream.remote_ended && !(stream.has_length && stream.length == 0);
  if (stream.has_length) setup.body.length = stream.length;
  setup.count = count_;
  setup.asked = std::move(stream.asked);
  stream.exchange = std::make_shared<ExchangeDriver>(std::move(setup));
}

int Http2Server::OnData(std::int32_t id, std::string_view bytes) {
  StartArrived();
  Http2Stream* stream = Find(id);
  if (stream != nullptr && stream->exchange) {
    stream->expect_continue = false;
    stream->exchange->BodyData(bytes);
    return 0;
  }
  // Nothing will read these bytes, so that their window is given back at once.
  (void)nghttp2_session_consume(session_.get(), id, bytes.size());
  if (stream != nullptr && stream->discards) {
    if (bytes.size() > stream->discard_left) Abandon(id);
    stream->discard_left -=
        static_cast<std::uint32_t>(std::min<std::size_t>(bytes.size(), stream->discard_left));
  }
  return 0;
}

int Http2Server::OnFrameSent(const nghttp2_frame& frame) {
  // NO_ERROR ends a request whose answer is complete; all other resets count.
  if (frame.hd.type == NGHTTP2_RST_STREAM && (frame.rst_stream.error_code != NGHTTP2_NO_ERROR)) {
    CountReset();
  }
  const bool answer = frame.hd.type == NGHTTP2_DATA || frame.hd.type == NGHTTP2_HEADERS;
  if (!answer) return 0;
  Http2Stream* stream = Find(frame.hd.stream_id);
  if (stream == nullptr) return 0;
  const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (ends && !stream->remote_ended) Discard(*stream);
  if (!ends && frame.hd.type == NGHTTP2_HEADERS) stream->OnHeadSent();
  return 0;
}

int Http2Server::OnStreamClose(std::int32_t id, std::uint32_t code) {
  Http2Stream* found = Find(id);
  if (found == nullptr) return 0;
  if (!line_.producing()) StartArrived();
  std::unique_ptr<Http2Stream> stream = Unlink(*found);
  head_bytes_ -= stream->head_bytes;
  if (!streams_) since_ = wire_.loop()->now();
  if (head_open_ && !stream->exchange) head_open_ = false;
  ExchangeDriver* const exchange = stream->exchange.get();
  if (exchange == nullptr) return 0;
  if (const std::size_t unread = exchange->unread_body()) {
    (void)nghttp2_session_consume_connection(session_.get(), unread);
  }
  if (code == NGHTTP2_NO_ERROR && exchange->started() && !stream->sending()) {
    if (!line_.TakeSent(stream)) exchange->AnswerOver(true);
  } else if (stream->aborted()) {
    exchange->AnswerOver(false);
  } else {
    exchange->PeerGone(Status(Reason::kServiceUnavailable, "stream reset"));
  }
  return 0;
}

// ------------------------------------------------------------------------------ floods

void Http2Server::CountControl(const nghttp2_frame& frame) {
  switch (frame.hd.type) {
    case NGHTTP2_PING:
    case NGHTTP2_SETTINGS:
    case NGHTTP2_PRIORITY:
      break;
    case NGHTTP2_RST_STREAM:
      return CountReset();
    case NGHTTP2_DATA:
      // Empty frames that end nothing cost the peer next to nothing (CVE-2019-9518).
      if (frame.hd.length > 0 || (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) return;
      break;
    default:
      return;
  }
  if (!controls_.Take(wire_.loop()->now())) Calm();
}

void Http2Server::CountReset() {
  if (!resets_.Take(wire_.loop()->now())) Calm();
}

// The client is told to stop, and its requests in progress are dropped: they are the attack.
void Http2Server::Calm() {
  if (std::exchange(calmed_, true)) return;
  (void)nghttp2_session_terminate_session(session_.get(), NGHTTP2_ENHANCE_YOUR_CALM);
  wire_.MarkDirty();
}

}  // namespace

std::unique_ptr<Protocol> NewHttp2Server(Wire& wire, std::shared_ptr<const ServerConfig> config,
                                         Origin origin) {
  return std::make_unique<Http2Server>(wire, std::move(config), std::move(origin));
}

}  // namespace apiserver::v0::http
