#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/function.h"
#include "apiserver/base/sync.h"
#include "storage/etcd/rpc.h"

namespace apiserver::inline v0::storage::etcd {

// The token that a transport sends along with each call and each new stream. Empty: none.
using SharedToken = Guarded<std::string>;

// A user of etcd's own authentication.
struct EtcdUser {
  std::string name;
  std::string password;
};

// Logs a user in, and keeps the token fresh. Thread-safe.
class Login final : public std::enable_shared_from_this<Login> {
 public:
  // Called once there is a token to go on with, or with the reason why there is none. Must not
  // block.
  using Then = UniqueFunction<void(const RpcOutcome&)>;

  // Logs `user` in over `rpc`, and puts the token into `token`.
  Login(std::shared_ptr<Rpc> rpc, EtcdUser user, std::shared_ptr<SharedToken> token)
      : rpc_(std::move(rpc)), user_(std::move(user)), token_(std::move(token)) {}

  // Returns the number of the present token; another one has another number. Zero: none yet.
  std::uint64_t number() const { return state_.Lock()->number; }
  // Calls `then` at once if there is a token with another number than `seen`; else logs in first.
  // Those who come meanwhile wait for the same login.
  void After(std::uint64_t seen, Then then);
  // Gives the token up, so that the next caller logs in. False: it is too young for that.
  bool GiveUp();

 private:
  struct State {
    std::uint64_t number = 0;
    Clock::Monotonic since;
    bool stale = false;    // It was given up.
    bool running = false;  // A login is under way.
    std::vector<Then> waiting;
  };
  void Begin();
  void OnAnswer(RpcOutcome outcome, const std::string& bytes);

  const std::shared_ptr<Rpc> rpc_;
  const EtcdUser user_;
  const std::shared_ptr<SharedToken> token_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::storage::etcd
