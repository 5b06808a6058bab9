#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/cbor.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "response/metadata.h"
#include "response/negotiate.h"
#include "response/send.h"
#include "response/table.h"

namespace apiserver::inline v0::response {

namespace {

constexpr std::size_t kEventsPerTurn = 64;
// With less room than this events are sent one by one.
constexpr std::size_t kUsualRoom = 16 << 10;

// Turns events into the bytes of one watch's stream.
class EventWriter {
 public:
  EventWriter(Target target, Negotiated negotiated, meta::TableOptions table_options,
              codec::EncodingShare share)
      : target_(std::move(target)),
        share_(std::move(share)),
        negotiated_(std::move(negotiated)),
        table_options_(table_options) {}

  // Appends one framed event. An object that cannot be encoded becomes an ERROR event.
  void Append(const Context& ctx, const watch::Event& event, std::string& out) {
    if (negotiated_.type == codec::MediaType::kProtobuf) {
      AppendProtobuf(event, out);
      return;
    }
    if (negotiated_.type == codec::MediaType::kCbor) {
      std::string object;
      watch::EventType type = event.type;
      const Status status = AppendJsonObject(ctx, event, object);
      if (!status.ok()) {
        type = watch::EventType::kError;
        object.clear();
        AppendStatus(status, object);
      }
      AppendCborEvent(type, object, out);
      return;
    }
    const std::size_t start = out.size();
    out += "{\"type\":\"";
    out += watch::EventTypeWord(event.type);
    out += "\",\"object\":";
    const Status status = AppendJsonObject(ctx, event, out);
    if (!status.ok()) {
      out.resize(start);
      out += "{\"type\":\"ERROR\",\"object\":";
      AppendStatus(status, out);
    }
    out += "}\n";
  }

 private:
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

  Status AppendJsonObject(const Context& ctx, const watch::Event& event, std::string& out) {
    if (event.type == watch::EventType::kError) {
      AppendStatus(event.error, out);
      return {};
    }
    if (event.type == watch::EventType::kBookmark) return AppendBookmark(ctx, event, out);
    return AppendShaped(ctx, event.object, event, out);
  }

  Status AppendShaped(const Context& ctx, const runtime::ObjectPtr& object,
                      const watch::Event& event, std::string& out) {
    // Only a DELETED event carries a revision that is not the object's own.
    const bool deleted = event.type == watch::EventType::kDeleted;
    const std::string revision = deleted ? event.resource_version : "";
    if (negotiated_.shape == Shape::kTable) {
      ASSIGN_OR_RETURN(const std::string json,
                       TableJson(ctx, {object},
                                 ListMetaJson(event.resource_version.empty()
                                                  ? std::string(object->resource_version())
                                                  : event.resource_version,
                                              "", std::nullopt),
                                 {.target = target_,
                                  .options = table_options_,
                                  .meta_version = negotiated_.meta_version,
                                  .with_columns = !std::exchange(columns_sent_, true),
                                  .resource_version = revision,
                                  .encodings = share_}));
      out += json;
      return {};
    }
    ASSIGN_OR_RETURN(const runtime::EncodingPtr encoding,
                     codec::EncodingOf(*object, target_.version, runtime::Format::kJson, share_));
    if (negotiated_.shape != Shape::kObject) {
      out += "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/" +
             negotiated_.meta_version + "\",\"metadata\":";
      out += MetadataWithResourceVersion(*encoding, revision);
      out += '}';
      return {};
    }
    out += object->kind().JsonPrefix(target_.version);
    if (revision.empty()) {
      encoding->AppendTo(out);
    } else {
      out += BodyWithResourceVersion(*encoding, revision);
    }
    return {};
  }

