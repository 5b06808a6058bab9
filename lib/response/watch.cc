#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/codec/cbor.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/http/websocket.h"
#include "apiserver/meta/errors.h"
#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"
#include "http/loop.h"
#include "response/end_signal.h"
#include "response/event_form.h"
#include "response/event_lines.h"
#include "response/gzip.h"
#include "response/metadata.h"
#include "response/negotiate.h"
#include "response/pool_body.h"
#include "response/send.h"
#include "response/table.h"
#include "response/watch_counters.h"

namespace apiserver::v0::response {

namespace {

constexpr std::size_t kEventsPerTurn = 64;
// The size of an event, as long as a watch has sent none.
constexpr std::uint32_t kUsualBytes = 1024;
// An event of so many bytes is moved to where it is sent from, and not copied.
constexpr std::size_t kBytesTaken = 4 << 10;

// Encodes events for the stream of one watch.
class EventWriter {
 public:
  // `loop`: the loop of all events, which outlives this. Null: they are not shared.
  EventWriter(std::shared_ptr<const EventForm> form, http::Loop* loop)
      : form_(std::move(form)), loop_(loop) {}

  // True if events are binary, and not lines of text.
  bool binary() const { return form_->negotiated.type != codec::MediaType::kJson; }
  // The bytes before an event in a stream that are not part of it.
  std::size_t frame_bytes() const {
    return form_->negotiated.type == codec::MediaType::kProtobuf ? 4 : 0;
  }

  // Makes the encodings of one turn's objects that must be converted, in one call of a converter
  // that may wait, into `made`, which stays empty if there are none; the objects of others are
  // converted one by one as they are written. If that fails the first of them becomes an ERROR
  // event, the last of `events`: false, the watch is over.
  bool Convert(const Context& ctx, std::vector<watch::Event>& events,
               std::vector<runtime::EncodingPtr>& made) {
    if (!ConvertsTogether()) return true;
    std::vector<runtime::ObjectPtr> objects;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const runtime::ObjectPtr& object = events[i].object;
      if (object == nullptr || object->version() == form_->target.version) continue;
      objects.push_back(object);
      places.push_back(i);
    }
    auto encodings = runtime::Object::FindEncodings(objects, form_->target.version, format());
    Status status = codec::FillEncodings(
        ctx, objects, {form_->target.version, format(), form_->share}, encodings);
    made.resize(events.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (encodings[i] == nullptr) {
        events.resize(places[i]);
        events.push_back({.type = watch::EventType::kError, .error = std::move(status)});
        return false;
      }
      made[places[i]] = std::move(encodings[i]);
    }
    return true;
  }

  // Returns how many events are welcome where there is room for so many bytes: as many as fit, by
  // the size of those before, and one at least.
  std::size_t EventsIn(std::size_t room) const {
    return std::clamp<std::size_t>(room / usual_bytes_, 1, kEventsPerTurn);
  }

  // An event with its object's encoding. Null: it is still to be made.
  struct Sent {
    const watch::Event& event;
    const runtime::EncodingPtr made;
  };
  // Returns the framed event, which is valid until the next call: the line that another watch of
  // the loop has left, or what is put together in `text`, which must be empty. An object that
  // cannot be encoded becomes an ERROR event.
  std::string_view LineOf(const Context& ctx, const Sent& sent, std::string& text) {
    if (loop_ != nullptr && sent.event.object != nullptr) return SharedLineOf(ctx, sent, text);
    (void)AppendFramed(ctx, sent, text);
    return text;
  }
  // Returns a tally for the events of one turn, which Counted() takes when they are written.
  EventTally NewTally() const { return EventTally(form_->counters); }
  void Counted(const EventTally& tally) {
    if (tally.events() == 0) return;
    constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
    usual_bytes_ = static_cast<std::uint32_t>(
        std::clamp<std::size_t>(tally.bytes() / tally.events(), 1, kMost));
  }

 private:
  runtime::Format format() const {
    return form_->negotiated.type == codec::MediaType::kProtobuf ? runtime::Format::kProtobuf
                                                                 : runtime::Format::kJson;
  }
  bool ConvertsTogether() const {
    if (!form_->target.kind->converter().may_wait()) return false;
    if (format() == runtime::Format::kProtobuf) return form_->negotiated.shape == Shape::kObject;
    return form_->negotiated.shape != Shape::kTable ||
           form_->table_options.include_object != meta::IncludeObject::kNone;
  }

