#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "storage/etcd/client.h"

namespace apiserver::inline v0::storage::etcd {

// True if the engine works with an etcd of this version ("3.5.13"): from 3.4 on.
bool IsSupported(std::string_view version);
// True if an etcd of this version answers a progress request only after all earlier
// events were sent: from 3.4.31 and 3.5.13 on, and 3.6.
bool TellsTrueProgress(std::string_view version);

// The versions and sizes that the members report.
class Members : public std::enable_shared_from_this<Members> {
 public:
  // `on_trust` is called after every round with whether all members tell true progress; on any
  // thread, and it must not block.
  Members(std::shared_ptr<Client> client, UniqueFunction<void(bool)> on_trust)
      : client_(std::move(client)),
        on_trust_(std::move(on_trust)),
        state_(client_->rpc().members()) {}

  // Asks all members; `done` gets OK if one answered, else the last failure. It is called on any
  // thread.
  void Ask(Clock::Monotonic deadline, UniqueFunction<void(Status)> done);
  // Asks every 30 s until the client stops.
  void Watch();

  // The size of a member's database.
  struct Bytes {
    std::size_t used = 0;  // Those in use.
    std::size_t file = 0;  // Those of its file.
  };
  // Returns the largest of each that a member has.
  Bytes bytes() const;

 private:
  struct Member {
    bool trusted = false;
    Bytes bytes;
  };
  struct Round {
    std::size_t left = 0;
    bool answered = false;
    Status failure;
    UniqueFunction<void(Status)> done;
  };
  void OnAnswer(std::size_t member, const std::shared_ptr<Guarded<Round>>& round,
                const RpcOutcome& outcome, std::string_view version, const Bytes& bytes);

  const std::shared_ptr<Client> client_;
  UniqueFunction<void(bool)> on_trust_;
  Guarded<std::vector<Member>> state_;
};

}  // namespace apiserver::inline v0::storage::etcd
