#include "response/event_form.h"

#include <utility>

namespace apiserver::v0::response {

bool EventForm::LooksLike(const EventForm& other) const {
  return target.kind == other.target.kind && target.version == other.target.version &&
         negotiated.type == other.negotiated.type && negotiated.shape == other.negotiated.shape &&
         negotiated.meta_version == other.negotiated.meta_version;
}

bool EventForm::Equals(const EventForm& other) const {
  return LooksLike(other) && target.table == other.target.table &&
         negotiated.pretty == other.negotiated.pretty && share == other.share &&
         counters.events == other.counters.events && counters.sizes == other.counters.sizes;
}

EventFormPtr EventForms::Share(EventForm form) {
  const runtime::Kind* const kind = form.target.kind.get();
  for (auto [each, end] = known_.equal_range(kind); each != end; ++each) {
    if (auto known = each->second.lock(); known != nullptr && known->Equals(form)) return known;
  }
  // Sweeps when there are twice as many, so that the cost of a call stays constant on average.
  if (known_.size() >= sweep_at_) {
    std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
    sweep_at_ = std::max(kFormsMin, 2 * known_.size());
  }
  auto shared = std::make_shared<const EventForm>(std::move(form));
  known_.emplace(kind, shared);
  return shared;
}

}  // namespace apiserver::v0::response