  // Returns the line that another watch of the loop has left, or makes it and leaves it. An error
  // is not left: it may be gone the next time.
  std::string_view SharedLineOf(const Context& ctx, const Sent& sent, std::string& text) {
    // Not before, as the watch may have begun on the pool.
    if (lines_ == nullptr) lines_ = loop_->Local<EventLines>().get();
    const auto [line, wanted] = lines_->Find(sent.event, form_);
    if (!line.empty()) return line;
    const bool right = AppendFramed(ctx, sent, text);
    if (right && wanted) lines_->Keep(sent.event, form_, text);
    return text;
  }

  // An object that cannot be encoded ends the event that was begun, so the text so far is taken
  // back. False: an ERROR event was appended instead.
  bool AppendFramed(const Context& ctx, const Sent& sent, std::string& out) {
    const watch::Event& event = sent.event;
    if (form_->negotiated.type == codec::MediaType::kProtobuf) {
      return AppendProtobuf(ctx, sent, out);
    }
    if (form_->negotiated.type == codec::MediaType::kCbor) {
      std::string object;
      watch::EventType type = event.type;
      const Status status = AppendJsonObject(ctx, sent, object);
      if (!status.ok()) {
        type = watch::EventType::kError;
        object.clear();
        AppendStatus(status, object);
      }
      AppendCborEvent(type, object, out);
      return status.ok();
    }
    const std::size_t start = out.size();
    out += "{\"type\":\"";
    out += watch::EventTypeWord(event.type);
    out += "\",\"object\":";
    const Status status = AppendJsonObject(ctx, sent, out);
    if (!status.ok()) {
      out.resize(start);
      out += "{\"type\":\"ERROR\",\"object\":";
      AppendStatus(status, out);
    }
    out += "}\n";
    return status.ok();
  }

  // One item of a CBOR sequence; the object within is a whole message of its own.
  static void AppendCborEvent(watch::EventType type, std::string_view object, std::string& out) {
    constexpr std::string_view kMapOfTwo = "\xa2";
    out += codec::kSelfDescribedCbor;
    out += kMapOfTwo;
    codec::AppendCbor(runtime::Value::String("type"), out);
    codec::AppendCbor(runtime::Value::String(watch::EventTypeWord(type)), out);
    codec::AppendCbor(runtime::Value::String("object"), out);
    out += codec::kSelfDescribedCbor;
    out += codec::CborOfJson(object);
  }

  static void AppendStatus(const Status& status, std::string& out) {
    out += codec::StatusToJson(status);
    if (out.back() == '\n') out.pop_back();
  }

  Status AppendJsonObject(const Context& ctx, const Sent& sent, std::string& out) {
    const watch::Event& event = sent.event;
    if (event.type == watch::EventType::kError) {
      AppendStatus(event.error, out);
      return {};
    }
    if (event.type == watch::EventType::kBookmark) return AppendBookmark(ctx, event, out);
    return AppendShaped(ctx, event.object, sent, out);
  }

  // The forms of one object: as a Table of one row, as its metadata, or whole.
  Status AppendShaped(const Context& ctx, const runtime::ObjectPtr& object, const Sent& sent,
                      std::string& out) {
    const watch::Event& event = sent.event;
    // Only a DELETED event has another revision than its object.
    const bool deleted = event.type == watch::EventType::kDeleted;
    const std::string revision = deleted ? event.resource_version : "";
    if (form_->negotiated.shape == Shape::kTable) {
      const std::size_t known = sent.made != nullptr ? 1 : 0;
      const std::string list_meta =
          ListMetaJson(event.resource_version.empty() ? std::string(object->resource_version())
                                                      : event.resource_version,
                       "", std::nullopt);
      ASSIGN_OR_RETURN(const auto document,
                       NewTableDocument(ctx, {object}, list_meta,
                                        {.target = form_->target,
                                         .options = form_->table_options,
                                         .meta_version = form_->negotiated.meta_version,
                                         .with_columns = !std::exchange(columns_sent_, true),
                                         .resource_version = revision,
                                         .encodings = form_->share,
                                         .kept = {&sent.made, known}}));
      out += WholeOf(*document);
      out.pop_back();  // The newline: a frame has its own.
      return {};
    }
    runtime::EncodingPtr encoding = sent.made;
    if (encoding == nullptr) {
      ASSIGN_OR_RETURN(encoding, codec::EncodingOf(ctx, *object, form_->target.version,
                                                   runtime::Format::kJson, form_->share));
    }
    if (form_->negotiated.shape != Shape::kObject) {
      out += "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/" +
             form_->negotiated.meta_version + "\",\"metadata\":";
      AppendMetadataWithResourceVersion(*encoding, revision, out);
      out += '}';
      return {};
    }
    out += object->kind().JsonPrefix(form_->target.version);
    if (revision.empty()) {
      encoding->AppendTo(out);
    } else {
      out += BodyWithResourceVersion(*encoding, revision);
    }
    return {};
  }

