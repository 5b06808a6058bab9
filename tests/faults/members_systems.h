#pragma once

#include <memory>
#include <string>
#include <vector>

#include "faults/members_clients.h"

namespace apiserver::inline v0::faults {

// Where the clients' objects are, without the '/' at its end.
inline constexpr const char* kMembersPrefix = "/registry/test.example.com/widgets";

// Something that clients write to and watch, and that hangs on an etcd.
class MembersSystem {
 public:
  virtual ~MembersSystem() = default;
  // For one writer; the system outlives it.
  virtual std::unique_ptr<WriteTarget> NewWriter(std::size_t writer) = 0;
  struct Watch {
    WatchClient::Options options;
    OpenWatch open;
  };
  virtual std::vector<Watch> Watches() = 0;
  // Lists once, consistently, and returns the list's revision. kMethodNotAllowed: it has no lists.
  virtual Result<Revision> List() = 0;
  virtual void Stop() = 0;
};

// The store and the cache over the engine, which knows all of `urls`.
Result<std::unique_ptr<MembersSystem>> NewOurSystem(const std::vector<std::string>& urls);
// Clients of one of `urls` each, which try once.
Result<std::unique_ptr<MembersSystem>> NewBareSystem(const std::vector<std::string>& urls);

}  // namespace apiserver::inline v0::faults
