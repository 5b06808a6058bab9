#include <string>

#include "apiserver/apiextensions/definition.h"
#include "apiserver/runtime/time.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Object;
using runtime::Value;

// Returns the condition in its stored form. `old`, if not null, is the one that it replaces.
Value MakeCondition(const Condition& condition, const Value& old,
                    std::chrono::system_clock::time_point now, runtime::Arena& arena) {
  const auto text = [&arena](std::string_view copied) { return Value::String(arena.Copy(copied)); };
  const std::string_view status = condition.status_text();
  Value since = old["lastTransitionTime"];
  if (since.is_null() || old["status"].AsString() != status) {
    since = text(runtime::FormatTime(runtime::UnixTime::From(now)));
  }
  runtime::MapBuilder made(arena);
  made.Add("type", text(condition.type));
  made.Add("status", Value::String(status));
  made.Add("lastTransitionTime", since);
  if (!condition.reason.empty()) made.Add("reason", text(condition.reason));
  if (!condition.message.empty()) made.Add("message", text(condition.message));
  if (const Value seen = old["observedGeneration"]; !seen.is_null()) {
    made.Add("observedGeneration", seen);
  }
  return made.Build();
}

}  // namespace

Value FindCondition(const Object& definition, std::string_view type) {
  for (const Value& condition : definition["status"]["conditions"].items()) {
    if (condition["type"].AsString() == type) return condition;
  }
  return {};
}

bool IsConditionTrue(const Object& definition, std::string_view type) {
  return FindCondition(definition, type)["status"].AsString() == "True";
}

// Follows SetCRDCondition of pkg/apihelpers.
void SetCondition(Object& definition, const Condition& condition,
                  std::chrono::system_clock::time_point now) {
  runtime::ListBuilder conditions(definition.arena());
  bool placed = false;
  for (const Value& old : definition["status"]["conditions"].items()) {
    const bool same = !placed && old["type"].AsString() == condition.type;
    placed |= same;
    conditions.Add(same ? MakeCondition(condition, old, now, definition.arena()) : old);
  }
  if (!placed) conditions.Add(MakeCondition(condition, {}, now, definition.arena()));
  definition.SetPath({"status", "conditions"}, conditions.Build());
}

void RemoveCondition(Object& definition, std::string_view type) {
  if (FindCondition(definition, type).is_null()) return;
  runtime::ListBuilder conditions(definition.arena());
  for (const Value& condition : definition["status"]["conditions"].items()) {
    if (condition["type"].AsString() != type) conditions.Add(condition);
  }
  definition.SetPath({"status", "conditions"}, conditions.Build());
}

}  // namespace apiserver::v0::apiextensions
