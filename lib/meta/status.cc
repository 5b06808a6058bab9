#include "apiserver/meta/status.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "apiserver/base/field_path.h"
#include "text/utf8.h"

namespace apiserver::v0::meta {
namespace {

using runtime::Arena;
using runtime::ListBuilder;
using runtime::MapBuilder;
using runtime::Value;

void AddText(MapBuilder& map, std::string_view key, std::string_view text, Arena& arena) {
  if (!text.empty()) map.Add(key, Value::String(arena.Copy(text)));
}

Value CauseToValue(const StatusCause& cause, Arena& arena) {
  MapBuilder map(arena);
  AddText(map, "reason", cause.reason, arena);
  AddText(map, "message", cause.message, arena);
  AddText(map, "field", cause.field, arena);
  return map.Build();
}

Value DetailsToValue(const StatusDetails& details, Arena& arena) {
  MapBuilder map(arena);
  AddText(map, "name", details.name, arena);
  AddText(map, "group", details.group, arena);
  AddText(map, "kind", details.kind, arena);
  AddText(map, "uid", details.uid, arena);
  if (!details.causes.empty()) {
    ListBuilder causes(arena);
    for (const StatusCause& cause : details.causes) causes.Add(CauseToValue(cause, arena));
    map.Add("causes", causes.Build());
  }
  if (details.retry_after_seconds != 0) {
    map.Add("retryAfterSeconds", Value::Int(details.retry_after_seconds));
  }
  return map.Build();
}

void AddHead(MapBuilder& map, std::string_view continue_token, Arena& arena) {
  map.Add("kind", Value::String("Status"));
  map.Add("apiVersion", Value::String("v1"));
  MapBuilder metadata(arena);
  AddText(metadata, "continue", continue_token, arena);
  map.Add("metadata", metadata.Build());
}

Reason ReasonFromWord(std::string_view word) {
  for (int i = 0; i < static_cast<int>(Reason::kWouldBlock); ++i) {
    const auto reason = static_cast<Reason>(i);
    if (ReasonWord(reason) == word) return reason;
  }
  return Reason::kUnknown;
}

constexpr std::size_t kUnicodeEscape = 6;
// The bytes of a cause besides its texts: names, quotes and the spaces of `?pretty`.
constexpr std::size_t kCauseBytes = 128;
// The limit of name, group, kind and uid, each, so that none of them takes all.
constexpr std::size_t kNameBytesMax = std::size_t{8} << 10;
constexpr std::size_t kMessageBytesMax = std::size_t{128} << 10;
constexpr std::size_t kCausesBytesMax = kStatusBytesMax - kMessageBytesMax - 5 * kNameBytesMax;

// Returns an upper bound of the bytes that a rune takes in JSON.
std::size_t JsonBytes(const text::Rune& rune) {
  if (rune.text.size() > 1) return 3 * rune.text.size();
  const std::uint32_t code = rune.code;
  // A byte that is no UTF-8 is a replacement rune, which is written as an escape.
  const bool escaped = code < 0x20 || code >= 0x7F || code == '<' || code == '>' || code == '&';
  if (escaped) return kUnicodeEscape;
  return code == '"' || code == '\\' ? 2 : 1;
}

// Distributes the room of a Status to its texts.
class Room {
 public:
  explicit Room(std::size_t bytes) : left_(bytes) {}

  // Takes room for the whole `text`. False: there is not enough, and nothing is taken.
  bool TakeAll(std::string_view text) {
    std::size_t needed = 0;
    while (!text.empty()) {
      const text::Rune rune = text::FirstRune(text);
      needed += JsonBytes(rune);
      if (needed > left_) return false;
      text.remove_prefix(rune.text.size());
    }
    left_ -= needed;
    return true;
  }
  bool TakeAll(const StatusCause& cause) {
    Room trial = *this;
    if (trial.left_ < kCauseBytes) return false;
    trial.left_ -= kCauseBytes;
    if (!trial.TakeAll(cause.reason) || !trial.TakeAll(cause.message) ||
        !trial.TakeAll(cause.field)) {
      return false;
    }
    left_ = trial.left_;
    return true;
  }
  // Takes as much of the front of `text` as has room, then "...".
  std::string TakeFront(std::string_view text) {
    constexpr std::size_t kDots = 3;
    if (TakeAll(text)) return std::string(text);
    std::size_t size = 0;
    std::size_t used = kDots;
    while (true) {
      const text::Rune rune = text::FirstRune(text.substr(size));
      if (used + JsonBytes(rune) > left_) break;
      used += JsonBytes(rune);
      size += rune.text.size();
    }
    left_ -= std::min(left_, used);
    return field::Shorten(text, size + kDots);
  }

