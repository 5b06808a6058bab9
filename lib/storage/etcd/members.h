#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "storage/etcd/client.h"

namespace apiserver::inline v0::storage::etcd {

// Whether an etcd of this version ("3.5.13") answers a progress request only when all that went
// before was sent: from 3.4.31 and 3.5.13 on, and 3.6.
bool TellsTrueProgress(std::string_view version);

// What the members say of themselves.
class Members : public std::enable_shared_from_this<Members> {
 public:
  // `on_trust` is told after every round whether all members tell true progress.
  Members(std::shared_ptr<Client> client, UniqueFunction<void(bool)> on_trust)
      : client_(std::move(client)),
        on_trust_(std::move(on_trust)),
        state_(client_->rpc().members()) {}

  // Asks all; `done` gets OK if one answered, else what the last one said.
  void Ask(Clock::Monotonic deadline, UniqueFunction<void(Status)> done);
  // Asks now and then until the client stops.
  void Watch();

  // Bytes in use by the largest of their databases.
  std::size_t database_bytes() const;

 private:
  struct Member {
    bool trusted = false;
    std::size_t database_bytes = 0;
  };
  struct Round {
    std::size_t left = 0;
    bool answered = false;
    Status failure;
    UniqueFunction<void(Status)> done;
  };
  void OnAnswer(std::size_t member, const std::shared_ptr<Guarded<Round>>& round,
                const RpcOutcome& outcome, std::string_view version, std::size_t bytes);

  const std::shared_ptr<Client> client_;
  UniqueFunction<void(bool)> on_trust_;
  Guarded<std::vector<Member>> state_;
};

}  // namespace apiserver::inline v0::storage::etcd
