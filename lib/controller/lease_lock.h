#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::controller {

// The spec of a Lease as an election uses it: resourcelock.LeaderElectionRecord.
struct LeaseRecord {
  std::string holder = {};  // Empty: released.
  std::int64_t duration_seconds = 0;
  std::string acquire_time = {};  // MicroTime.
  std::string renew_time = {};
  std::int64_t transitions = 0;

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

// Reads and writes the record of one Lease: resourcelock.LeaseLock. Used by one thread at a time;
// its calls wait. Errors are those of the client.
class LeaseLock final {
 public:
  // `client` must outlive it.
  LeaseLock(client::Client& client, const std::string& space, const std::string& name,
            std::map<std::string, std::string> labels);

  // Reads the lease, which the next Update() replaces.
  Result<LeaseRecord> Get(const Context& ctx);
  Status Create(const Context& ctx, const LeaseRecord& record);
  // Replaces the lease as it was last read or written. kConflict: it has changed since, or was
  // never read.
  Status Update(const Context& ctx, const LeaseRecord& record);

  // Returns "namespace/name".
  std::string Describe() const { return target_.namespace_ + "/" + target_.name; }

 private:
  void Fill(runtime::Object& lease, const LeaseRecord& record) const;

  client::Client& client_;
  client::Target target_;
  const std::map<std::string, std::string> labels_;
  std::unique_ptr<runtime::Object> lease_;  // Null: not read yet.
};

}  // namespace apiserver::inline v0::controller
