#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "apiserver/codec/json.h"
#include "apiserver/patch/apply/managed_fields.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Value;

// True if two maps have the same members, apart from `except`.
bool SameBut(Value a, Value b, std::initializer_list<std::string_view> except) {
  const auto excepted = [except](std::string_view key) {
    return std::find(except.begin(), except.end(), key) != except.end();
  };
  const auto count = [&](Value map) {
    std::size_t members = map.size();
    for (const std::string_view key : except) members -= map.Find(key) != nullptr ? 1 : 0;
    return members;
  };
  if (!a.is_map() || !b.is_map() || count(a) != count(b)) return false;
  for (const runtime::Member& member : a.members()) {
    if (excepted(member.key)) continue;
    const Value* const other = b.Find(member.key);
    if (other == nullptr || !(*other == member.value)) return false;
  }
  return true;
}

// Compares fieldsV1, which kinds that keep no text have in parsed form.
bool SameFields(Value a, Value b) {
  if (a.type() == b.type()) return a == b;
  std::string text_a;
  std::string text_b;
  codec::AppendJson(a, text_a);
  codec::AppendJson(b, text_b);
  return text_a == text_b;
}

bool SameTimes(Value a, Value b) {
  for (std::size_t i = 0; i < a.items().size(); ++i) {
    if (!(a.at(i)["time"] == b.at(i)["time"])) return false;
  }
  return true;
}

bool SameButTimes(Value a, Value b) {
  for (std::size_t i = 0; i < a.items().size(); ++i) {
    if (!SameBut(a.at(i), b.at(i), {"time", "fieldsV1"})) return false;
    if (!SameFields(a.at(i)["fieldsV1"], b.at(i)["fieldsV1"])) return false;
  }
  return true;
}

}  // namespace

// Follows IgnoreManagedFieldsTimestampsTransformer in endpoints/handlers: with the old times an
// update that changes nothing is not written.
void IgnoreManagedFieldsTimestamps(runtime::Object& object, const runtime::Object& old) {
  const Value now = object.metadata()["managedFields"];
  const Value before = old.metadata()["managedFields"];
  // A new or removed entry is a change in any case: a client that writes fields as they are owns
  // them from then on.
  if (now.size() == 0 || now.size() != before.size()) return;
  if (SameTimes(now, before)) return;
  // Most updates change something, which is quicker to see than that the fields are the same.
  const bool same = SameBut(object.metadata(), old.metadata(), {"managedFields"}) &&
                    SameBut(object.root(), old.root(), {"metadata"}) && SameButTimes(now, before);
  if (!same) return;
  object.SetPath({"metadata", "managedFields"}, runtime::Copy(before, object.arena()));
}

}  // namespace apiserver::v0::patch::apply
