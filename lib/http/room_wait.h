#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "apiserver/base/fair_share.h"
#include "apiserver/base/function.h"
#include "http/loop.h"
#include "http/timers.h"

namespace apiserver::inline v0::http {

// The wait of one charge for room in its share of memory, limited in time. Room is made on any
// thread; everything else happens on the wait's loop.
class RoomWait final : private Timers::Entry {
 public:
  // `loop` and `charge` must outlive it. `longest` limits each wait.
  RoomWait(Loop& loop, FairShare::Charge& charge, std::chrono::milliseconds longest)
      : loop_(loop), charge_(charge), longest_(longest) {}

  // Calls `done` once: with true when the charge has grown to `bytes`, with false when the time is
  // over. Keeps `owner`, which this object is a part of, alive until then. The charge must not be
  // touched meanwhile.
  void Start(std::size_t bytes, std::shared_ptr<void> owner, UniqueFunction<void(bool)> done);
  // Ends the wait; `done` is destroyed without being called. The charge may have grown.
  void Stop();
  bool active() const { return static_cast<bool>(done_); }

 private:
  void Fire() override;
  void Drop() override;
  void OnRoom(std::uint64_t round);
  void End(bool room);

  Loop& loop_;
  FairShare::Charge& charge_;
  const std::chrono::milliseconds longest_;
  std::uint64_t round_ = 0;  // Counts waits, so that late news of an earlier one is ignored.
  std::shared_ptr<void> owner_;
  UniqueFunction<void(bool)> done_;
};

}  // namespace apiserver::inline v0::http
