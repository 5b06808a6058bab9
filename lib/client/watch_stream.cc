#include "client/watch_stream.h"

#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/meta/status.h"
#include "base/status_macros.h"
#include "client/answer.h"

namespace apiserver::v0::client {
namespace {

using runtime::Value;

// A longer event ends the watch: no server has objects as large.
constexpr std::size_t kEventBytesMax = 64 << 20;

Status NotAnEvent(std::string_view why) {
  return Status(Reason::kInternalError, "not a watch event: " + std::string(why));
}

// `kind` is that of the last object.
Result<watch::Event> EventOf(std::string_view line, runtime::KindPtr& kind,
                             const runtime::Scheme* scheme) {
  runtime::Arena arena;
  Result<Value> root = codec::ParseJson(line, arena);
  if (!root.ok()) return NotAnEvent(root.status().message());
  const auto type = watch::EventTypeFromWord((*root)["type"].AsString());
  if (!type) return NotAnEvent("of no known type");

  watch::Event event;
  event.type = *type;
  const Value object = (*root)["object"];
  if (event.type == watch::EventType::kError) {
    const std::optional<Status> error = meta::StatusFromValue(object);
    event.error = error.value_or(NotAnEvent("an error without a Status"));
    return event;
  }
  const Value metadata = object["metadata"];
  event.resource_version = metadata["resourceVersion"].AsString();
  if (event.type == watch::EventType::kBookmark) {
    event.initial_events_end =
        metadata["annotations"]["k8s.io/initial-events-end"].AsString() == "true";
    return event;
  }
  ASSIGN_OR_RETURN(event.object, ObjectOf(object, kind, scheme));
  return event;
}

class JsonWatchStream final : public WatchStream {
 public:
  JsonWatchStream(std::unique_ptr<http::ClientStream> stream, const runtime::Scheme* scheme)
      : stream_(std::move(stream)), scheme_(scheme) {}

  Result<std::optional<watch::Event>> Next(const Context& ctx) override {
    while (true) {
      const std::size_t end = buffer_.find('\n', searched_);
      if (end != std::string::npos) return TakeLine(end);
      searched_ = buffer_.size();
      if (buffer_.size() - begin_ > kEventBytesMax) return NotAnEvent("too long");
      ASSIGN_OR_RETURN(const std::string bytes, stream_->Read(ctx));
      if (bytes.empty()) return AtEnd();
      Compact();
      buffer_ += bytes;
    }
  }

  void Cancel() override { stream_->Cancel(); }

 private:
  Result<std::optional<watch::Event>> TakeLine(std::size_t end) {
    const std::string_view line = std::string_view(buffer_).substr(begin_, end - begin_);
    begin_ = searched_ = end + 1;
    ASSIGN_OR_RETURN(watch::Event event, EventOf(line, kind_, scheme_));
    return std::optional(std::move(event));
  }

  Result<std::optional<watch::Event>> AtEnd() const {
    if (begin_ != buffer_.size()) return NotAnEvent("cut short");
    return std::optional<watch::Event>();
  }

  // Drops the lines that were read, so that the buffer of a long watch does not grow.
  void Compact() {
    buffer_.erase(0, begin_);
    searched_ -= begin_;
    begin_ = 0;
  }

  std::unique_ptr<http::ClientStream> stream_;
  const runtime::Scheme* const scheme_;
  runtime::KindPtr kind_;  // Of the last object; null before the first.
  std::string buffer_;
  std::size_t begin_ = 0;     // The start of the next line.
  std::size_t searched_ = 0;  // No line ends before this.
};

}  // namespace

std::unique_ptr<WatchStream> NewWatchStream(std::unique_ptr<http::ClientStream> stream,
                                            const runtime::Scheme* scheme) {
  return std::make_unique<JsonWatchStream>(std::move(stream), scheme);
}

}  // namespace apiserver::v0::client
