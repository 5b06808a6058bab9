#include "apiserver/base/context.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace apiserver::v0 {

namespace {

// Fits the values that the filters of a watch set, and makes the state fill one of the allocator's
// sizes.
constexpr std::size_t kRoomBytes = 776;
// The least that is allocated when the room is used up.
constexpr std::size_t kMoreRoomBytes = 240;

// More than the types of a request's values, so that few of those share a place.
constexpr std::size_t kPlaces = 32;

constexpr Clock::Monotonic kNoDeadline = Clock::Monotonic::max();

// Stands for a slot that is not in the first room.
constexpr std::uint8_t kElsewhere = 0xff;

// Returns the place of a type. The linker puts types side by side, so that few share one.
std::size_t PlaceOf(const void* type) {
  return reinterpret_cast<std::uintptr_t>(type) / sizeof(void*) % kPlaces;
}

}  // namespace

// A child reads its ancestors' `ended` instead of being notified, so that making and dropping one
// takes no lock; only a child with OnDone callbacks registers with its parent.
struct Context::State : std::enable_shared_from_this<Context::State> {
  // Heads a further piece of the slots' room.
  struct alignas(std::max_align_t) More {
    More* next;
  };
  // Guarded by `lock`.
  struct Callbacks {
    std::map<std::uint64_t, UniqueFunction<void()>> waiting;  // In the order of registration.
    std::uint64_t next_id = 1;
    std::uint64_t running = 0;  // The id that `runner` is calling; 0: none.
    std::thread::id runner;
  };

  const std::shared_ptr<State> parent;
  Clock::Monotonic deadline = kNoDeadline;  // The earliest of its own and its ancestors'.
  Status why;                               // Written once, before `ended`.
  // Newest first and never changed, so that other threads may read while the thread that runs the
  // work sets.
  std::atomic<SlotBase*> slots{nullptr};
  // Where in `first_room` the newest slot is of the types that share a place: the number of its
  // first word, from one on. Zero: there is no value of any of them. kElsewhere: any slot may be.
  std::array<std::atomic<std::uint8_t>, kPlaces> newest{};
  std::mutex lock;
  // The number of callbacks that have run, which Remove() waits for: a condition variable would be
  // larger than all callbacks.
  std::atomic<std::uint32_t> runs{0};
  std::uint16_t left = kRoomBytes;  // The bytes behind `free`.
  std::atomic<bool> ended{false};   // Written under `lock`.
  bool follows_parent = false;      // Guarded by `lock`.
  Callbacks callbacks;
  Registration parent_link;
  // The slots' room: a request has a dozen, all gone at once.
  alignas(void*) std::array<std::byte, kRoomBytes> first_room;
  std::byte* free = first_room.data();
  More* more = nullptr;

  // Leaves `first_room` as it is: to clear it would cost as much as all else here.
  explicit State(std::shared_ptr<State> above) : parent(std::move(above)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    SlotBase* slot = slots.load();
    while (slot != nullptr) {
      SlotBase& gone = *std::exchange(slot, slot->next);
      gone.type->destroy(gone);
    }
    while (more != nullptr) ::operator delete(std::exchange(more, more->next));
  }

  void* Allocate(std::size_t bytes, std::size_t alignment) {
    static_assert(kRoomBytes / sizeof(void*) < kElsewhere);
    void* at = free;
    std::size_t room = left;
    if (std::align(alignment, bytes, at, room) == nullptr) {
      room = std::max(bytes + alignment, kMoreRoomBytes);
      more = ::new (::operator new(sizeof(More) + room)) More{more};
      at = more + 1;
      (void)std::align(alignment, bytes, at, room);
    }
    free = static_cast<std::byte*>(at) + bytes;
    left = static_cast<std::uint16_t>(
        std::min<std::size_t>(room - bytes, std::numeric_limits<std::uint16_t>::max()));
    return at;
  }

