#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/memory_budget.h"
#include "apiserver/base/sync.h"
#include "apiserver/runtime/object.h"
#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::storage::store {

// Keeps the content of what updates have written last, as long as there is room for it in a share:
// what is updated is mostly updated again, and the next update need not parse what this one has
// encoded. Small objects are not worth it. The number of places is fixed, and the last revision of
// each counts. Any thread.
class Written {
 public:
  // Null: nothing is kept.
  explicit Written(std::shared_ptr<EvictingShare> share) : share_(std::move(share)) {}
  ~Written();
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;

  bool keeps() const { return share_ != nullptr; }
  // Keeps `object`, which takes `bytes`, as what is at `key` since `revision`; lets go of what was
  // there `before`.
  struct Change {
    kv::Revision before = 0;
    kv::Revision revision = 0;
  };
  void Keep(std::string_view key, const Change& change, runtime::ObjectPtr object,
            std::size_t bytes);
  // Returns what is at `key` since `revision`. Null: it is not kept.
  runtime::ObjectPtr Find(std::string_view key, kv::Revision revision) const;

 private:
  // Objects that are written one after another have places one after another.
  static constexpr std::size_t kPlaces = 512;

  struct Kept {
    std::string key;
    kv::Revision revision = 0;
    runtime::ObjectPtr object;
  };
  struct Place final : EvictingShare::Item {
    void Evict() override { *kept.Lock() = {}; }
    Guarded<Kept> kept;
  };
  using Places = std::unique_ptr<Place[]>;

  static Place& PlaceOf(const Places& places, kv::Revision revision) {
    return places[static_cast<std::size_t>(revision) % kPlaces];
  }

  const std::shared_ptr<EvictingShare> share_;
  // Locked while a place is changed, but not while its object is evicted. Many stores never need
  // places.
  Guarded<Places> places_;
};

}  // namespace apiserver::inline v0::storage::store
