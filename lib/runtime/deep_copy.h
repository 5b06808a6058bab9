#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"
#include "runtime/arena_span.h"

namespace apiserver::inline v0::runtime {

// Copies values into an arena, with all that is in them. `CopyText` makes the copy of a key or of a
// string; it is asked for them in the order in which they stand in JSON.
template <class CopyText>
class DeepCopier {
 public:
  DeepCopier(Arena& arena, CopyText copy_text) : arena_(arena), copy_text_(copy_text) {}

  Value Copy(Value value) {
    Own(value);
    while (!open_.empty()) {
      Frame& frame = open_.back();
      if (frame.left == 0) {
        open_.pop_back();
        continue;
      }
      --frame.left;
      if (frame.member == nullptr) {
        Own(*frame.item++);
        continue;
      }
      Member& member = *frame.member++;
      member.key = copy_text_(member.key);
      Own(member.value);
    }
    return value;
  }

 private:
  // The rest of a container whose own array is copied, while what is in it is not.
  struct Frame {
    Member* member;
    Value* item;
    std::size_t left;
  };

  // Copies a scalar, or the array of a container. Invalidates references to frames.
  void Own(Value& value) {
    switch (value.type()) {
      case Value::Type::kString:
        value = Value::String(copy_text_(value.AsString()));
        return;
      case Value::Type::kRaw:
        value = Value::Raw(arena_.Copy(value.AsString()));
        return;
      case Value::Type::kBytes:
        value = Value::Bytes(arena_.Copy(value.AsString()));
        return;
      case Value::Type::kList: {
        const std::span<Value> items = CopySpan(arena_, value.items());
        value = Value::List(items);
        open_.push_back({nullptr, items.data(), items.size()});
        return;
      }
      case Value::Type::kMap: {
        const std::span<Member> members = CopySpan(arena_, value.members());
        value = Value::Map(members);
        open_.push_back({members.data(), nullptr, members.size()});
        return;
      }
      default:
        return;
    }
  }

  Arena& arena_;
  CopyText copy_text_;
  std::vector<Frame> open_;
};

}  // namespace apiserver::inline v0::runtime