  // A bookmark is an empty object of the kind with only a revision, as from a Go server.
  Status AppendBookmark(const Context& ctx, const watch::Event& event, std::string& out) {
    auto object = std::make_shared<runtime::Object>(form_->target.kind, form_->target.version);
    object->Edit("metadata", "resourceVersion") = event.resource_version;
    if (event.initial_events_end) {
      object->Edit("metadata", "annotations", "k8s.io/initial-events-end") = "true";
    }
    if (form_->target.kind->semantics() == runtime::Semantics::kGoType) {
      RETURN_IF_ERROR(runtime::Settle(*object, {.defaults = false}));
    }
    return AppendShaped(ctx, object, {event, nullptr}, out);
  }

  bool AppendProtobuf(const Context& ctx, const Sent& sent, std::string& out) {
    const codec::WatchForm form{.kind = *form_->target.kind,
                                .version = form_->target.version,
                                .meta_version = form_->negotiated.shape == Shape::kObject
                                                    ? std::string_view()
                                                    : form_->negotiated.meta_version,
                                .share = form_->share,
                                .made = sent.made};
    Status status = codec::AppendWatchEventProtobuf(ctx, sent.event, form, out);
    if (status.ok()) return true;
    watch::Event failed{.type = watch::EventType::kError, .error = std::move(status)};
    (void)codec::AppendWatchEventProtobuf(ctx, failed, form, out);
    return false;
  }

  const std::shared_ptr<const EventForm> form_;
  http::Loop* const loop_;
  EventLines* lines_ = nullptr;              // The loop's. Null until the first event.
  std::uint32_t usual_bytes_ = kUsualBytes;  // Of an event, by those of the last turn.
  bool columns_sent_ = false;
};

// The events of one watch until it ends, for all transports. Ends it after `timeout`, by a timer of
// the loop that is its own.
class EventSource final : private http::Timers::Entry {
 public:
  struct Setup {
    http::Exchange& exchange;
    Context ctx;
    std::unique_ptr<watch::Stream> stream;
    std::chrono::nanoseconds timeout;
    bool pooled;  // Pulled on the pool, where its last reference may end.
  };
  explicit EventSource(Setup setup)
      : exchange_(setup.exchange.Share()),
        loop_(*setup.exchange.shared_loop()),
        ctx_(std::move(setup.ctx)),
        stream_(std::move(setup.stream)) {
    if (loop_.Inside() && !setup.pooled) {
      loop_.Arm(*this, loop_.now() + setup.timeout);
      return;
    }
    cancel_ = loop_.PostAfter(setup.timeout, [weak = exchange_] {
      if (const auto live = weak.lock()) live->ctx().Cancel(Over());
    });
  }
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;
  ~EventSource() override {
    if (armed()) loop_.Disarm(*this);
    if (cancel_) cancel_();
  }

  const Context& ctx() const { return ctx_; }

  // Called on the loop, or on the pool if the stream may block. Ends with the Context, whatever the
  // stream waits for.
  http::Pull Next(std::vector<watch::Event>& events, std::size_t events_max, const Waker& waker) {
    end_.Arm(ctx_, waker);
    if (ctx_.done()) return http::Pull::kEnd;
    const http::Pull pulled = Pull(events, events_max, waker);
    if (pulled != http::Pull::kMore) TellInitialized();
    return pulled;
  }

 private:
  http::Pull Pull(std::vector<watch::Event>& events, std::size_t events_max, const Waker& waker) {
    switch (stream_->Next(events, events_max, waker)) {
      case watch::Stream::State::kMore:
        return http::Pull::kMore;
      case watch::Stream::State::kWait:
        return http::Pull::kWait;
      case watch::Stream::State::kEnd:
        break;
    }
    return http::Pull::kEnd;
  }

