#include "runtime/rewrite.h"

#include <memory>
#include <span>

namespace apiserver::inline v0::runtime {

namespace {

// A container whose slots are being worked on; they are the last in the vector of slots.
struct Frame {
  Value source;
  std::size_t begin;
  std::size_t next;
  bool changed;
};

bool IsContainer(const Value& value) { return value.is_map() || value.is_list(); }

Value Build(bool map, std::span<const Slot> slots, Arena& arena) {
  if (slots.empty()) return map ? Value::Map({}) : Value::List({});
  if (map) {
    auto* const to =
        static_cast<Member*>(arena.Allocate(slots.size() * sizeof(Member), alignof(Member)));
    for (std::size_t i = 0; i < slots.size(); ++i) {
      std::construct_at(to + i, Member{slots[i].key, slots[i].value});
    }
    return Value::Map({to, slots.size()});
  }
  auto* const to =
      static_cast<Value*>(arena.Allocate(slots.size() * sizeof(Value), alignof(Value)));
  for (std::size_t i = 0; i < slots.size(); ++i) std::construct_at(to + i, slots[i].value);
  return Value::List({to, slots.size()});
}

class Rewriter {
 public:
  Rewriter(RewritePass& pass, Arena& arena) : pass_(pass), arena_(arena) {
    constexpr std::size_t kUsual = 64;
    slots_.reserve(kUsual);
    frames_.reserve(kUsual / 4);
  }

  bool Run(const Schema& schema, Value& root) {
    if (!IsContainer(root)) return true;
    if (!Push(schema, root)) return false;
    while (true) {
      if (!Descend()) return false;
      const Frame frame = frames_.back();
      frames_.pop_back();
      const Value result = frame.changed ? Build(frame.source.is_map(),
                                                 std::span(slots_).subspan(frame.begin), arena_)
                                         : frame.source;
      slots_.resize(frame.begin);
      if (frames_.empty()) {
        root = result;
        return true;
      }
      Frame& parent = frames_.back();
      slots_[parent.next++].value = result;
      parent.changed |= frame.changed;
    }
  }

 private:
  bool Push(const Schema& schema, Value source) {
    frames_.push_back({source, slots_.size(), slots_.size(), false});
    return pass_.Open(schema, source, slots_, frames_.back().changed);
  }
  // Goes down to a container none of whose slots is open.
  bool Descend() {
    while (frames_.back().next < slots_.size()) {
      const Slot slot = slots_[frames_.back().next];
      if (slot.schema == nullptr || !IsContainer(slot.value)) {
        ++frames_.back().next;
      } else if (!Push(*slot.schema, slot.value)) {
        return false;
      }
    }
    return true;
  }

  RewritePass& pass_;
  Arena& arena_;
  std::vector<Frame> frames_;
  std::vector<Slot> slots_;
};

}  // namespace

bool Rewrite(const Schema& schema, RewritePass& pass, Arena& arena, Value& root) {
  return Rewriter(pass, arena).Run(schema, root);
}

}  // namespace apiserver::inline v0::runtime
