#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/executor.h"
#include "apiserver/meta/watch.h"
#include "response/event_form.h"

namespace apiserver::inline v0::response {

// The latest events as the watches of one loop send them, so that an event for a thousand watches
// is put together once. Bounded, and empty when no watch has sent anything for a while, since it
// keeps the events' objects. Used on its loop only.
class EventLines final : public std::enable_shared_from_this<EventLines> {
 public:
  // Longer lines are not kept: they are mostly their object's bytes.
  static constexpr std::size_t kLineBytesMax = 8 << 10;
  static constexpr std::size_t kLinesMax = 128;

  // `loop` must outlive all calls. `idle`: how long nothing was sent before all is dropped.
  explicit EventLines(Executor& loop, std::chrono::nanoseconds idle = std::chrono::seconds(1))
      : loop_(loop), idle_(idle) {}
  EventLines(const EventLines&) = delete;
  EventLines& operator=(const EventLines&) = delete;

  // The answer to a watch that has an event to send.
  struct Found {
    std::string_view line;  // Valid until the next call. Empty: none is kept.
    // Another watch has had the same event, and no line of it is kept: Keep() should follow.
    bool wanted = false;
  };
  Found Find(const watch::Event& event, const EventFormPtr& form);
  // Keeps the line of an event for which Find() said that it is wanted.
  void Keep(const watch::Event& event, const EventFormPtr& form, std::string_view line);

  // Returns how many events are kept.
  std::size_t size() const;

 private:
  // An event that a watch has sent, with the line once a second watch has sent it.
  struct Slot {
    watch::EventType type = watch::EventType::kAdded;
    runtime::ObjectPtr object;  // Null: the slot is empty.
    std::string resource_version;
    EventFormPtr form;
    std::string line;

    bool Has(const watch::Event& event, const EventFormPtr& wanted) const;
  };
  using Slots = std::array<Slot, kLinesMax>;
  static Slot& SlotOf(Slots& slots, const watch::Event& event, const EventForm& form);
  void DropWhenIdle();

  Executor& loop_;
  const std::chrono::nanoseconds idle_;
  std::unique_ptr<Slots> slots_;  // Null while idle.
  bool used_ = false;             // Since the timer was set.
};

}  // namespace apiserver::inline v0::response
