#pragma once

#include <cstddef>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::storage::store {

// Remembers of which revisions an update has read the object and written nothing: it was refused,
// or changed nothing. Others like it follow, as clients that apply the same again and again do,
// so that the object had better stay parsed. The number of places is fixed, and the last revision
// of each counts. Any thread.
class Unwritten {
 public:
  void Note(kv::Revision revision) {
    auto places = places_.Lock();
    // Many stores never need it.
    if (places->empty()) places->resize(kPlaces);
    (*places)[PlaceOf(revision)] = revision;
  }
  bool Has(kv::Revision revision) const {
    const auto places = places_.Lock();
    return !places->empty() && (*places)[PlaceOf(revision)] == revision;
  }

 private:
  // Objects that are written one after another have places one after another.
  static constexpr std::size_t kPlaces = 512;
  static std::size_t PlaceOf(kv::Revision revision) {
    return static_cast<std::size_t>(revision) % kPlaces;
  }

  Guarded<std::vector<kv::Revision>> places_;
};

}  // namespace apiserver::inline v0::storage::store
