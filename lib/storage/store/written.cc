#include "storage/store/written.h"

#include <utility>

namespace apiserver::v0::storage::store {

Written::~Written() {
  const auto places = places_.Lock();
  if (*places == nullptr) return;
  for (std::size_t i = 0; i < kPlaces; ++i) share_->Remove((*places)[i]);
}

void Written::Keep(std::string_view key, const Change& change, runtime::ObjectPtr object,
                   std::size_t bytes) {
  if (share_ == nullptr) return;
  Kept gone;      // Freed without
  Kept replaced;  // the lock.
  const auto places = places_.Lock();
  if (*places == nullptr) *places = std::make_unique<Place[]>(kPlaces);
  Place& old = PlaceOf(*places, change.before);
  if (old.kept.Lock()->revision == change.before) {
    share_->Remove(old);
    gone = std::exchange(*old.kept.Lock(), {});
  }
  Place& place = PlaceOf(*places, change.revision);
  share_->Remove(place);
  replaced =
      std::exchange(*place.kept.Lock(), {std::string(key), change.revision, std::move(object)});
  share_->Add(place, bytes);
}

runtime::ObjectPtr Written::Find(std::string_view key, kv::Revision revision) const {
  const auto places = places_.Lock();
  if (*places == nullptr) return nullptr;
  Place& place = PlaceOf(*places, revision);
  place.Touch();
  const auto kept = place.kept.Lock();
  return kept->revision == revision && kept->key == key ? kept->object : nullptr;
}

}  // namespace apiserver::v0::storage::store
