#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "apiserver/http/dialer.h"

namespace apiserver::inline v0::storage::etcd {

// A connection to one member that is made when a call wants it, and made anew when it has closed.
// The pause before the next dial doubles with each that fails, up to two seconds; a connection that
// closes within a second counts as one. Calls that it carries keep it until they end. On the
// dialer's loop only.
class MemberLink : public std::enable_shared_from_this<MemberLink> {
 public:
  using ConnectionPtr = std::shared_ptr<http::Connection>;
  using Waiter = UniqueFunction<void(Result<ConnectionPtr>)>;

  // The dialer must outlive the loop's thread.
  MemberLink(http::Dialer& dialer, http::DialOptions options)
      : dialer_(dialer), options_(std::move(options)) {}

  // Returns the connection; null: there is none.
  ConnectionPtr connected();
  // Begins to dial, unless that is being done, or has failed a moment ago.
  void Connect();
  // Calls `waiter` with the connection, or with the error of the dial in progress or of the last.
  void Await(Waiter waiter);
  // Returns why the last connection failed. OK: none has.
  const Status& failure() const { return failure_; }
  // Returns how long after now the next dial may begin.
  std::chrono::nanoseconds pause() const;
  // Fails what waits for a dial. Called once the loop has stopped.
  void End();

 private:
  void OnDialed(Result<std::unique_ptr<http::Connection>> result);
  // Puts the next dial off.
  void Fail(Status why);
  void TellWaiters();

  http::Dialer& dialer_;
  const http::DialOptions options_;
  ConnectionPtr connection_;
  bool dialing_ = false;
  Clock::Monotonic connected_at_ = Clock::Monotonic::min();
  Status failure_;
  std::chrono::milliseconds backoff_{0};
  Clock::Monotonic not_before_ = Clock::Monotonic::min();
  std::vector<Waiter> waiters_;
};

}  // namespace apiserver::inline v0::storage::etcd
