#include "apiserver/patch/merge_patch.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"

#include "runtime/arena_span.h"
#include "runtime/member_index.h"

namespace apiserver::v0::patch {
namespace {

using runtime::Arena;
using runtime::Member;
using runtime::MemberIndex;
using runtime::Value;

// A value that is still to be made. A map gets its place before its members are made, so that
// nothing recurses.
struct Task {
  Value* place;
  const Value* document;  // Null: there is none, and `patch` only loses its nulls.
  Value patch;
};

class Merger {
 public:
  explicit Merger(Arena& arena) : arena_(arena) {}

  Value Run(const Value& document, const Value& patch) {
    Value result;
    tasks_.push_back({&result, &document, patch});
    while (!tasks_.empty()) {
      Task task = tasks_.back();
      tasks_.pop_back();
      Value read;
      if (task.document != nullptr && task.document->type() == Value::Type::kRaw) {
        const auto parsed = codec::ParseJson(task.document->AsString(), arena_);
        read = parsed.ok() ? *parsed : Value();
        task.document = &read;
      }
      if (task.document == nullptr || !task.document->is_map()) {
        Prune(task);
      } else if (task.patch.is_map()) {
        Merge(task);
      } else {
        *task.place = task.patch;
      }
    }
    return result;
  }

 private:
  // A member of a merged map. One that is still to be made has a `patch`.
  struct Planned {
    Member member;
    const Value* document = nullptr;
    const Value* patch = nullptr;
  };

  void Merge(const Task& task) {
    const std::span<const Member> old = task.document->members();
    const std::span<const Member> changes = task.patch.members();
    const MemberIndex changed(changes);
    for (const Member& member : old) {
      const Value* change = changed.Find(member.key);
      if (change != nullptr && change->is_null()) continue;
      // A member that is null counts as absent.
      planned_.push_back({member, member.value.is_null() ? nullptr : &member.value, change});
    }
    const MemberIndex existing(old);
    for (const Member& change : changes) {
      if (change.value.is_null() || existing.Find(change.key) != nullptr) continue;
      planned_.push_back({change, nullptr, &change.value});
    }
    Place(task);
  }

  // Drops the nulls from the maps of a new value, those within lists included (evanphx/json-patch
  // does so, RFC 7386 would keep the latter); null items stay.
  void Prune(const Task& task) {
    *task.place = task.patch;
    if (task.patch.is_map()) {
      for (const Member& member : task.patch.members()) {
        if (!member.value.is_null()) planned_.push_back({member, nullptr, &member.value});
      }
      Place(task);
    } else if (task.patch.is_list()) {
      const std::span<Value> out = runtime::NewSpan<Value>(arena_, task.patch.size());
      std::size_t i = 0;
      for (const Value& item : task.patch.items()) {
        tasks_.push_back({&out[i++], nullptr, item});
      }
      *task.place = Value::List(out);
    }
  }

  // Makes a map of the planned members, sorted as encoding/json does.
  void Place(const Task& task) {
    std::sort(planned_.begin(), planned_.end(),
              [](const Planned& a, const Planned& b) { return a.member.key < b.member.key; });
    const std::span<Member> out = runtime::NewSpan<Member>(arena_, planned_.size());
    std::size_t i = 0;
    for (const Planned& planned : planned_) {
      out[i] = planned.member;
      if (planned.patch != nullptr) {
        tasks_.push_back({&out[i].value, planned.document, *planned.patch});
      }
      ++i;
    }
    planned_.clear();
    *task.place = Value::Map(out);
  }

  Arena& arena_;
  std::vector<Task> tasks_;
  std::vector<Planned> planned_;  // The members of the map that is being made.
};

}  // namespace

Result<Value> ApplyMergePatch(Value document, Value patch, Arena& arena) {
  if (!patch.is_map()) return meta::NewBadRequest("Invalid JSON Patch");
  return Merger(arena).Run(document, patch);
}

// Follows json-patch's CreateMergePatch: null stands for a removed member, and lists are replaced
// as a whole.
Value CreateMergePatch(Value original, Value modified, Arena& arena) {
  struct Pair {
    Value* place;
    Value original;
    Value modified;
  };
  Value result;
  std::vector<Pair> pairs = {{&result, original, modified}};
  while (!pairs.empty()) {
    const Pair pair = pairs.back();
    pairs.pop_back();
    const std::span<Member> out =
        runtime::NewSpan<Member>(arena, pair.original.size() + pair.modified.size());
    std::size_t size = 0;
    const MemberIndex now(pair.modified.members());
    const MemberIndex before(pair.original.members());
    for (const Member& member : pair.original.members()) {
      if (now.Find(member.key) == nullptr) out[size++] = {member.key, Value()};
    }
    for (const Member& member : pair.modified.members()) {
      const Value* old = before.Find(member.key);
      if (old != nullptr && *old == member.value) continue;
      out[size] = member;
      if (old != nullptr && old->is_map() && member.value.is_map()) {
        pairs.push_back({&out[size].value, *old, member.value});
      }
      ++size;
    }
    *pair.place = Value::Map(out.first(size));
  }
  return result;
}

}  // namespace apiserver::v0::patch
