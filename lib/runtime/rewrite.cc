#include "runtime/rewrite.h"

#include <array>
#include <memory>
#include <memory_resource>
#include <span>

#include "runtime/value_kinds.h"

namespace apiserver::v0::runtime {

namespace {

// A container whose slots are being worked on; they are the last in the vector of slots.
struct Frame {
  const Schema* schema;
  Value source;
  std::size_t begin;
  std::size_t next;
  bool changed;
};

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

// The memory that a copy of `value` takes.
std::size_t SizeOf(const Value& value) {
  std::size_t bytes = 0;
  std::vector<Value> pending = {value};
  while (!pending.empty()) {
    const Value at = pending.back();
    pending.pop_back();
    if (at.is_string()) bytes += at.size();
    for (const Value& item : at.items()) pending.push_back(item);
    for (const Member& member : at.members()) pending.push_back(member.value);
    bytes += at.items().size_bytes() + at.members().size_bytes();
  }
  return bytes;
}

// Gives out a buffer of its own first, then the heap's memory, which it takes back at once: a
// vector that grows does not keep what it had before.
class BufferThenHeap final : public std::pmr::memory_resource {
 private:
  static constexpr std::size_t kBufferBytes = 4096;

  void* do_allocate(std::size_t bytes, std::size_t align) override {
    std::size_t left = buffer_.size() - used_;
    void* at = buffer_.data() + used_;
    if (std::align(align, bytes, at, left) == nullptr) return heap_->allocate(bytes, align);
    used_ = buffer_.size() - left + bytes;
    return at;
  }
  void do_deallocate(void* at, std::size_t bytes, std::size_t align) override {
    const auto* const byte = static_cast<const std::byte*>(at);
    const bool mine = !std::less<>()(byte, buffer_.data()) &&
                      std::less<>()(byte, buffer_.data() + buffer_.size());
    if (!mine) heap_->deallocate(at, bytes, align);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::pmr::memory_resource* const heap_ = std::pmr::new_delete_resource();
  std::size_t used_ = 0;
  alignas(std::max_align_t) std::array<std::byte, kBufferBytes> buffer_;
};

// Walks with stacks of its own, so that deep content cannot exhaust the thread's.
class Rewriter {
 public:
  Rewriter(RewritePass& pass, Arena& arena, const RewriteRules& rules)
      : pass_(pass), arena_(arena), rules_(rules) {
    slots_.reserve(kUsual);
    frames_.reserve(kUsual / 4);
  }

  Rewritten Run(const Schema& schema, Value& root) {
    if (!IsContainer(root)) return Rewritten::kWhole;
    if (!Push(schema, root)) return Rewritten::kEndedByPass;
    while (true) {
      if (!Descend()) return Rewritten::kEndedByPass;
      if (arena_.bytes_reserved() + shared_bytes_ > rules_.arena_max) return Rewritten::kTooLarge;
      const Frame frame = frames_.back();
      frames_.pop_back();
      const Value result = frame.changed ? Build(frame.source.is_map(),
                                                 std::span(slots_).subspan(frame.begin), arena_)
                                         : frame.source;
      slots_.resize(frame.begin);
      if (frames_.empty()) {
        root = result;
        return Rewritten::kWhole;
      }
      last_ = {frame.schema, frame.source, result, frame.changed, 0};
      Put(result, frame.changed);
    }
  }

 private:
  static constexpr std::size_t kUsual = 64;
  struct Done {
    const Schema* schema = nullptr;
    Value source;
    Value result;
    bool changed = false;
    std::size_t bytes = 0;  // Zero: not yet counted.
  };

  bool Push(const Schema& schema, Value source) {
    // A huge list gets its room at once, with some for what is in its items: doubling would hold
    // three times as much for a moment.
    if (source.size() > slots_.capacity()) {
      slots_.reserve(slots_.size() + source.size() + kUsual * 16);
    }
    frames_.push_back({&schema, source, slots_.size(), slots_.size(), false});
    return pass_.Open(schema, source, slots_, frames_.back().changed);
  }
  // Goes down to a container none of whose slots is open.
  bool Descend() {
    while (frames_.back().next < slots_.size()) {
      const Slot slot = slots_[frames_.back().next];
      if (slot.schema == nullptr || !IsContainer(slot.value) || IsSettled(slot)) {
        ++frames_.back().next;
      } else if (slot.schema == last_.schema && IsSameContainer(slot.value, last_.source)) {
        Share();
      } else if (!Push(*slot.schema, slot.value)) {
        return false;
      }
    }
    return true;
  }
  bool IsSettled(const Slot& slot) const {
    return frames_.size() == 1 && rules_.settled.Has(slot.key, *slot.schema, slot.value);
  }
  // Counts shared content as if it were copied: the limit is for the content's size, however much
  // of it is in memory once.
  void Share() {
    if (last_.changed) {
      if (last_.bytes == 0) last_.bytes = SizeOf(last_.result);
      shared_bytes_ += last_.bytes;
    }
    Put(last_.result, last_.changed);
  }
  void Put(const Value& result, bool changed) {
    Frame& parent = frames_.back();
    slots_[parent.next++].value = result;
    parent.changed |= changed;
  }

  RewritePass& pass_;
  Arena& arena_;
  const RewriteRules& rules_;
  Done last_;  // The container rewritten last.
  std::size_t shared_bytes_ = 0;
  BufferThenHeap memory_;
  std::pmr::vector<Frame> frames_{&memory_};
  Slots slots_{&memory_};
};

}  // namespace

bool SettledRoot::Has(std::string_view key, const Schema& member_schema, const Value& value) const {
  if (schema == nullptr) return false;
  const Field* const field = schema->FindField(key);
  return field != nullptr && field->schema.get() == &member_schema &&
         IsSameContainer(root[key], value);
}

Rewritten Rewrite(const Schema& schema, RewritePass& pass, Arena& arena, Value& root,
                  const RewriteRules& rules) {
  return Rewriter(pass, arena, rules).Run(schema, root);
}

}  // namespace apiserver::v0::runtime
