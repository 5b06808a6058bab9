#include "apiserver/base/context.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory_resource>
#include <thread>
#include <utility>

namespace apiserver::v0 {

namespace {

// Fits the values that the filters of a watch set, about 980 bytes, and makes the state fill one of
// the allocator's sizes: a second allocation would double what a watch keeps all its life.
constexpr std::size_t kRoomBytes = 1040;

constexpr std::size_t kPlaces = 16;

// Returns the place of a type. The linker puts types side by side, so that few share one.
std::size_t PlaceOf(const void* type) {
  return reinterpret_cast<std::uintptr_t>(type) / sizeof(void*) % kPlaces;
}

}  // namespace

// A child reads its ancestors' `ended` instead of being notified, so that making and dropping one
// takes no lock; only a child with OnDone callbacks registers with its parent.
struct Context::State : std::enable_shared_from_this<Context::State> {
  struct Callbacks {
    std::map<std::uint64_t, UniqueFunction<void()>> waiting;  // In the order of registration.
    std::uint64_t next_id = 1;
    std::uint64_t running = 0;  // The id that `runner` is calling; 0: none.
    std::thread::id runner;
    bool ended = false;
    bool follows_parent = false;
  };

  const std::shared_ptr<State> parent;
  std::optional<Clock::Monotonic> deadline;  // The earliest of its own and its ancestors'.
  std::atomic<bool> ended{false};
  Status why;  // Written once, before `ended`.
  // Newest first and never changed, so that other threads may read while the thread that runs the
  // work sets.
  SlotBase* slots = nullptr;
  // The newest slot of the types that share a place. Null: there is no value of any of them.
  std::array<std::atomic<SlotBase*>, kPlaces> newest{};
  Guarded<Callbacks> callbacks;
  Registration parent_link;
  // The slots' room: a request has a dozen, all gone at once.
  alignas(std::max_align_t) std::array<std::byte, kRoomBytes> first_room;
  std::size_t used = 0;  // How much of `first_room`.
  std::pmr::monotonic_buffer_resource more_room;

  // Leaves `first_room` as it is: to clear it would cost as much as all else here.
  explicit State(std::shared_ptr<State> above) : parent(std::move(above)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    SlotBase* slot = slots;
    while (slot != nullptr) {
      SlotBase& gone = *std::exchange(slot, slot->next);
      gone.type->destroy(gone);
    }
  }

  // Takes from `first_room` while it lasts, which costs a few instructions.
  void* Room(std::size_t bytes, std::size_t alignment) {
    const std::size_t begin = (used + alignment - 1) & ~(alignment - 1);
    if (alignment > alignof(std::max_align_t) || begin + bytes > kRoomBytes) {
      return more_room.allocate(bytes, alignment);
    }
    used = begin + bytes;
    return first_room.data() + begin;
  }

  // Returns the nearest state that has ended, or null. It costs one atomic load per level; contexts
  // nest only a few levels deep.
  const State* FindEnded() const {
    for (const State* s = this; s != nullptr; s = s->parent.get()) {
      if (s->ended.load(std::memory_order_acquire)) return s;
    }
    return nullptr;
  }

  // Ends the work once: the first reason stays. The callbacks run without the lock, since they may
  // register, unregister or end contexts themselves.
  void End(Status because) {
    {
      auto locked = callbacks.Lock();
      if (locked->ended) return;
      locked->ended = true;
      why = std::move(because);
      ended.store(true, std::memory_order_release);
    }
    while (RunNext()) {
    }
  }

  // Runs the callback that was registered first; false: none is left. `running` and `runner` tell
  // Remove() which callback it must wait for, and that a callback may remove itself.
  bool RunNext() {
    UniqueFunction<void()> callback;
    {
      auto locked = callbacks.Lock();
      if (locked->waiting.empty()) return false;
      auto first = locked->waiting.begin();
      callback = std::move(first->second);
      locked->running = first->first;
      locked->runner = std::this_thread::get_id();
      locked->waiting.erase(first);
    }
    callback();
    callback = nullptr;  // Destroyed before a Remove() that waits for it returns.
    callbacks.Lock()->running = 0;
    callbacks.NotifyAll();
    return true;
  }

  // Returns 0 if the work has ended; `callback` is then untouched.
  std::uint64_t Add(UniqueFunction<void()>& callback) {
    auto locked = callbacks.Lock();
    if (locked->ended) return 0;
    const std::uint64_t id = locked->next_id++;
    locked->waiting.emplace(id, std::move(callback));
    return id;
  }

