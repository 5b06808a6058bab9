#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <unordered_map>

#include "apiserver/base/executor.h"
#include "apiserver/codec/codec.h"
#include "apiserver/meta/table.h"
#include "apiserver/response/response.h"
#include "response/negotiate.h"
#include "response/watch_counters.h"

namespace apiserver::inline v0::response {

// The form of a watch's events, and where they are counted.
struct EventForm {
  Target target;
  Negotiated negotiated;
  meta::TableOptions table_options;
  codec::EncodingShare share;
  WatchCounters counters;

  // Returns whether an event has the same bytes in both, Tables left out.
  bool LooksLike(const EventForm& other) const;
  // Returns whether both are the same, Tables left out.
  bool Equals(const EventForm& other) const;
};
using EventFormPtr = std::shared_ptr<const EventForm>;

// The forms of the watches of one loop: thousands of watches have a few. Used on its loop only.
class EventForms final {
 public:
  explicit EventForms(Executor& /*loop*/) {}

  // Returns the same form of another watch if there is one.
  EventFormPtr Share(EventForm form);

 private:
  static constexpr std::size_t kFormsMin = 16;

  std::unordered_multimap<const runtime::Kind*, std::weak_ptr<const EventForm>> known_;
  std::size_t sweep_at_ = kFormsMin;
};

}  // namespace apiserver::inline v0::response
