#include "server/served.h"

#include <algorithm>
#include <utility>

#include "apiserver/meta/errors.h"
#include "server/filters/filters.h"

namespace apiserver::v0::server {

OwnedStorage::~OwnedStorage() {
  pool_.Post([storage = std::move(storage_)] { storage->Destroy(); });
}

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

http::Step Served::Serve(http::Exchange& exchange) {
  if (!Enter(exchange)) return meta::NewGenericServerResponse(404, "", {}, "");
  return installed_->Serve(exchange);
}

bool Served::Enter(http::Exchange& exchange) {
  if (!IsLongRunning(exchange)) return !ended_;
  const Context& ctx = exchange.ctx();
  std::uint64_t id = 0;
  {
    const auto state = state_.Lock();
    if (ended_) return false;
    id = ++state->last_id;
    state->long_running.emplace(id, Stay{ctx, {}});
  }
  Context::Registration leaves = ctx.OnDone([self = shared_from_this(), id] { self->Leave(id); });
  const auto state = state_.Lock();
  // The request may have left already.
  const auto stay = state->long_running.find(id);
  if (stay != state->long_running.end()) stay->second.leaves = std::move(leaves);
  return true;
}

void Served::Leave(std::uint64_t id) {
  // Destroyed without the lock: a Context's values may be large.
  decltype(State::long_running)::node_type left;
  left = state_.Lock()->long_running.extract(id);
}

void Served::End() {
  std::vector<Context> running;
  {
    const auto state = state_.Lock();
    ended_ = true;
    running.reserve(state->long_running.size());
    for (const auto& [id, stay] : state->long_running) running.push_back(stay.ctx);
  }
  for (Context& ctx : running) {
    ctx.Cancel({Reason::kServiceUnavailable, "the resource is not served any more"});
  }
}

}  // namespace apiserver::v0::server