  // Blocks while another thread runs the callback: once this has returned, the caller may destroy
  // what the callback uses.
  void Remove(std::uint64_t id) {
    UniqueFunction<void()> dropped;  // Destroyed after the lock is given up.
    auto locked = callbacks.Lock();
    auto found = locked->waiting.find(id);
    if (found != locked->waiting.end()) {
      dropped = std::move(found->second);
      locked->waiting.erase(found);
      return;
    }
    if (locked->running == id && locked->runner == std::this_thread::get_id()) return;
    locked.Wait([&] { return locked->running != id; });
  }

  // Registers with the parent, and so on up the tree, when the first OnDone() needs it.
  void FollowParent() {
    if (parent == nullptr) return;
    {
      auto locked = callbacks.Lock();
      if (locked->follows_parent || locked->ended) return;
      locked->follows_parent = true;
    }
    parent->FollowParent();
    // A strong reference would keep a finished child, with all its values, until the parent ends.
    UniqueFunction<void()> follow = [self = weak_from_this()] {
      if (auto child = self.lock()) child->End(child->parent->WhyEnded());
    };
    const std::uint64_t id = parent->Add(follow);
    if (id == 0) {
      End(parent->WhyEnded());
      return;
    }
    // `parent` outlives this state, whose destructor unregisters.
    parent_link = Registration([above = parent.get(), id] { above->Remove(id); });
  }

  Status WhyEnded() const {
    const State* first = FindEnded();
    return first != nullptr ? first->why : Status();
  }
};

Context Context::Background() { return Context(nullptr); }

Context Context::Child(const Context& parent, std::optional<Clock::Monotonic> deadline) {
  auto state = std::make_shared<State>(parent.state_);
  state->deadline = parent.deadline();
  if (deadline && (!state->deadline || *deadline < *state->deadline)) state->deadline = deadline;
  Context child(std::move(state));
  child.may_block_ = parent.may_block_;
  return child;
}

Context Context::WithMayBlock(bool may_block) const {
  Context copy = *this;
  copy.may_block_ = may_block;
  return copy;
}

std::optional<Clock::Monotonic> Context::deadline() const {
  return state_ != nullptr ? state_->deadline : std::nullopt;
}

void Context::LimitTo(Clock::Monotonic deadline) {
  if (!state_->deadline || deadline < *state_->deadline) state_->deadline = deadline;
}

void Context::Cancel(Status why) const {
  if (state_ == nullptr) return;
  if (why.ok()) why = Status(Reason::kTimeout, "context canceled");
  const auto state = state_;  // A callback may destroy this handle.
  state->End(std::move(why));
}

Status Context::Err(const Clock& clock) const {
  if (state_ == nullptr) return {};
  if (const State* ended = state_->FindEnded()) return ended->why;
  if (state_->deadline && clock.Now() >= *state_->deadline) {
    return {Reason::kTimeout, "context deadline exceeded"};
  }
  return {};
}

Context::Registration& Context::Registration::operator=(Registration&& other) noexcept {
  if (this != &other) {
    Reset();
    remove_ = std::move(other.remove_);
  }
  return *this;
}

void Context::Registration::Reset() {
  if (!remove_) return;
  auto remove = std::move(remove_);
  remove();
}

Context::Registration Context::OnDone(UniqueFunction<void()> callback) const {
  if (state_ == nullptr) return {};
  state_->FollowParent();
  const std::uint64_t id = state_->Add(callback);
  if (id == 0) {
    callback();
    return {};
  }
  return Registration([state = state_, id] { state->Remove(id); });
}

// Searches this context before its ancestors, so that a child's value hides an ancestor's. Takes no
// lock: slots are only ever added in front.
const Context::SlotBase* Context::Find(const Type* type) const {
  const std::size_t place = PlaceOf(type);
  for (const State* state = state_.get(); state != nullptr; state = state->parent.get()) {
    // Slots are linked from the newest on, so that all older ones are behind this one.
    const SlotBase* slot = state->newest[place].load(std::memory_order_acquire);
    for (; slot != nullptr; slot = slot->next) {
      if (slot->type == type) return slot;
    }
  }
  return nullptr;
}

void* Context::Room(std::size_t bytes, std::size_t alignment) {
  // Background is shared by all; a value makes this handle a piece of work of its own.
  if (state_ == nullptr) state_ = std::make_shared<State>(nullptr);
  return state_->Room(bytes, alignment);
}

// The release pairs with the acquire in Find(). One thread sets values, so that no compare-and-swap
// is needed.
void Context::Link(SlotBase& slot) {
  slot.next = state_->slots;
  state_->slots = &slot;
  state_->newest[PlaceOf(slot.type)].store(&slot, std::memory_order_release);
}

}  // namespace apiserver::v0
