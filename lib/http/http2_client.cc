#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "http/client_protocol.h"
#include "http/nghttp2_session.h"
#include "http/tokens.h"

namespace apiserver::v0::http {
namespace {

// The connection's window. Each stream has its own limit, so that this one need not bind.
constexpr std::int32_t kClientWindow = 1 << 30;

class Http2Client final : public ClientProtocol {
 public:
  Http2Client(Wire& wire, ClientSetup setup);

  void Receive(std::string_view bytes) override;
  void Produce(std::string& out, std::size_t limit) override;
  State state() const override { return state_; }
  bool wants_read() const override { return true; }
  std::optional<Clock::Monotonic> deadline() const override;
  std::optional<Clock::Monotonic> wake_at() const override;
  bool output_blocked() const override;
  bool multiplexed() const override { return true; }
  void Drain() override {
    (void)nghttp2_session_terminate_session(session_.get(), NGHTTP2_NO_ERROR);
    wire_.MarkDirty();
  }
  void OnClosed(const Status& why) override;

  void Start(std::shared_ptr<ClientCall> call) override;
  void Abort(const std::shared_ptr<ClientCall>& call, const Status& why) override;
  void Consume(const std::shared_ptr<ClientCall>& call, std::size_t bytes) override;
  void OnBody(const std::shared_ptr<ClientCall>& call) override;
  bool closing() const override {
    return state_ != State::kOpen || !nghttp2_session_check_request_allowed(session_.get());
  }

 private:
  struct Stream {
    std::shared_ptr<ClientCall> call;
    ResponseHead head;
    Headers trailers;
    bool head_sent = false;
    bool head_told = false;
    std::size_t head_bytes = 0;
    std::size_t head_fields = 0;
  };

  static Http2Client& Of(void* user) { return *static_cast<Http2Client*>(user); }
  static Callbacks NewCallbacks();
  static ssize_t ReadBody(nghttp2_session* session, std::int32_t id, std::uint8_t* out,
                          std::size_t size, std::uint32_t* flags, nghttp2_data_source* source,
                          void* user);
  Stream* Find(std::int32_t id) {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session_.get(), id));
  }
  void OnHeader(std::int32_t id, std::string_view name, std::string_view value);
  void OnFrame(const nghttp2_frame& frame);
  static void OnHeaders(Stream& stream);
  static void End(Stream& stream);
  void OnData(std::int32_t id, std::string_view bytes);
  void OnStreamClose(std::int32_t id, std::uint32_t code);

  Wire& wire_;
  const ClientSetup setup_;
  Session session_;
  State state_ = State::kOpen;
  Clock::Monotonic heard_;                    // When something came last.
  std::optional<Clock::Monotonic> asked_at_;  // When the PING on its way was sent.
  std::unordered_map<std::int32_t, std::unique_ptr<Stream>> streams_;
};

