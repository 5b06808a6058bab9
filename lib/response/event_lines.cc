#include "response/event_lines.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace apiserver::v0::response {

// The object is compared by its address, which stays its own while the slot keeps it, and so is the
// form first: the watches of a loop share most.
bool EventLines::Slot::Has(const watch::Event& event, const EventFormPtr& wanted) const {
  return object == event.object && type == event.type &&
         (form == wanted || form->LooksLike(*wanted)) && resource_version == event.resource_version;
}

// Each event has one place: a search would cost more than another line does.
EventLines::Slot& EventLines::SlotOf(Slots& slots, const watch::Event& event,
                                     const EventForm& form) {
  auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(event.object.get()));
  bits ^= static_cast<std::uint64_t>(event.type) << 1 ^
          static_cast<std::uint64_t>(form.negotiated.type) << 2;
  // The upper bits of a product depend on all bits of its factors.
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
  return slots[(bits * kGolden >> 32) % kLinesMax];
}

// The first watch only leaves a note: for the only watch of a resource nothing is copied.
EventLines::Found EventLines::Find(const watch::Event& event, const EventFormPtr& form) {
  if (!slots_) {
    DropWhenIdle();
    slots_ = std::make_unique<Slots>();
  }
  used_ = true;
  Slot& slot = SlotOf(*slots_, event, *form);
  if (slot.Has(event, form)) return {.line = slot.line, .wanted = slot.line.empty()};
  slot = {.type = event.type,
          .object = event.object,
          .resource_version = event.resource_version,
          .form = form};
  return {};
}

void EventLines::Keep(const watch::Event& event, const EventFormPtr& form, std::string_view line) {
  if (!slots_ || line.size() > kLineBytesMax) return;
  Slot& slot = SlotOf(*slots_, event, *form);
  if (slot.Has(event, form)) slot.line = line;
}

void EventLines::DropWhenIdle() {
  used_ = false;
  (void)loop_.PostAfter(idle_, [weak = weak_from_this()] {
    const auto live = weak.lock();
    if (!live) return;
    if (live->used_) return live->DropWhenIdle();
    live->slots_.reset();
  });
}

std::size_t EventLines::size() const {
  if (!slots_) return 0;
  return static_cast<std::size_t>(
      std::ranges::count_if(*slots_, [](const Slot& slot) { return slot.object != nullptr; }));
}

}  // namespace apiserver::v0::response
