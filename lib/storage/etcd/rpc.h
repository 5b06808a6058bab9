#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/function.h"

// The interface between the engine and gRPC: bytes go to a method of one member of the cluster,
// bytes come back. http_rpc.h implements it; tests put others in its place.
namespace apiserver::inline v0::storage::etcd {

// The codes have gRPC's numbers.
enum class RpcCode : std::uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// The end of a call.
struct RpcOutcome {
  RpcCode code = RpcCode::kOk;
  std::string message;
  // True if the request may have reached a member. False only if it certainly has not.
  bool sent = true;

  bool ok() const { return code == RpcCode::kOk; }
};

// A running call.
class RpcCall {
 public:
  virtual ~RpcCall() = default;
  // Ends it with kCancelled unless it has ended. Any thread; idempotent.
  virtual void Cancel() = 0;
};

class RpcStream : public RpcCall {
 public:
  // Sends one message after those before it. Dropped when the stream is over. Any thread.
  virtual void Write(std::string message) = 0;
};

// Receives the messages of a stream; never two calls at a time. Calls come on a thread of the
// transport and must not block.
class RpcStreamHandler {
 public:
  virtual ~RpcStreamHandler() = default;
  virtual void OnMessage(std::string message) = 0;
  // The last call, exactly once.
  virtual void OnEnd(const RpcOutcome& outcome) = 0;
};

// The longest message that is read: a page of 500 keys with values of 1.5 MiB, etcd's largest,
// fits. A message takes memory only as it arrives, whatever length it announces.
inline constexpr std::size_t kMessageBytesMax = std::size_t{1} << 30;

// The limits and the member of one call.
struct RpcOptions {
  Clock::Monotonic deadline = Clock::Monotonic::max();
  // The longest time that a call waits while no member is connected; then it is kUnavailable and
  // was not sent.
  std::chrono::milliseconds connect_wait_max = std::chrono::seconds(5);
  // The member to call. None: one that is connected, in turns.
  std::optional<std::size_t> member;
  // A longer answer is not read: the call ends with kDataLoss as soon as it tells its length.
  std::size_t response_bytes_max = kMessageBytesMax;
  // Sent without the token that the transport has: etcd refuses even a login with an old one.
  bool without_token = false;
};

// The transport.
class Rpc {
 public:
  using Done = UniqueFunction<void(RpcOutcome outcome, std::string response)>;

  virtual ~Rpc() = default;

  // Calls `method`, such as "/etcdserverpb.KV/Range". `done` is called exactly once, on any thread,
  // perhaps before this returns; it must not block.
  virtual std::shared_ptr<RpcCall> Unary(const std::string& method, std::string request,
                                         const RpcOptions& options, Done done) = 0;
  // Opens a stream to a connected member, in turns, on a connection of its own; it ends by itself
  // when that member loses its leader. `handler` may be called before this returns.
  virtual std::shared_ptr<RpcStream> Stream(const std::string& method,
                                            std::shared_ptr<RpcStreamHandler> handler) = 0;
  // Called where a stream was told that its credentials do not do. True: the next one will have
  // others. Must not call its caller.
  virtual bool RenewCredentials() { return false; }
  // Returns the number of configured members.
  virtual std::size_t members() const = 0;
  // Ends the connections and the transport's threads. Called before the transport is destroyed,
  // after all calls are over, and not on a thread of the transport. Idempotent.
  virtual void Stop() {}
};

}  // namespace apiserver::inline v0::storage::etcd
