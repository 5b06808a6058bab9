#include "http/room_wait.h"

#include <utility>

namespace apiserver::inline v0::http {

void RoomWait::Start(std::size_t bytes, std::shared_ptr<void> owner,
                     UniqueFunction<void(bool)> done) {
  owner_ = owner;
  done_ = std::move(done);
  loop_.Arm(*this, loop_.now() + longest_);
  // Room is made by whichever thread ends a request.
  charge_.Await(bytes, [this, loop = loop_.shared_from_this(), owner = std::move(owner)] {
    loop->Post([this, owner] { OnRoom(); });
  });
}

void RoomWait::Stop() {
  if (!active()) return;
  (void)charge_.Abandon();
  loop_.Disarm(*this);
  done_ = nullptr;
  owner_.reset();
}

void RoomWait::OnRoom() {
  if (!active()) return;  // It was stopped on the way.
  loop_.Disarm(*this);
  End(true);
}

void RoomWait::Fire() {
  // If that fails, OnRoom is on its way.
  if (active() && charge_.Abandon()) End(false);
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

}  // namespace apiserver::inline v0::http
