#include "meta/conditions.h"

#include "apiserver/runtime/time.h"

namespace apiserver::v0::meta {
namespace {

using runtime::Object;
using runtime::Value;

// Returns the condition in its stored form. `old`, if not null, is the one that it replaces.
Value MadeCondition(const Condition& condition, const Value& old,
                    std::chrono::system_clock::time_point now, runtime::Arena& arena) {
  const auto text = [&arena](std::string_view copied) { return Value::String(arena.Copy(copied)); };
  Value since = old["lastTransitionTime"];
  if (since.is_null() || old["status"].AsString() != condition.status) {
    since = text(runtime::FormatTime(runtime::UnixTime::From(now)));
  }
  runtime::MapBuilder made(arena);
  made.Add("type", text(condition.type));
  made.Add("status", text(condition.status));
  made.Add("lastTransitionTime", since);
  if (!condition.reason.empty()) made.Add("reason", text(condition.reason));
  if (!condition.message.empty()) made.Add("message", text(condition.message));
  if (const Value seen = old["observedGeneration"]; !seen.is_null()) {
    made.Add("observedGeneration", seen);
  }
  return made.Build();
}

}  // namespace

Value FindCondition(const Object& object, std::string_view type) {
  for (const Value& condition : object["status"]["conditions"].items()) {
    if (condition["type"].AsString() == type) return condition;
  }
  return {};
}

bool IsConditionTrue(const Object& object, std::string_view type) {
  return FindCondition(object, type)["status"].AsString() == "True";
}

// Follows SetAPIServiceCondition of kube-aggregator and SetCRDCondition of apiextensions-apiserver.
void SetCondition(Object& object, const Condition& condition,
                  std::chrono::system_clock::time_point now) {
  runtime::ListBuilder conditions(object.arena());
  bool placed = false;
  for (const Value& old : object["status"]["conditions"].items()) {
    const bool same = !placed && old["type"].AsString() == condition.type;
    placed |= same;
    conditions.Add(same ? MadeCondition(condition, old, now, object.arena()) : old);
  }
  if (!placed) conditions.Add(MadeCondition(condition, {}, now, object.arena()));
  object.SetPath({"status", "conditions"}, conditions.Build());
}

void RemoveCondition(Object& object, std::string_view type) {
  if (FindCondition(object, type).is_null()) return;
  runtime::ListBuilder conditions(object.arena());
  for (const Value& condition : object["status"]["conditions"].items()) {
    if (condition["type"].AsString() != type) conditions.Add(condition);
  }
  object.SetPath({"status", "conditions"}, conditions.Build());
}

}  // namespace apiserver::v0::meta
