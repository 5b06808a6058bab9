#include "apiserver/aggregator/api_service.h"
#include "apiserver/runtime/time.h"

namespace apiserver::v0::aggregator {
namespace {

using runtime::Object;
using runtime::Value;

// Returns the condition in its stored form. `old`, if not null, is the one that it replaces.
Value MakeCondition(const Condition& condition, const Value& old,
                    std::chrono::system_clock::time_point now, runtime::Arena& arena) {
  const auto text = [&arena](std::string_view copied) { return Value::String(arena.Copy(copied)); };
  const bool same = !old.is_null() && old["status"].AsString() == condition.status;
  runtime::MapBuilder made(arena);
  made.Add("type", text(condition.type));
  made.Add("status", text(condition.status));
  made.Add("lastTransitionTime", same ? old["lastTransitionTime"]
                                      : text(runtime::FormatTime(runtime::UnixTime::From(now))));
  if (!condition.reason.empty()) made.Add("reason", text(condition.reason));
  if (!condition.message.empty()) made.Add("message", text(condition.message));
  return made.Build();
}

}  // namespace

Condition LocalAvailableCondition() {
  return {.type = std::string(kAvailable),
          .status = "True",
          .reason = "Local",
          .message = "Local APIServices are always available"};
}

Value FindCondition(const Object& api_service, std::string_view type) {
  for (const Value& condition : api_service["status"]["conditions"].items()) {
    if (condition["type"].AsString() == type) return condition;
  }
  return {};
}

bool IsConditionTrue(const Object& api_service, std::string_view type) {
  return FindCondition(api_service, type)["status"].AsString() == "True";
}

// Follows SetAPIServiceCondition.
void SetCondition(Object& api_service, const Condition& condition,
                  std::chrono::system_clock::time_point now) {
  runtime::ListBuilder conditions(api_service.arena());
  bool placed = false;
  for (const Value& old : api_service["status"]["conditions"].items()) {
    const bool same = !placed && old["type"].AsString() == condition.type;
    placed |= same;
    conditions.Add(same ? MakeCondition(condition, old, now, api_service.arena()) : old);
  }
  if (!placed) conditions.Add(MakeCondition(condition, {}, now, api_service.arena()));
  api_service.SetPath({"status", "conditions"}, conditions.Build());
}

}  // namespace apiserver::v0::aggregator
