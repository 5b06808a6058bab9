#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0 {

// Deadline, cancellation and typed values of one piece of work, handed down every call that may
// wait. A cheap handle: copies speak of the same work. As Go's context.Context, with two additions:
// may_block(), and callbacks instead of a channel.
//
// Methods may be called from any thread, but for Set(), which belongs to whoever runs the work now.
class Context {
 public:
  // Never done, may block, no values.
  static Context Background();
  // A new piece of work under `parent`: done when the parent is, when Cancel() is called, or when
  // the deadline (if any) is found to have passed. Values of the parent are seen.
  static Context Child(const Context& parent,
                       std::optional<Clock::Monotonic> deadline = std::nullopt);

  // False on a loop: whoever would have to wait returns kWouldBlock at once instead.
  bool may_block() const { return may_block_; }
  Context WithMayBlock(bool may_block) const;

  std::optional<Clock::Monotonic> deadline() const;
  // Ends the work: runs the OnDone callbacks on the calling thread. `why` is what Err() returns;
  // only the first call counts. Children are cancelled too.
  void Cancel(Status why) const;
  // OK while the work goes on; kTimeout once `clock` is past the deadline; else why it ended.
  Status Err(const Clock& clock = RealClock()) const;
  bool done() const { return !Err().ok(); }

  // Unregisters a callback when destroyed. After that the callback does not run, and is not
  // running: destroying waits for a run in progress on another thread.
  class [[nodiscard]] Registration {
   public:
    Registration() = default;
    explicit Registration(UniqueFunction<void()> remove) : remove_(std::move(remove)) {}
    Registration(Registration&& other) noexcept : remove_(std::move(other.remove_)) {}
    Registration& operator=(Registration&& other) noexcept;
    ~Registration() { Reset(); }
    void Reset();

   private:
    UniqueFunction<void()> remove_;
  };
  // Calls `callback` once when the work is cancelled (not when a deadline passes: deadlines are
  // timers of whoever runs the work), at once if it already is. Any thread; must not block.
  Registration OnDone(UniqueFunction<void()> callback) const;

  // Values are keyed by their type: one of each.
  //
  // Null when neither this work nor a parent has one.
  template <class T>
  const T* Get() const {
    return static_cast<const T*>(Find(Tag<T>()));
  }
  template <class T>
  T* Mutable() {
    return const_cast<T*>(Get<T>());
  }
  // Replaces an earlier value of the same type.
  template <class T>
  T& Set(T value) {
    auto owned = std::make_unique<Box<T>>(std::move(value));
    T& ref = owned->value;
    Store(Tag<T>(), &ref, std::move(owned));
    return ref;
  }

 private:
  struct BoxBase {
    virtual ~BoxBase() = default;
  };
  template <class T>
  struct Box final : BoxBase {
    explicit Box(T v) : value(std::move(v)) {}
    T value;
  };
  template <class T>
  static const void* Tag() {
    static constexpr char tag = 0;
    return &tag;
  }
  struct State;

  explicit Context(std::shared_ptr<State> state) : state_(std::move(state)) {}
  const void* Find(const void* tag) const;
  void Store(const void* tag, void* value, std::unique_ptr<BoxBase> owned);

  std::shared_ptr<State> state_;
  bool may_block_ = true;
};

}  // namespace apiserver::inline v0