  // An empty object of the kind with nothing but a revision: what a Go server sends.
  Status AppendBookmark(const Context& ctx, const watch::Event& event, std::string& out) {
    auto object = std::make_shared<runtime::Object>(target_.kind, target_.version);
    object->Edit("metadata", "resourceVersion") = event.resource_version;
    if (event.initial_events_end) {
      object->Edit("metadata", "annotations", "k8s.io/initial-events-end") = "true";
    }
    if (target_.kind->semantics() == runtime::Semantics::kStruct) {
      RETURN_IF_ERROR(runtime::Normalize(*object));
    }
    return AppendShaped(ctx, object, event, out);
  }

  void AppendProtobuf(const watch::Event& event, std::string& out) {
    const codec::WatchForm form{.kind = *target_.kind,
                                .version = target_.version,
                                .meta_version = negotiated_.shape == Shape::kObject
                                                    ? std::string_view()
                                                    : negotiated_.meta_version,
                                .share = share_};
    Status status = codec::AppendWatchEventProtobuf(event, form, out);
    if (status.ok()) return;
    watch::Event failed{.type = watch::EventType::kError, .error = std::move(status)};
    (void)codec::AppendWatchEventProtobuf(failed, form, out);
  }

  Target target_;
  codec::EncodingShare share_;
  Negotiated negotiated_;
  meta::TableOptions table_options_;
  bool columns_sent_ = false;
};

// Wakes a watch whose Context is cancelled: its time is up, the server drains, the peer is gone.
class EndSignal {
 public:
  explicit EndSignal(const Context& ctx)
      : registration_(ctx.OnDone([this] { waker_.Lock()->Wake(); })) {}
  void Arm(const Waker& waker) { *waker_.Lock() = waker; }

 private:
  Guarded<Waker> waker_;
  Context::Registration registration_;
};

// A watch's body: pulls events while the peer has room, holds no bytes of its own.
class WatchBody final : public http::BodySource {
 public:
  WatchBody(Context ctx, std::unique_ptr<watch::Stream> stream, EventWriter writer,
            Executor::Cancel timer)
      : ctx_(std::move(ctx)),
        stream_(std::move(stream)),
        writer_(std::move(writer)),
        timer_(std::move(timer)),
        end_(ctx_) {}

  ~WatchBody() override {
    if (timer_) timer_();
  }

  http::Pull Next(http::ChunkWriter& out, const Waker& waker) override {
    if (!std::exchange(armed_, true)) end_.Arm(waker);
    // Also without the signal: it may have come before the waker did.
    if (ctx_.done()) return http::Pull::kEnd;
    std::vector<watch::Event> events;
    const bool short_of_room = out.room() < kUsualRoom;
    const watch::Stream::State state =
        stream_->Next(events, short_of_room ? 1 : kEventsPerTurn, waker);
    std::string bytes;
    for (const watch::Event& event : events) writer_.Append(ctx_, event, bytes);
    if (!bytes.empty()) out.Take(std::move(bytes));
    switch (state) {
      case watch::Stream::State::kMore:
        return http::Pull::kMore;
      case watch::Stream::State::kWait:
        return http::Pull::kWait;
      case watch::Stream::State::kEnd:
        break;
    }
    return http::Pull::kEnd;
  }

 private:
  Context ctx_;
  std::unique_ptr<watch::Stream> stream_;
  EventWriter writer_;
  Executor::Cancel timer_;
  EndSignal end_;
  bool armed_ = false;
};

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
  Executor::Cancel timer = exchange.loop().PostAfter(
      options.timeout, [weak = std::weak_ptr<http::Exchange>(exchange.Share())] {
        if (auto live = weak.lock()) live->ctx().Cancel({Reason::kTimeout, "the watch is over"});
      });
  const std::string content_type = StreamType(negotiated.type);
  exchange.writer().Stream(
      {.code = 200, .headers = {{"Content-Type", content_type}}},
      std::make_unique<WatchBody>(
          exchange.ctx(), std::move(stream),
          EventWriter(target, negotiated, table_options, EncodingShareOf(exchange)),
          std::move(timer)));
  return http::Step::Done();
}

}  // namespace apiserver::inline v0::response
