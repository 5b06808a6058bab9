#include "apiserver/meta/status.h"

#include <utility>

namespace apiserver::inline v0::meta {
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

Value StatusToValue(const Status& status, Arena& arena) {
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
  if (details != nullptr) map.Add("details", DetailsToValue(*details, arena));
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

}  // namespace apiserver::inline v0::meta
