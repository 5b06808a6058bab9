#include "server/served.h"

#include <algorithm>
#include <utility>

#include "apiserver/meta/errors.h"
#include "server/filters/filters.h"

namespace apiserver::v0::server {

// Destroy() may wait, and the last owner may be a request on a loop.
OwnedStorage::~OwnedStorage() {
  pool_.Post([storage = std::move(storage_)] { storage->Destroy(); });
}

// One owner for each storage, though it may serve several versions. Sweeps when the table has
// doubled, so the cost of a call stays constant on average.
OwnedStoragePtr OwnedStorages::Own(const std::shared_ptr<rest::Storage>& storage) {
  const auto state = state_.Lock();
  if (state->known.size() >= state->sweep_at) {
    std::erase_if(state->known, [](const auto& each) { return each.second.expired(); });
    state->sweep_at = std::max<std::size_t>(64, 2 * state->known.size());
  }
  auto& known = state->known[storage.get()];
  OwnedStoragePtr owned = known.lock();
  if (!owned) known = owned = std::make_shared<const OwnedStorage>(storage, pool_);
  return owned;
}

std::vector<OwnedStoragePtr> OwnedStorages::All() const {
  std::vector<OwnedStoragePtr> all;
  const auto state = state_.Lock();
  for (const auto& [address, storage] : state->known) {
    if (OwnedStoragePtr owned = storage.lock()) all.push_back(std::move(owned));
  }
  return all;
}

// 404 for a request that found the resource just before it was removed.
http::Step Served::Serve(http::Exchange& exchange) {
  if (!Enter(exchange)) return meta::NewGenericServerResponse(404, "", {}, "");
  return installed_->Serve(exchange);
}

// A request that may take long, until its Context goes, where it is kept: ten thousand watches cost
// no allocation here.
class Served::Stay {
 public:
  Stay(ServedPtr served, std::weak_ptr<http::Exchange> exchange)
      : served(std::move(served)), exchange(std::move(exchange)) {}
  Stay(Stay&& unlinked) noexcept = default;
  Stay& operator=(Stay&&) = delete;
  ~Stay() {
    if (registered) served->Leave(*this);
  }

  ServedPtr served;
  std::weak_ptr<http::Exchange> exchange;
  bool registered = false;
  // Used under the lock.
  Stay* next = nullptr;
  Stay** link = nullptr;  // The pointer to this one.
};

// `ended_` is checked again under the lock, which End() holds: no request can slip in behind it.
bool Served::Enter(http::Exchange& exchange) {
  if (!IsLongRunning(exchange)) return !ended_;
  Stay& stay = exchange.Set(Stay(shared_from_this(), exchange.Share()));
  const auto first = long_running_.Lock();
  if (ended_) return false;
  stay.registered = true;
  stay.next = *first;
  stay.link = &*first;
  if (stay.next != nullptr) stay.next->link = &stay.next;
  *first = &stay;
  return true;
}

// O(1): the list is linked through the requests.
void Served::Leave(Stay& stay) {
  const auto lock = long_running_.Lock();
  *stay.link = stay.next;
  if (stay.next != nullptr) stay.next->link = stay.link;
}

// The exchanges are cancelled on their loops, without the lock: a cancelled one leaves the list.
void Served::End() {
  std::vector<std::shared_ptr<http::Exchange>> running;
  {
    const auto first = long_running_.Lock();
    ended_ = true;
    for (const Stay* stay = *first; stay != nullptr; stay = stay->next) {
      if (auto exchange = stay->exchange.lock()) running.push_back(std::move(exchange));
    }
  }
  for (std::shared_ptr<http::Exchange>& each : running) {
    Executor& loop = each->loop();
    loop.Post([exchange = std::move(each)] {
      exchange->ctx().Cancel({Reason::kServiceUnavailable, "the resource is not served any more"});
    });
  }
}

}  // namespace apiserver::v0::server
