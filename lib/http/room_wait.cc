#include "http/room_wait.h"

#include <utility>

namespace apiserver::v0::http {

void RoomWait::Start(std::size_t bytes, std::shared_ptr<void> owner,
                     UniqueFunction<void(bool)> done) {
  owner_ = owner;
  done_ = std::move(done);
  loop_.Arm(*this, loop_.now() + longest_);
  // Room is made by whichever thread ends a request, maybe in a destructor.
  charge_.Await(bytes, [this, round = ++round_, loop = loop_.shared_from_this(),
                        owner = std::move(owner)] {
    try {
      loop->Post([this, round, owner] { OnRoom(round); });
    } catch (...) {  // NOLINT(bugprone-empty-catch): for want of memory; the timer ends the wait
    }
  });
}

void RoomWait::Stop() {
  if (!active()) return;
  (void)charge_.Abandon();
  loop_.Disarm(*this);
  done_ = nullptr;
  owner_.reset();
}

void RoomWait::OnRoom(std::uint64_t round) {
  if (!active() || round != round_) return;  // It has ended on the way.
  loop_.Disarm(*this);
  End(true);
}

void RoomWait::Fire() {
  // A charge that does not wait any more has its room; OnRoom may be on its way.
  if (active()) End(!charge_.Abandon());
}

void RoomWait::Drop() {
  (void)charge_.Abandon();
  const auto owner = std::exchange(owner_, nullptr);
  done_ = nullptr;
}

void RoomWait::End(bool room) {
  const auto owner = std::exchange(owner_, nullptr);
  auto done = std::exchange(done_, nullptr);
  done(room);
}

}  // namespace apiserver::v0::http
