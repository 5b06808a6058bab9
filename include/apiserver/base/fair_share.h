#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "apiserver/base/function.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0 {

// The party that memory is charged to: one flow (usually one user) of one priority level. The
// default is the party of requests whose user is not known yet.
struct Tenant {
  std::uint64_t level = 0;
  std::uint64_t flow = 0;
  // An exempt tenant (system:masters) has a reserve that the others cannot use.
  bool exempt = false;

  friend bool operator==(const Tenant&, const Tenant&) = default;
};

// The memory of one purpose, divided so that no tenant can take it from all others. A flow holds at
// most an eighth of bytes_max(), the flows of a level together at most a half, and all tenants that
// are not exempt together at most three quarters. One charge may exceed each of these limits if
// nothing else is counted there: nothing is too large for a share that is empty. Tenants that wait
// for room are served in turn, each tenant's own charges in their order.
//
// All methods from any thread. A share must outlive its charges.
class FairShare {
 public:
  class Charge;

  explicit FairShare(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  FairShare(const FairShare&) = delete;
  FairShare& operator=(const FairShare&) = delete;

  // Counts `bytes` whether or not there is room.
  void Add(std::size_t bytes, const Tenant& tenant = {});
  // Returns `bytes` that Add() counted, and serves the tenants that wait as far as there is room.
  void Release(std::size_t bytes, const Tenant& tenant = {});

  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  std::size_t bytes_max() const { return bytes_max_; }
  // The number of charges that wait for room.
  std::size_t waiting() const { return state_.Lock()->waiting; }
  // True if `tenant` is beyond one of its limits; memory that others hold never makes an exempt
  // tenant so. Costs no lock while the share is nearly empty.
  bool over(const Tenant& tenant = {}) const;
  // True if charges wait for room that `tenant`, or its level, could give back.
  bool contended(const Tenant& tenant) const;

 private:
  struct Level {
    std::size_t used = 0;
    std::size_t waiting = 0;
    // A charge waits because this level is full; newer ones of the level wait behind it.
    bool blocked = false;
  };
  struct Flow {
    std::size_t used = 0;
    std::list<Charge*> waiting;  // The oldest first.
  };
  struct TenantHash {
    std::size_t operator()(const Tenant& tenant) const;
  };
  struct State {
    std::size_t exempt_used = 0;
    std::size_t waiting = 0;
    bool blocked = false;  // As Level::blocked, for all that is not exempt.
    std::unordered_map<std::uint64_t, Level> levels;
    std::unordered_map<Tenant, Flow, TenantHash> flows;
    std::list<Tenant> turns;  // The tenants that wait, the next one first.
  };
  // The limit that refuses a charge.
  enum class Verdict : std::uint8_t { kFits, kFlowFull, kLevelFull, kFull };
  // Charges that were granted their room, in a list through the charges themselves: giving memory
  // back must not need any.
  struct Granted {
    Charge* first = nullptr;
    Charge* last = nullptr;
  };
  // Calls the `granted` of each, without the lock.
  static void Tell(const Granted& granted);

  Verdict Judge(State& state, const Charge& charge, std::size_t more) const;
  void Count(State& state, const Tenant& tenant, std::size_t bytes);
  void Uncount(State& state, const Tenant& tenant, std::size_t bytes);
  static void ForgetIfIdle(State& state, const Tenant& tenant);
  static void StopWaiting(State& state, const Tenant& tenant);
  static bool HeldUp(const State& state, const Tenant& tenant);
  // Grants waiting charges as far as there is room.
  void Grant(State& state, Granted& granted);
  bool GrantNext(State& state, const Tenant& tenant, Granted& granted);

  const std::size_t bytes_max_;
  std::atomic<std::size_t> used_{0};  // Written under the lock.
  Guarded<State> state_;
};

// One owner's part of a share, which is given back when it is destroyed. Used by one thread at a
// time, and by none while it waits.
class FairShare::Charge {
 public:
  // Starts with no bytes.
  explicit Charge(FairShare& share) : share_(share) {}
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  ~Charge() { Resize(0); }  // Must not wait.

  // Charges `tenant` instead, with the same bytes.
  void SetTenant(const Tenant& tenant);
  const Tenant& tenant() const { return tenant_; }
  std::size_t bytes() const { return bytes_; }
  // True if the tenant is beyond one of its limits of the share, whoever counted the bytes.
  bool ShareIsOver() const { return share_.over(tenant_); }

  // Changes the charge to `bytes` whether or not there is room; for memory that is in use already.
  void Resize(std::size_t bytes);
  // Grows if there is room and no other charge waits for it; shrinks always. False: nothing has
  // changed.
  [[nodiscard]] bool TryResize(std::size_t bytes);
  // Grows to `bytes` once there is room, and then calls `granted` once, on the thread that made the
  // room and without a lock. `granted` must not block. Call it only after TryResize(bytes) returned
  // false.
  void Await(std::size_t bytes, UniqueFunction<void()> granted);
  // Stops waiting. False: it did not wait, or was granted already.
  bool Abandon();

 private:
  friend class FairShare;

  FairShare& share_;
  Tenant tenant_;
  std::size_t bytes_ = 0;
  // Set while it waits; guarded by the share's lock.
  std::size_t wanted_ = 0;
  UniqueFunction<void()> granted_;
  Charge* next_granted_ = nullptr;
};

}  // namespace apiserver::inline v0