 private:
  std::size_t left_;
};

// A cheap test that all but hostile errors pass.
bool IsShort(const Status& status) {
  std::size_t bytes = status.message().size() + status.continue_token().size();
  if (const StatusDetails* const details = status.details(); details != nullptr) {
    bytes +=
        details->name.size() + details->group.size() + details->kind.size() + details->uid.size();
    for (const StatusCause& cause : details->causes) {
      bytes += cause.reason.size() + cause.message.size() + cause.field.size() + kCauseBytes;
    }
  }
  return bytes <= kStatusBytesMax / kUnicodeEscape;
}

StatusDetails BoundedDetails(const StatusDetails& details, Room& room) {
  StatusDetails bounded;
  bounded.retry_after_seconds = details.retry_after_seconds;
  const auto cut = [](std::string_view text) { return Room(kNameBytesMax).TakeFront(text); };
  bounded.name = cut(details.name);
  bounded.group = cut(details.group);
  bounded.kind = cut(details.kind);
  bounded.uid = cut(details.uid);
  for (const StatusCause& cause : details.causes) {
    if (!room.TakeAll(cause)) break;
    bounded.causes.push_back(cause);
  }
  const std::size_t more = details.causes.size() - bounded.causes.size();
  if (more > 0) bounded.causes.push_back({"", "and " + std::to_string(more) + " more", ""});
  return bounded;
}

StatusDetails DetailsFromValue(Value value) {
  StatusDetails details;
  details.name = value["name"].AsString();
  details.group = value["group"].AsString();
  details.kind = value["kind"].AsString();
  details.uid = value["uid"].AsString();
  for (const Value cause : value["causes"].items()) {
    details.causes.push_back({std::string(cause["reason"].AsString()),
                              std::string(cause["message"].AsString()),
                              std::string(cause["field"].AsString())});
  }
  details.retry_after_seconds = static_cast<int>(value["retryAfterSeconds"].AsInt());
  return details;
}

}  // namespace

Status Bounded(const Status& status) {
  if (status.ok() || IsShort(status)) return status;
  Room message(kMessageBytesMax);
  Status bounded = status.WithMessage(message.TakeFront(status.message()));
  if (status.details() != nullptr) {
    Room causes(kCausesBytesMax);
    bounded = bounded.WithDetails(BoundedDetails(*status.details(), causes));
  }
  return bounded;
}

Value StatusToValue(const Status& whole, Arena& arena) {
  const Status status = Bounded(whole);
  MapBuilder map(arena);
  AddHead(map, status.continue_token(), arena);
  map.Add("status", Value::String("Failure"));
  AddText(map, "message", status.message(), arena);
  AddText(map, "reason", ReasonWord(status.reason()), arena);
  if (status.details() != nullptr) map.Add("details", DetailsToValue(*status.details(), arena));
  map.Add("code", Value::Int(status.code()));
  return map.Build();
}

Value SuccessToValue(const StatusDetails* details, int code, Arena& arena) {
  MapBuilder map(arena);
  AddHead(map, "", arena);
  map.Add("status", Value::String("Success"));
  if (details != nullptr && *details != StatusDetails())
    map.Add("details", DetailsToValue(*details, arena));
  if (code != 0) map.Add("code", Value::Int(code));
  return map.Build();
}

std::optional<Status> StatusFromValue(Value content) {
  if (content["kind"].AsString() != "Status") return std::nullopt;
  if (content["status"].AsString() == "Success") return std::nullopt;
  const Reason reason = ReasonFromWord(content["reason"].AsString());
  Status status(reason, std::string(content["message"].AsString()));
  if (content["details"].is_map()) {
    status = status.WithDetails(DetailsFromValue(content["details"]));
  }
  const std::string_view token = content["metadata"]["continue"].AsString();
  if (!token.empty()) status = status.WithContinueToken(std::string(token));
  const std::int64_t code = content["code"].AsInt();
  if (code > 0 && code != HttpCode(reason)) status = status.WithCode(static_cast<int>(code));
  return status;
}

}  // namespace apiserver::v0::meta
