#include "apiserver/base/fair_share.h"

#include <functional>
#include <utility>

namespace apiserver::v0 {

std::size_t FairShare::TenantHash::operator()(const Tenant& tenant) const {
  // Flows are hashes already; the level only tells equal ones apart.
  return std::hash<std::uint64_t>()(tenant.flow ^ (tenant.level * 0x9E3779B97F4A7C15U) ^
                                    static_cast<std::uint64_t>(tenant.exempt));
}

// Writes `used_` under the lock of `state` only, so that a plain load and store suffice; it is
// atomic for used(), which takes no lock.
void FairShare::Count(State& state, const Tenant& tenant, std::size_t bytes) {
  if (bytes == 0) return;
  used_.store(used() + bytes, std::memory_order_relaxed);
  state.flows[tenant].used += bytes;
  if (tenant.exempt) {
    state.exempt_used += bytes;
  } else {
    state.levels[tenant.level].used += bytes;
  }
}

void FairShare::Uncount(State& state, const Tenant& tenant, std::size_t bytes) {
  if (bytes == 0) return;
  used_.store(used() - bytes, std::memory_order_relaxed);
  state.flows[tenant].used -= bytes;
  if (tenant.exempt) {
    state.exempt_used -= bytes;
  } else {
    state.levels.find(tenant.level)->second.used -= bytes;
  }
  ForgetIfIdle(state, tenant);
}

// Erases the entries of a tenant that holds nothing, so that the maps grow with the requests in
// flight, not with all users ever seen.
void FairShare::ForgetIfIdle(State& state, const Tenant& tenant) {
  const auto flow = state.flows.find(tenant);
  if (flow->second.used == 0 && flow->second.waiting.empty()) state.flows.erase(flow);
  const auto level = state.levels.find(tenant.level);
  if (level == state.levels.end()) return;
  if (level->second.used == 0 && level->second.waiting == 0) state.levels.erase(level);
}

void FairShare::StopWaiting(State& state, const Tenant& tenant) {
  --state.waiting;
  --state.levels.find(tenant.level)->second.waiting;
}

// Says which limit refuses `charge` `more`. A charge is not refused because of its own bytes.
FairShare::Verdict FairShare::Judge(State& state, const Charge& charge, std::size_t more) const {
  const Tenant& tenant = charge.tenant_;
  const std::size_t own = charge.bytes_;
  const auto fits = [&](std::size_t used, std::size_t limit) {
    return used == own || used + more <= limit;
  };
  if (tenant.exempt) {
    const bool room = state.exempt_used == own || used() + more <= bytes_max_;
    return room ? Verdict::kFits : Verdict::kFull;
  }
  // A flow may hold an eighth and a level a half, so that neither can starve the others.
  const auto flow = state.flows.find(tenant);
  if (!fits(flow == state.flows.end() ? 0 : flow->second.used, bytes_max_ / 8)) {
    return Verdict::kFlowFull;
  }
  const auto level = state.levels.find(tenant.level);
  if (!fits(level == state.levels.end() ? 0 : level->second.used, bytes_max_ / 2)) {
    return Verdict::kLevelFull;
  }
  // Ordinary charges stop at three quarters: the rest is kept for exempt ones.
  const std::size_t ordinary = used() - state.exempt_used;
  return fits(ordinary, bytes_max_ / 4 * 3) ? Verdict::kFits : Verdict::kFull;
}

// Returns true if an older charge must get its room first.
bool FairShare::HeldUp(const State& state, const Tenant& tenant) {
  if (tenant.exempt) return false;
  const auto level = state.levels.find(tenant.level);
  return state.blocked || (level != state.levels.end() && level->second.blocked);
}

// Grants the oldest waiting charge of `tenant` its room, if there is enough.
bool FairShare::GrantNext(State& state, const Tenant& tenant, Granted& granted) {
  Flow& flow = state.flows.find(tenant)->second;
  Charge& charge = *flow.waiting.front();
  const std::size_t more = charge.wanted_ - charge.bytes_;
  switch (Judge(state, charge, more)) {
    case Verdict::kFlowFull:
      return false;
    case Verdict::kLevelFull:
      state.levels.find(tenant.level)->second.blocked = true;
      return false;
    case Verdict::kFull:
      if (!tenant.exempt) state.blocked = true;
      return false;
    case Verdict::kFits:
      break;
  }
  flow.waiting.pop_front();
  StopWaiting(state, tenant);
  Count(state, tenant, more);
  charge.bytes_ = charge.wanted_;
  charge.next_granted_ = nullptr;
  (granted.last ? granted.last->next_granted_ : granted.first) = &charge;
  granted.last = &charge;
  return true;
}

// Grants one charge per tenant and round, until no tenant gets anything. A level, or the whole
// share, that is too full for the tenant whose turn it is waits for that tenant: otherwise small
// charges would pass large ones for ever.
void FairShare::Grant(State& state, Granted& granted) {
  state.blocked = false;
  for (auto& [level, of] : state.levels) of.blocked = false;
  for (bool any = state.waiting > 0; any;) {
    any = false;
    for (auto turn = state.turns.begin(); turn != state.turns.end();) {
      const Tenant tenant = *turn;
      if (HeldUp(state, tenant) || !GrantNext(state, tenant, granted)) {
        ++turn;
        continue;
      }
      any = true;
      const auto done = turn++;
      if (state.flows.find(tenant)->second.waiting.empty()) {
        state.turns.erase(done);
      } else {
        state.turns.splice(state.turns.end(), state.turns, done);
      }
      ForgetIfIdle(state, tenant);
    }
  }
}

void FairShare::Tell(const Granted& granted) {
  for (Charge* each = granted.first; each != nullptr;) {
    // The charge may be destroyed by the call.
    auto call = std::exchange(each->granted_, nullptr);
    each = std::exchange(each->next_granted_, nullptr);
    call();
  }
}

bool FairShare::over(const Tenant& tenant) const {
  const std::size_t all = used();
  // No limit is lower than an eighth, so the lock is not needed below it.
  if (all <= bytes_max_ / 8) return false;
  const auto state = state_.Lock();
  if (tenant.exempt) return all > bytes_max_ && state->exempt_used > bytes_max_ / 4;
  const auto flow = state->flows.find(tenant);
  if (flow != state->flows.end() && flow->second.used > bytes_max_ / 8) return true;
  const auto level = state->levels.find(tenant.level);
  if (level != state->levels.end() && level->second.used > bytes_max_ / 2) return true;
  return used() - state->exempt_used > bytes_max_ / 4 * 3;
}

bool FairShare::contended(const Tenant& tenant) const {
  const auto state = state_.Lock();
  if (state->waiting == 0 || tenant.exempt) return false;
  const auto flow = state->flows.find(tenant);
  return HeldUp(*state, tenant) || (flow != state->flows.end() && !flow->second.waiting.empty());
}

void FairShare::Add(std::size_t bytes, const Tenant& tenant) {
  Count(*state_.Lock(), tenant, bytes);
}

void FairShare::Release(std::size_t bytes, const Tenant& tenant) {
  Granted granted;
  {
    const auto state = state_.Lock();
    Uncount(*state, tenant, bytes);
    if (state->waiting > 0) Grant(*state, granted);
  }
  Tell(granted);
}

void FairShare::Charge::SetTenant(const Tenant& tenant) {
  if (tenant == tenant_) return;
  const Tenant before = std::exchange(tenant_, tenant);
  if (bytes_ == 0) return;
  // Added first: the release could otherwise grant these bytes to a waiting charge.
  share_.Add(bytes_, tenant_);
  share_.Release(bytes_, before);
}

void FairShare::Charge::Resize(std::size_t bytes) {
  const std::size_t before = std::exchange(bytes_, bytes);
  if (bytes > before) share_.Add(bytes - before, tenant_);
  if (bytes < before) share_.Release(before - bytes, tenant_);
}

bool FairShare::Charge::TryResize(std::size_t bytes) {
  if (bytes <= bytes_) {
    Resize(bytes);
    return true;
  }
  const auto state = share_.state_.Lock();
  // A charge that fits is refused too if older ones wait: small charges must not pass them.
  const auto flow = state->flows.find(tenant_);
  if (flow != state->flows.end() && !flow->second.waiting.empty()) return false;
  if (HeldUp(*state, tenant_)) return false;
  const std::size_t more = bytes - bytes_;
  if (share_.Judge(*state, *this, more) != Verdict::kFits) return false;
  share_.Count(*state, tenant_, more);
  bytes_ = bytes;
  return true;
}

void FairShare::Charge::Await(std::size_t bytes, UniqueFunction<void()> granted) {
  Granted now;
  {
    const auto state = share_.state_.Lock();
    wanted_ = bytes;
    granted_ = std::move(granted);
    Flow& flow = state->flows[tenant_];
    if (flow.waiting.empty()) state->turns.push_back(tenant_);
    flow.waiting.push_back(this);
    ++state->levels[tenant_.level].waiting;
    ++state->waiting;
    share_.Grant(*state, now);
  }
  FairShare::Tell(now);
}

bool FairShare::Charge::Abandon() {
  Granted others;
  UniqueFunction<void()> dropped;
  {
    const auto state = share_.state_.Lock();
    const auto found = state->flows.find(tenant_);
    if (found == state->flows.end()) return false;
    std::list<Charge*>& waiting = found->second.waiting;
    if (waiting.remove(this) == 0) return false;
    FairShare::StopWaiting(*state, tenant_);
    dropped = std::move(granted_);
    if (waiting.empty()) state->turns.remove(tenant_);
    ForgetIfIdle(*state, tenant_);
    // The charge may have blocked others.
    share_.Grant(*state, others);
  }
  FairShare::Tell(others);
  return true;
}

}  // namespace apiserver::v0
