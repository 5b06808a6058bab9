#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "apiserver/base/clock.h"
#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0 {

// The deadline, cancellation and typed values of one piece of work, passed down every call that may
// wait. A cheap handle: copies refer to the same work. As Go's context.Context, with two additions:
// may_block(), and callbacks instead of a channel.
//
// Methods may be called from any thread, except Set(), which belongs to the thread that runs the
// work now.
class Context {
 public:
  // Returns a context that never ends, may block and has no values.
  static Context Background();
  // Starts a new piece of work under `parent`: it ends when the parent does, when Cancel() is
  // called, or when the deadline (if any) is found to have passed. It sees the values of the
  // parent.
  static Context Child(const Context& parent,
                       std::optional<Clock::Monotonic> deadline = std::nullopt);

  // False on a loop: a call that would have to wait returns kWouldBlock at once instead.
  bool may_block() const { return may_block_; }
  // Returns a handle to the same work with another may_block().
  Context WithMayBlock(bool may_block) const;

  // The earliest deadline of this work and its parents. nullopt: there is none.
  std::optional<Clock::Monotonic> deadline() const;
  // Moves the deadline of this work forward; a later one is ignored. Like Set(), it belongs to the
  // thread that runs the work now. Not for Background.
  void LimitTo(Clock::Monotonic deadline);
  // Ends the work: runs the OnDone callbacks on the calling thread. Err() returns `why`; only the
  // first call counts. Children are cancelled too.
  void Cancel(Status why) const;
  // Returns OK while the work goes on, kTimeout once `clock` is past the deadline, else the reason
  // why it ended.
  Status Err(const Clock& clock = RealClock()) const;
  bool done() const { return !Err().ok(); }

  // Unregisters a callback when destroyed. Afterwards the callback does not run any more: the
  // destructor waits for a run in progress on another thread.
  class [[nodiscard]] Registration {
   public:
    Registration() = default;
    // `remove` runs once, on the thread that resets or destroys the registration.
    explicit Registration(UniqueFunction<void()> remove) : remove_(std::move(remove)) {}
    Registration(Registration&& other) noexcept : remove_(std::move(other.remove_)) {}
    Registration& operator=(Registration&& other) noexcept;
    ~Registration() { Reset(); }
    // Unregisters now, as the destructor does.
    void Reset();

   private:
    UniqueFunction<void()> remove_;
  };
  // Calls `callback` once when the work is cancelled, or at once if it already is. A deadline that
  // passes does not call it: the code that runs the work sets timers for deadlines. Runs on the
  // thread that cancels, or on this one; must not block.
  Registration OnDone(UniqueFunction<void()> callback) const;

  // Values are keyed by their type: one of each.
  //
  // Returns the value of this work or of its nearest parent that has one. Null: neither this work
  // nor a parent has one.
  template <class T>
  const T* Get() const {
    const SlotBase* const slot = Find(&kTypeOf<T>);
    return slot != nullptr ? &static_cast<const Slot<T>*>(slot)->value : nullptr;
  }
  // The same as Get(), for the thread that runs the work now.
  template <class T>
  T* Mutable() {
    return const_cast<T*>(Get<T>());
  }
  // Sets a value, which lives as long as the work and hides an earlier one of the same type. Other
  // threads may call Get() meanwhile.
  template <class T>
  std::remove_cvref_t<T>& Set(T&& value) {
    using Kept = Slot<std::remove_cvref_t<T>>;
    auto* slot = ::new (Room(sizeof(Kept), alignof(Kept))) Kept(std::forward<T>(value));
    Link(*slot);
    return slot->value;
  }

 private:
  struct SlotBase;
  // Stands for a type of values: its address is their key. Its function spares each slot a pointer
  // to virtual functions.
  struct Type {
    void (*destroy)(SlotBase& slot);
  };
  struct SlotBase {
    const Type* type;
    SlotBase* next = nullptr;
  };
  template <class T>
  struct Slot final : SlotBase {
    // A constructor that throws halfway would leave the slot's memory unused; and the values are
    // few and plain.
    static_assert(std::is_nothrow_move_constructible_v<T>);
    template <class V>  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): never copied
    explicit Slot(V&& v) : SlotBase{&kTypeOf<T>}, value(std::forward<V>(v)) {}
    T value;
  };
  template <class T>
  static constexpr Type kTypeOf{[](SlotBase& slot) { static_cast<Slot<T>&>(slot).~Slot(); }};
  struct State;

  explicit Context(std::shared_ptr<State> state) : state_(std::move(state)) {}
  // Returns the slot of this type. Null: neither this work nor a parent has one.
  const SlotBase* Find(const Type* type) const;
  // Allocates from the state, which is made if there is none.
  void* Room(std::size_t bytes, std::size_t alignment);
  void Link(SlotBase& slot);

  std::shared_ptr<State> state_;
  bool may_block_ = true;
};

}  // namespace apiserver::inline v0
