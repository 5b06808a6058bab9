#include "groups/core/pod_condition.h"

#include <string>

#include "apiserver/meta/time.h"

namespace apiserver::v0::groups::core {
namespace {

using runtime::Arena;
using runtime::Value;

// `old`: the condition of that type; null: there is none.
Value Made(const NewCondition& condition, Value old, const Clock& clock, Arena& arena) {
  const bool stays = old["status"].AsString() == condition.status;
  const Value since = old["lastTransitionTime"];
  runtime::MapBuilder map(arena);
  map.Add("type", Value::String(arena.Copy(condition.type)));
  map.Add("status", Value::String(arena.Copy(condition.status)));
  map.Add("lastTransitionTime",
          stays && !since.is_null() ? since : Value::String(arena.Copy(meta::Timestamp(clock))));
  if (!condition.reason.empty()) map.Add("reason", Value::String(arena.Copy(condition.reason)));
  if (!condition.message.empty()) {
    map.Add("message", Value::String(arena.Copy(condition.message)));
  }
  return map.Build();
}

}  // namespace

void SetPodCondition(runtime::Object& pod, const NewCondition& condition, const Clock& clock) {
  Arena& arena = pod.arena();
  runtime::ListBuilder conditions(arena);
  bool found = false;
  for (const Value& present : pod["status"]["conditions"].items()) {
    const bool same = !found && present["type"].AsString() == condition.type;
    conditions.Add(same ? Made(condition, present, clock, arena) : present);
    found |= same;
  }
  if (!found) conditions.Add(Made(condition, Value(), clock, arena));
  pod.SetPath({"status", "conditions"}, conditions.Build());
}

}  // namespace apiserver::v0::groups::core