Callbacks Http2Client::NewCallbacks() {
  nghttp2_session_callbacks* made = nullptr;
  nghttp2_session_callbacks_new(&made);
  Callbacks callbacks(made);
  nghttp2_session_callbacks_set_on_header_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
               const uint8_t* value, size_t value_size, uint8_t, void* user) {
        Of(user).OnHeader(frame->hd.stream_id, View(name, name_size), View(value, value_size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        Of(user).OnFrame(*frame);
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      made,
      [](nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size, void* user) {
        Of(user).OnData(id, View(data, size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_send_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (frame->hd.type != NGHTTP2_HEADERS) return 0;
        if (Stream* stream = Of(user).Find(frame->hd.stream_id)) stream->head_sent = true;
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      made, [](nghttp2_session*, int32_t id, uint32_t code, void* user) {
        Of(user).OnStreamClose(id, code);
        return 0;
      });
  return callbacks;
}

Http2Client::Http2Client(Wire& wire, ClientSetup setup)
    : wire_(wire), setup_(std::move(setup)), heard_(wire.loop()->now()) {
  nghttp2_option* made = nullptr;
  nghttp2_option_new(&made);
  const Option option(made);
  nghttp2_option_set_no_auto_window_update(made, 1);
  nghttp2_session* session = nullptr;
  nghttp2_session_client_new2(&session, NewCallbacks().get(), this, made);
  session_.reset(session);
  const std::array<nghttp2_settings_entry, 2> settings = {{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(setup_.window_bytes)},
  }};
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kClientWindow);
  wire_.MarkDirty();
}

// NOLINTNEXTLINE(readability-function-size): the parameters are nghttp2's
ssize_t Http2Client::ReadBody(nghttp2_session* /*session*/, std::int32_t /*id*/, std::uint8_t* out,
                              std::size_t size, std::uint32_t* flags, nghttp2_data_source* source,
                              void* /*user*/) {
  const auto call = static_cast<Stream*>(source->ptr)->call;
  if (call->write_ended) return NGHTTP2_ERR_DEFERRED;  // It was given up; the reset is on its way.
  const std::size_t count = call->body.TakeTo({reinterpret_cast<char*>(out), size});
  const bool last = call->body_ended && call->body.empty();
  if (count == 0 && !last) return NGHTTP2_ERR_DEFERRED;
  call->Sent(count);
  if (last) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    call->EndWrite();
  }
  return static_cast<ssize_t>(count);
}

void Http2Client::Start(std::shared_ptr<ClientCall> call) {
  auto stream = std::make_unique<Stream>();
  stream->call = call;
  const ClientRequestHead& request = call->head;
  HeaderBlock block;
  const std::string_view host = request.headers.Get("Host");
  std::array<char, 24> length{};
  block.AddStatic(":method", request.method);
  block.AddStatic(":scheme", setup_.scheme);
  block.AddStatic(":authority", host.empty() ? std::string_view(setup_.authority) : host);
  block.AddStatic(":path", request.target);
  block.AddAll(request.headers, "host");
  // The one value that HTTP/2 allows (RFC 9113, 8.2.2).
  if (request.headers.Get("TE") == "trailers") block.AddStatic("te", "trailers");
  nghttp2_data_provider provider{};
  provider.source.ptr = stream.get();
  provider.read_callback = ReadBody;
  const bool has_body = request.body_bytes != 0U;
  if (has_body && request.body_bytes) {
    const char* end = std::to_chars(length.begin(), length.end(), *request.body_bytes).ptr;
    block.AddStatic("content-length",
                    {length.data(), static_cast<std::size_t>(end - length.data())});
  }
  const std::int32_t id =
      state_ != State::kOpen
          ? -1
          : nghttp2_submit_request(session_.get(), nullptr, block.data(), block.size(),
                                   has_body ? &provider : nullptr, stream.get());
  if (id < 0) return call->Finish(NeverSent());
  call->stream = id;
  if (!has_body) call->EndWrite();
  streams_.emplace(id, std::move(stream));
  wire_.MarkDirty();
}

void Http2Client::Abort(const std::shared_ptr<ClientCall>& call, const Status& why) {
  if (call->stream < 0) return;
  // A whole request is sent to its end, although its answer has come.
  if (call->ended && (!call->streamed || call->write_ended)) return;
  (void)nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, call->stream, NGHTTP2_CANCEL);
  call->Finish(why);
  wire_.MarkDirty();
}

void Http2Client::OnBody(const std::shared_ptr<ClientCall>& call) {
  if (call->stream < 0) return;
  // Fails for a stream whose head or earlier bytes are not out yet, which needs no waking.
  (void)nghttp2_session_resume_data(session_.get(), call->stream);
  wire_.MarkDirty();
}

// A stream that waits for its window, or for the connection's, holds bytes that the peer does not
// take. One whose head is not out waits for other streams instead.
bool Http2Client::output_blocked() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& entry) {
    return entry.second->head_sent && !entry.second->call->body.empty();
  });
}

void Http2Client::Consume(const std::shared_ptr<ClientCall>& call, std::size_t bytes) {
  if (call->ended) return;
  (void)nghttp2_session_consume_stream(session_.get(), call->stream, bytes);
  wire_.MarkDirty();
}

void Http2Client::OnHeader(std::int32_t id, std::string_view name, std::string_view value) {
  Stream* stream = Find(id);
  if (stream == nullptr || stream->call->ended) return;
  // A few bytes on the wire can name a long entry of the HPACK table, and name it often.
  stream->head_bytes += name.size() + value.size();
  if (stream->head_bytes > kAnswerHeadBytesMax || ++stream->head_fields > kAnswerHeadFieldsMax) {
    (void)nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    stream->head = {};
    stream->call->Finish(HeadTooLarge());
    return;
  }
  if (stream->head_told) {
    stream->trailers.Add(std::string(name), std::string(value));
  } else if (name == ":status") {
    stream->head.code = 0;
    std::from_chars(value.data(), value.data() + value.size(), stream->head.code);
  } else {
    stream->head.headers.Add(std::string(name), std::string(value));
  }
}

void Http2Client::OnFrame(const nghttp2_frame& frame) {
  if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return;
  Stream* stream = Find(frame.hd.stream_id);
  if (stream == nullptr) return;
  if (frame.hd.type == NGHTTP2_HEADERS) OnHeaders(*stream);
  // The request may still be on its way: the stream goes on without its reader.
  const bool last = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (last && stream->head_told) End(*stream);
}

