#include "patch/strategic_strip.h"
#include "runtime/arena_span.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace apiserver::v0::patch {

using runtime::Member;
using runtime::Value;

namespace {

bool HasDirective(const Value& value, Nulls nulls) {
  const Value* const directive = value.Find("$patch");
  return directive != nullptr && (nulls == Nulls::kKept || !directive->is_null());
}

bool Stays(const Member& member, Nulls nulls) {
  if (nulls == Nulls::kDropped && member.value.is_null()) return false;
  return !HasDirective(member.value, nulls);
}

// True if stripping would remove anything from it.
bool NeedsStripping(const Value& value, Nulls nulls) {
  std::vector<Value> left = {value};
  while (!left.empty()) {
    const Value each = left.back();
    left.pop_back();
    for (const Member& member : each.members()) {
      if (!Stays(member, nulls)) return true;
      if (member.value.is_map() || member.value.is_list()) left.push_back(member.value);
    }
    for (const Value& item : each.items()) {
      if (HasDirective(item, nulls)) return true;
      if (item.is_map() || item.is_list()) left.push_back(item);
    }
  }
  return false;
}

}  // namespace

std::optional<Value> StripValue(const Value& value, Nulls nulls, runtime::Arena& arena) {
  if (HasDirective(value, nulls)) return std::nullopt;
  Value result = value;
  if (!NeedsStripping(value, nulls)) return result;
  // Containers get their place before their content is made.
  std::vector<Value*> left = {&result};
  while (!left.empty()) {
    Value& place = *left.back();
    left.pop_back();
    if (place.is_map()) {
      const std::span<Member> members = runtime::NewSpan<Member>(arena, place.size());
      const auto end = std::copy_if(place.members().begin(), place.members().end(), members.begin(),
                                    [&](const Member& each) { return Stays(each, nulls); });
      const auto kept = members.first(static_cast<std::size_t>(end - members.begin()));
      place = Value::Map(kept);
      for (Member& member : kept) left.push_back(&member.value);
    } else if (place.is_list()) {
      const std::span<Value> items = runtime::NewSpan<Value>(arena, place.size());
      const auto end = std::copy_if(place.items().begin(), place.items().end(), items.begin(),
                                    [&](const Value& each) { return !HasDirective(each, nulls); });
      const auto kept = items.first(static_cast<std::size_t>(end - items.begin()));
      place = Value::List(kept);
      for (Value& item : kept) left.push_back(&item);
    }
  }
  return result;
}

}  // namespace apiserver::v0::patch
