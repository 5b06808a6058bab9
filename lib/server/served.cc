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

// A request may have found the resource just before it was removed or replaced.
http::Step Served::Serve(http::Exchange& exchange) {
  if (Enter(exchange)) return installed_->Serve(exchange);
  std::shared_ptr<Route> successor = running_.Lock()->successor;
  if (!successor) return meta::NewGenericServerResponse(404, "", {}, "");
  Route& route = *successor;
  exchange.Set(std::move(successor));  // Beside this one, which the exchange keeps too.
  return route.Serve(exchange);
}

// Linear in the subresources of one resource.
bool Served::IsResource(const request::RequestInfo& info) const {
  std::string name(info.resource);
  if (!info.subresource.empty()) name.append("/").append(info.subresource);
  const auto& resources = installed_->resources();
  return std::any_of(resources.begin(), resources.end(),
                     [&name](const auto& resource) { return resource.name == name; });
}

// A request that may take long, until its Context goes, where it is kept: ten thousand watches cost
// no allocation here.
class Served::Stay {
 public:
  Stay(Served& served, std::weak_ptr<http::Exchange> exchange)
      : served(served), exchange(std::move(exchange)) {}
  Stay(Stay&& unlinked) noexcept = default;
  Stay& operator=(Stay&&) = delete;
  ~Stay() {
    if (registered) served.Leave(*this);
  }

  Served& served;  // Kept by the exchange.
  std::weak_ptr<http::Exchange> exchange;
  bool registered = false;
  // Used under the lock.
  Stay* next = nullptr;
  Stay** link = nullptr;  // The pointer to this one.
};

// `ended_` is checked again under the lock, which End() holds: no request can slip in behind it.
bool Served::Enter(http::Exchange& exchange) {
  if (!IsLongRunning(exchange)) return !ended_;
  Stay& stay = exchange.Set(Stay(*this, exchange.Share()));
  const auto running = running_.Lock();
  if (ended_) return false;
  stay.registered = true;
  stay.next = running->first;
  stay.link = &running->first;
  if (stay.next != nullptr) stay.next->link = &stay.next;
  running->first = &stay;
  return true;
}

// O(1): the list is linked through the requests.
void Served::Leave(Stay& stay) {
  const auto lock = running_.Lock();
  *stay.link = stay.next;
  if (stay.next != nullptr) stay.next->link = stay.link;
}

// The exchanges are cancelled on their loops, without the lock: a cancelled one leaves the list.
void Served::End(const std::shared_ptr<Route>& successor) {
  std::vector<std::shared_ptr<http::Exchange>> running;
  {
    const auto state = running_.Lock();
    ended_ = true;
    state->successor = successor;
    for (const Stay* stay = state->first; stay != nullptr; stay = stay->next) {
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