  // Called once, after the initial events: the request's first phase of flow control ends here. On
  // the loop, where the exchange lives.
  void TellInitialized() {
    if (std::exchange(initialized_, true)) return;
    auto* wants = ctx_.Mutable<WatchInitialized>();
    if (wants == nullptr) return;
    if (loop_.Inside()) return Tell(*wants);
    loop_.Post([weak = exchange_, wants] {
      if (const auto live = weak.lock()) Tell(*wants);
    });
  }

  // Lets what is called go with the call.
  static void Tell(WatchInitialized& wants) {
    auto call = std::move(wants.call);
    call();
  }
  static Status Over() { return {Reason::kTimeout, "the watch is over"}; }
  void Fire() override {
    // The cancellation may drop the last reference to this, and with it ctx_.
    if (const auto live = exchange_.lock()) Context(ctx_).Cancel(Over());
  }

  const std::weak_ptr<http::Exchange> exchange_;
  http::Loop& loop_;
  Context ctx_;
  std::unique_ptr<watch::Stream> stream_;
  Executor::Cancel cancel_;  // Of the timer, if it is not this.
  [[no_unique_address]] EndSignal end_;
  bool initialized_ = false;
};

// The length before each event in the body of a watch over a WebSocket.
using EventLength = std::uint32_t;

// The body of a watch: pulls events while the peer has room, and holds no bytes of its own.
class WatchBody final : public http::BodySource {
 public:
  WatchBody(EventSource::Setup source, EventWriter writer, bool lengths)
      : source_(std::move(source)), writer_(std::move(writer)), lengths_(lengths) {}

  // Converts all events of a turn before it writes the first.
  http::Pull Next(http::ChunkWriter& out, const Waker& waker) override {
    std::vector<watch::Event> events;
    http::Pull pulled = source_.Next(events, writer_.EventsIn(out.room()), waker);
    std::vector<runtime::EncodingPtr> made;
    if (!writer_.Convert(source_.ctx(), events, made)) pulled = http::Pull::kEnd;
    made.resize(made.empty() ? 0 : events.size());
    WriteAll(events, made, out);
    return pulled;
  }

 private:
  // `made`: empty, or as long as `events`.
  void WriteAll(std::span<const watch::Event> events, std::span<runtime::EncodingPtr> made,
                http::ChunkWriter& out) {
    EventTally tally = writer_.NewTally();
    std::string text;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const EventWriter::Sent sent{events[i], made.empty() ? nullptr : std::move(made[i])};
      const std::string_view line = writer_.LineOf(source_.ctx(), sent, text);
      tally.Count(line.size());
      if (lengths_) {
        out.Take(WithLength(line));
      } else if (text.size() >= kBytesTaken) {
        out.Take(std::move(text));
      } else {
        out.Write(line);
      }
      text.clear();
    }
    writer_.Counted(tally);
  }

  static std::string WithLength(std::string_view line) {
    const auto length = static_cast<EventLength>(line.size());
    std::string text(sizeof(length), '\0');
    std::memcpy(text.data(), &length, sizeof(length));
    return text.append(line);
  }

  EventSource source_;
  [[no_unique_address]] EventWriter writer_;
  const bool lengths_;
};

// A server has thousands, and the allocator gives each that is larger 192 bytes.
static_assert(sizeof(WatchBody) <= 160);

// Makes a message of each event that has its length before it; a message has no frame of its own.
class MessageWriter final : public http::ChunkWriter {
 public:
  MessageWriter(http::WebSocketWriter& out, std::size_t frame_bytes, bool binary)
      : out_(out), frame_bytes_(frame_bytes), binary_(binary) {}

  std::size_t room() const override { return out_.room(); }
  void Write(std::string_view events) override {
    while (!events.empty()) {
      EventLength length = 0;
      std::memcpy(&length, events.data(), sizeof(length));
      events.remove_prefix(sizeof(length));
      out_.Write(events.substr(frame_bytes_, length - frame_bytes_), binary_);
      events.remove_prefix(length);
    }
  }
  void Take(std::string owned) override { Write(owned); }
  void Write(std::shared_ptr<const void>, std::string_view shared) override { Write(shared); }

