#include "storage/etcd/member_link.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::storage::etcd {
namespace {

constexpr std::chrono::milliseconds kFirstDialBackoff{100};
constexpr std::chrono::milliseconds kLongestDialBackoff{2000};
// A connection that closes sooner has failed: a proxy in front of a member that is away takes each
// connection only to close it.
constexpr std::chrono::seconds kShortLife{1};

}  // namespace

MemberLink::ConnectionPtr MemberLink::connected() {
  if (connection_ == nullptr || !connection_->closed()) return connection_;
  connection_.reset();
  if (RealClock().Now() - connected_at_ < kShortLife) {
    Fail(Status(Reason::kServiceUnavailable, "the server closes connections at once"));
  } else {
    backoff_ = std::chrono::milliseconds(0);
  }
  return nullptr;
}

void MemberLink::Fail(Status why) {
  failure_ = std::move(why);
  backoff_ = std::clamp(backoff_ * 2, kFirstDialBackoff, kLongestDialBackoff);
  not_before_ = RealClock().Now() + backoff_;
}

std::chrono::nanoseconds MemberLink::pause() const {
  return std::max<std::chrono::nanoseconds>(not_before_ - RealClock().Now(),
                                            std::chrono::nanoseconds(0));
}

// A dial that the stopped loop has dropped may be told by the resolver's thread: End() tells it
// then.
void MemberLink::Connect() {
  if (dialing_ || connected() != nullptr || RealClock().Now() < not_before_) return;
  dialing_ = true;
  (void)dialer_.DialLater(options_, [weak = weak_from_this(), &loop = dialer_.loop()](auto result) {
    const auto self = weak.lock();
    if (self != nullptr && loop.Inside()) self->OnDialed(std::move(result));
  });
}

void MemberLink::Await(Waiter waiter) {
  Connect();
  if (auto connection = connected()) return waiter(std::move(connection));
  if (!dialing_) return waiter(failure_);
  waiters_.push_back(std::move(waiter));
}

void MemberLink::OnDialed(Result<std::unique_ptr<http::Connection>> result) {
  dialing_ = false;
  if (result.ok() && !(*result)->multiplexed()) {
    result = Status(Reason::kServiceUnavailable, "the server does not speak HTTP/2");
  }
  if (result.ok()) {
    connection_ = *std::move(result);
    connected_at_ = RealClock().Now();
  } else {
    Fail(result.status());
  }
  TellWaiters();
}

void MemberLink::End() {
  Fail(Status(Reason::kServiceUnavailable, "the transport has ended"));
  connection_.reset();
  TellWaiters();
}

void MemberLink::TellWaiters() {
  for (Waiter& waiter : std::exchange(waiters_, {})) {
    if (connection_ != nullptr) {
      waiter(connection_);
    } else {
      waiter(failure_);
    }
  }
}

}  // namespace apiserver::v0::storage::etcd