void Http2Client::End(Stream& stream) {
  const std::shared_ptr<ClientCall> call = stream.call;
  if (!call->ended && !stream.trailers.empty()) {
    call->sink->OnTrailers(std::exchange(stream.trailers, {}));
  }
  call->End(Status::Ok());
}

void Http2Client::OnHeaders(Stream& stream) {
  if (stream.head_told) return;  // Trailers.
  if (stream.head.code >= 100 && stream.head.code < 200) {
    stream.head = {};
    return;
  }
  stream.head_told = true;
  if (!stream.call->ended) stream.call->sink->OnHead(std::move(stream.head));
}

// The connection's window is given back at once: a paused stream must not hold up the others. Its
// own window holds the server back.
void Http2Client::OnData(std::int32_t id, std::string_view bytes) {
  (void)nghttp2_session_consume_connection(session_.get(), bytes.size());
  const Stream* stream = Find(id);
  if (stream == nullptr || stream->call->ended) return;
  const std::size_t consumed = stream->call->sink->OnData(bytes);
  if (consumed > 0) (void)nghttp2_session_consume_stream(session_.get(), id, consumed);
}

void Http2Client::OnStreamClose(std::int32_t id, std::uint32_t code) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const std::unique_ptr<Stream> stream = std::move(found->second);
  streams_.erase(found);
  stream->call->stream = -1;
  // A GOAWAY came before it was sent: another connection may have it.
  if (!stream->head_sent) return stream->call->Finish(NeverSent());
  // A server that stops a stream halfway with NO_ERROR has not completed the response. Callers of
  // whole responses have always been told that it has.
  if (code == NGHTTP2_NO_ERROR && stream->head_told && !stream->call->streamed) {
    return stream->call->Finish(Status::Ok());
  }
  const Status reset(Reason::kServiceUnavailable,
                     std::string("stream reset: ") + nghttp2_http2_strerror(code));
  // The server promises that it has not begun to work on the request (RFC 9113, 8.7). A stream
  // above the last one of a GOAWAY ends with this code too.
  const bool refused = code == NGHTTP2_REFUSED_STREAM && !stream->head_told;
  stream->call->Finish(refused ? NotBegun(reset) : reset);
}

// Any bytes of the server count as the answer to a PING: it is alive.
std::optional<Clock::Monotonic> Http2Client::deadline() const {
  if (!asked_at_) return std::nullopt;
  return *asked_at_ + setup_.ping_timeout;
}

std::optional<Clock::Monotonic> Http2Client::wake_at() const {
  if (asked_at_ || setup_.ping_interval.count() == 0) return std::nullopt;
  if (streams_.empty() && !setup_.ping_when_idle) return std::nullopt;
  return heard_ + setup_.ping_interval;
}

void Http2Client::Receive(std::string_view bytes) {
  heard_ = wire_.loop()->now();
  asked_at_.reset();
  const ssize_t used = nghttp2_session_mem_recv(
      session_.get(), reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (used < 0) state_ = State::kBroken;
  wire_.MarkDirty();
}

// A PING goes behind the heads of requests, although nghttp2 would put it in front: gRPC's servers
// close connections that send PINGs while no request is in progress.
void Http2Client::Produce(std::string& out, std::size_t limit) {
  if (state_ != State::kOpen) return;
  bool sent = SendTo(session_.get(), out, limit);
  if (const auto at = wake_at(); sent && at && wire_.loop()->now() >= *at) {
    asked_at_ = wire_.loop()->now();
    (void)nghttp2_submit_ping(session_.get(), NGHTTP2_FLAG_NONE, nullptr);
    sent = SendTo(session_.get(), out, limit);
  }
  if (!sent) {
    state_ = State::kBroken;
  } else if (!nghttp2_session_want_read(session_.get()) &&
             !nghttp2_session_want_write(session_.get())) {
    state_ = State::kFinished;
  }
}

void Http2Client::OnClosed(const Status& why) {
  state_ = State::kBroken;
  const Status lost = why.ok() ? Status(Reason::kServiceUnavailable, "connection closed") : why;
  for (const auto& [id, stream] : std::exchange(streams_, {})) {
    stream->call->stream = -1;
    stream->call->Finish(stream->head_told   ? lost
                         : stream->head_sent ? Unanswered(lost)
                                             : NotBegun(lost));
  }
}

}  // namespace

std::unique_ptr<ClientProtocol> NewHttp2Client(Wire& wire, ClientSetup setup) {
  return std::make_unique<Http2Client>(wire, std::move(setup));
}

}  // namespace apiserver::v0::http
