#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "storage/etcd/errors.h"
#include "storage/etcd/known.h"
#include "storage/etcd/rpc.h"
#include "storage/etcd/timers.h"
#include "storage/kv/call_gate.h"

namespace apiserver::inline v0::storage::etcd {

inline constexpr const char* kRangeMethod = "/etcdserverpb.KV/Range";
inline constexpr const char* kTxnMethod = "/etcdserverpb.KV/Txn";
inline constexpr const char* kCompactMethod = "/etcdserverpb.KV/Compact";
inline constexpr const char* kLeaseGrantMethod = "/etcdserverpb.Lease/LeaseGrant";
inline constexpr const char* kStatusMethod = "/etcdserverpb.Maintenance/Status";
inline constexpr const char* kWatchMethod = "/etcdserverpb.Watch/Watch";

// Calls that may be tried several times. Thread-safe.
class Client : public std::enable_shared_from_this<Client> {
 public:
  struct Options {
    Clock::Monotonic deadline = Clock::Monotonic::max();
    // If set, the call is repeated while that may help and there is time. Only for calls that do no
    // harm when they happen twice.
    bool retry = false;
    std::optional<std::size_t> member;
    std::size_t response_bytes_max = kMessageBytesMax;  // As RpcOptions has it.
  };

  // `timers` must outlive it.
  Client(std::shared_ptr<Rpc> rpc, Timers& timers, std::string servers)
      : rpc_(std::move(rpc)), timers_(timers), servers_(std::move(servers)) {}

  // Calls a member. `done` is called once, also when the client stops; on any thread, and must not
  // block. The gate is held until then.
  std::shared_ptr<RpcCall> Call(const std::string& method, std::string request,
                                const Options& options, Rpc::Done done);

  // Calls with messages instead of bytes: `done(RpcOutcome, Response)`.
  template <class Response, class Request, class Done>
  std::shared_ptr<RpcCall> Call(const std::string& method, const Request& request,
                                const Options& options, Done done) {
    return Call(method, request.SerializeAsString(), options,
                [done = std::move(done)](RpcOutcome outcome, const std::string& bytes) mutable {
                  Response response;
                  if (outcome.ok() && !response.ParseFromString(bytes)) {
                    outcome = NotReadableOutcome();
                  }
                  done(outcome, std::move(response));
                });
  }

  Status StatusOf(const RpcOutcome& outcome) const { return ToStatus(outcome, servers_); }
  const std::string& servers() const { return servers_; }
  Rpc& rpc() { return *rpc_; }
  Timers& timers() { return timers_; }
  Known& known() { return known_; }
  // Enters some work of several calls, for which Drain() waits. False after Stop().
  kv::CallGate::Pass Enter() { return gate_.Enter(); }

  // Refuses all calls and repetitions from now on.
  void Stop() { stopped_.store(true); }
  bool stopped() const { return stopped_.load(); }
  // Cancels the running calls.
  void CancelAll();
  // Waits until no call is running. Call it after Stop().
  void Drain() { gate_.Shut(); }

 private:
  class Attempts;

  const std::shared_ptr<Rpc> rpc_;
  Timers& timers_;
  const std::string servers_;
  Known known_;
  std::atomic<bool> stopped_ = false;
  kv::CallGate gate_;
  Guarded<std::unordered_set<Attempts*>> running_;
};

// Waits on the calling thread for a result that another thread sets.
template <class T>
class Pending {
 public:
  void Set(Result<T> result) {
    result_.Lock()->emplace(std::move(result));
    result_.NotifyAll();
  }
  Result<T> Wait() {
    auto result = result_.Lock();
    result.Wait([&result] { return result->has_value(); });
    return *std::move(*result);
  }
  // Returns kTimeout if there was no result until then.
  Result<T> WaitUntil(Clock::Monotonic deadline) {
    auto result = result_.Lock();
    const auto there = [&result] { return result->has_value(); };
    if (deadline == Clock::Monotonic::max()) {
      result.Wait(there);
    } else if (!result.WaitUntil(deadline, there)) {
      return Status(Reason::kTimeout, "etcd did not answer in time");
    }
    return **result;
  }

 private:
  Guarded<std::optional<Result<T>>> result_;
};

}  // namespace apiserver::inline v0::storage::etcd
