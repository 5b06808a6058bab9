#include "apiserver/base/memory_budget.h"

namespace apiserver::v0 {

namespace {

// The most recently used items that are passed over before one is evicted all the same.
constexpr int kPassedOverMax = 16;

}  // namespace

// Evicts with the list locked, so that an item cannot be destroyed meanwhile: Remove() waits. An
// item that is larger than the whole share evicts itself last.
void EvictingShare::Add(Item& item, std::size_t bytes) {
  auto list = list_.Lock();
  item.bytes_ = bytes;
  Link(*list, item);
  while (list->used > bytes_max_) {
    Item& least = LeastUsed(*list);
    Unlink(*list, least);
    least.Evict();
  }
}

void EvictingShare::Remove(Item& item) {
  auto list = list_.Lock();
  if (item.linked_) Unlink(*list, item);
}

void EvictingShare::Link(List& list, Item& item) {
  item.linked_ = true;
  item.newer_ = nullptr;
  item.older_ = list.newest;
  (list.newest != nullptr ? list.newest->newer_ : list.oldest) = &item;
  list.newest = &item;
  list.used += item.bytes_;
}

void EvictingShare::Unlink(List& list, Item& item) {
  item.linked_ = false;
  (item.older_ != nullptr ? item.older_->newer_ : list.oldest) = item.newer_;
  (item.newer_ != nullptr ? item.newer_->older_ : list.newest) = item.older_;
  list.used -= item.bytes_;
}

// Returns the oldest item. One that was used since it was added, or since it was last passed over,
// gets a second chance.
EvictingShare::Item& EvictingShare::LeastUsed(List& list) {
  for (int passed = 0; passed < kPassedOverMax; ++passed) {
    Item& oldest = *list.oldest;
    if (&oldest == list.newest || !oldest.touched_.exchange(false, std::memory_order_relaxed)) {
      break;
    }
    Unlink(list, oldest);
    Link(list, oldest);
  }
  return *list.oldest;
}

}  // namespace apiserver::v0