  // Returns what newest[] says of a slot.
  std::uint8_t NumberOf(const SlotBase& slot) const {
    const auto* const at = reinterpret_cast<const std::byte*>(&slot);
    const bool inside = at >= first_room.data() && at < first_room.data() + kRoomBytes;
    if (!inside) return kElsewhere;
    return static_cast<std::uint8_t>((at - first_room.data()) / sizeof(void*) + 1);
  }
  const SlotBase* FromNumber(std::uint8_t number) const {
    if (number == 0) return nullptr;
    if (number == kElsewhere) return slots.load(std::memory_order_acquire);
    return std::launder(
        reinterpret_cast<const SlotBase*>(first_room.data() + (number - 1) * sizeof(void*)));
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
      const std::lock_guard locked(lock);
      if (ended.load(std::memory_order_relaxed)) return;
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
      const std::lock_guard locked(lock);
      if (callbacks.waiting.empty()) return false;
      auto first = callbacks.waiting.begin();
      callback = std::move(first->second);
      callbacks.running = first->first;
      callbacks.runner = std::this_thread::get_id();
      callbacks.waiting.erase(first);
    }
    callback();
    callback = nullptr;  // Destroyed before a Remove() that waits for it returns.
    {
      const std::lock_guard locked(lock);
      callbacks.running = 0;
    }
    runs.fetch_add(1);
    runs.notify_all();
    return true;
  }

  // Returns 0 if the work has ended; `callback` is then untouched.
  std::uint64_t Add(UniqueFunction<void()>& callback) {
    const std::lock_guard locked(lock);
    if (ended.load(std::memory_order_relaxed)) return 0;
    const std::uint64_t id = callbacks.next_id++;
    callbacks.waiting.emplace(id, std::move(callback));
    return id;
  }

  // Blocks while another thread runs the callback: once this has returned, the caller may destroy
  // what the callback uses.
  void Remove(std::uint64_t id) {
    UniqueFunction<void()> dropped;  // Destroyed after the lock is given up.
    std::uint32_t before = 0;
    {
      const std::lock_guard locked(lock);
      auto found = callbacks.waiting.find(id);
      if (found != callbacks.waiting.end()) {
        dropped = std::move(found->second);
        callbacks.waiting.erase(found);
        return;
      }
      if (callbacks.running != id || callbacks.runner == std::this_thread::get_id()) return;
      before = runs.load();
    }
    runs.wait(before);
  }

  // Registers with the parent, and so on up the tree, when the first OnDone() needs it.
  void FollowParent() {
    if (parent == nullptr) return;
    {
      const std::lock_guard locked(lock);
      if (follows_parent || ended.load(std::memory_order_relaxed)) return;
      follows_parent = true;
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
  static_assert(sizeof(State) == 1024 - 2 * sizeof(void*), "with its control block");
  auto state = std::make_shared<State>(parent.state_);
  if (parent.state_ != nullptr) state->deadline = parent.state_->deadline;
  if (deadline) state->deadline = std::min(state->deadline, *deadline);
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
  if (state_ == nullptr || state_->deadline == kNoDeadline) return std::nullopt;
  return state_->deadline;
}

void Context::LimitTo(Clock::Monotonic deadline) {
  state_->deadline = std::min(state_->deadline, deadline);
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
  if (state_->deadline != kNoDeadline && clock.Now() >= state_->deadline) {
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
    const SlotBase* slot = state->FromNumber(state->newest[place].load(std::memory_order_acquire));
    for (; slot != nullptr; slot = slot->next) {
      if (slot->type == type) return slot;
    }
  }
  return nullptr;
}

void* Context::Room(std::size_t bytes, std::size_t alignment) {
  // Background is shared by all; a value makes this handle a piece of work of its own.
  if (state_ == nullptr) state_ = std::make_shared<State>(nullptr);
  return state_->Allocate(bytes, alignment);
}

// The release pairs with the acquire in Find(). One thread sets values, so that no compare-and-swap
// is needed.
void Context::Link(SlotBase& slot) {
  slot.next = state_->slots.load(std::memory_order_relaxed);
  state_->slots.store(&slot, std::memory_order_release);
  state_->newest[PlaceOf(slot.type)].store(state_->NumberOf(slot), std::memory_order_release);
}

}  // namespace apiserver::v0