 private:
  http::WebSocketWriter& out_;
  const std::size_t frame_bytes_;
  const bool binary_;
};

// A watch over a WebSocket.
class WatchSocket final : public http::WebSocketHandler {
 public:
  WatchSocket(std::unique_ptr<http::BodySource> body, std::size_t frame_bytes, bool binary)
      : body_(std::move(body)), frame_bytes_(frame_bytes), binary_(binary) {}

  http::Pull Next(http::WebSocketWriter& out, const Waker& waker) override {
    MessageWriter messages(out, frame_bytes_, binary_);
    return body_->Next(messages, waker);
  }

 private:
  const std::unique_ptr<http::BodySource> body_;
  const std::size_t frame_bytes_;
  const bool binary_;
};

// As golang.org/x/net/websocket: a single offered subprotocol is accepted, whatever it is; several
// are an error.
Result<http::WebSocketOptions> WatchSocketOptions(const http::Request& request) {
  http::WebSocketOptions options;
  options.protocols = http::OfferedWebSocketProtocols(request);
  if (options.protocols.size() > 1) {
    return Status(Reason::kBadRequest, "missing or bad WebSocket-Protocol");
  }
  return options;
}

std::string StreamType(codec::MediaType type) {
  if (type == codec::MediaType::kCbor) return "application/cbor-seq";
  if (type == codec::MediaType::kProtobuf)
    return "application/vnd.kubernetes.protobuf;stream=watch";
  return "application/json";
}

}  // namespace

http::Step WriteWatch(http::Exchange& exchange, std::unique_ptr<watch::Stream> stream,
                      const Target& target, WatchOptions options) {
  ASSIGN_OR_RETURN(const Negotiated negotiated, Negotiate(exchange, &target, /*watch=*/true));
  meta::TableOptions table_options;
  if (negotiated.shape == Shape::kTable) {
    ASSIGN_OR_RETURN(table_options, TableOptionsOf(exchange));
  }
  const bool socket = http::IsWebSocketRequest(exchange.request());
  http::WebSocketOptions socket_options;
  if (socket) {
    ASSIGN_OR_RETURN(socket_options, WatchSocketOptions(exchange.request()));
  }
  const bool gzip = !socket && options.watch_list && WantsGzip(exchange, "WatchListCompression");
  // A Table's first event differs from those after it, and on the pool each event would need a
  // lock.
  http::Loop* loop = nullptr;
  if (negotiated.shape != Shape::kTable && !options.on_pool && !gzip) {
    loop = exchange.shared_loop().get();
  }
  const auto* counters = exchange.Find<WatchCounters>();
  EventForm form{.target = target,
                 .negotiated = negotiated,
                 .table_options = table_options,
                 .share = EncodingShareOf(exchange),
                 .counters = counters ? *counters : WatchCounters()};
  const bool shared = loop != nullptr && loop->Inside();
  EventWriter writer(shared ? loop->Local<EventForms>()->Share(std::move(form))
                            : std::make_shared<const EventForm>(std::move(form)),
                     loop);
  const std::size_t frame_bytes = writer.frame_bytes();
  const bool binary = writer.binary();
  std::unique_ptr<http::BodySource> body = std::make_unique<WatchBody>(
      EventSource::Setup{.exchange = exchange,
                         .ctx = exchange.ctx().WithMayBlock(options.on_pool),
                         .stream = std::move(stream),
                         .timeout = options.timeout,
                         .pooled = options.on_pool || gzip},
      std::move(writer), /*lengths=*/socket);
  // A compressing body is already pulled on the pool.
  if (options.on_pool && !gzip) body = NewPoolBody(exchange, std::move(body));
  if (socket) {
    // Only a watch that begins with a list is compressed.
    return http::AcceptWebSocket(
        exchange, std::move(socket_options),
        std::make_unique<WatchSocket>(std::move(body), frame_bytes, binary));
  }
  http::ResponseHead head{.code = 200, .headers = {{"Content-Type", StreamType(negotiated.type)}}};
  if (gzip) {
    AddGzipHeaders(head);
    body = NewGzipBody(exchange, std::move(body));
  }
  exchange.LetRequestRest();
  exchange.writer().Stream(std::move(head), std::move(body));
  return http::Step::Done();
}

}  // namespace apiserver::v0::response
