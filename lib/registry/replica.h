#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/storage/interface.h"
#include "apiserver/storage/kv/engine.h"

// A copy in memory of objects that live elsewhere, kept as any resource is: in an engine in memory
// behind a watch cache. That gives reads and watches all their meanings.
namespace apiserver::inline v0::registry {

// An engine in memory whose revisions begin with the time of `clock` in microseconds. `clock` must
// outlive it.
std::unique_ptr<storage::kv::Engine> NewReplicaEngine(const Clock& clock,
                                                      std::chrono::seconds window,
                                                      std::size_t events_max);

struct ReplicaOptions {
  runtime::KindPtr kind;
  const Clock* clock = nullptr;
  Random* random = nullptr;
  // The term for an external object in error messages: "polled object".
  std::string word;
  // Members of metadata that an object without them keeps from the copy.
  std::vector<std::string> kept_metadata;
};

// Updates the copy to match the external objects. Methods may be called from several threads,
// but for one key by one at a time.
class Replica {
 public:
  using Objects = std::vector<std::unique_ptr<runtime::Object>>;
  using Found = std::map<std::string, std::unique_ptr<runtime::Object>>;

  // `storage` must outlive it and holds the copy.
  Replica(ReplicaOptions options, storage::Interface& storage)
      : options_(std::move(options)), storage_(storage) {}

  // The storage key: "/namespace/name" or "/name". kInternalError: no key can be made of its name
  // and namespace.
  Result<std::string> KeyOf(const runtime::Object& object) const;
  // `objects` by key, without their resourceVersions. kInternalError: one is null, of another kind,
  // without a key, or two have the same.
  Result<Found> ByKey(Objects objects) const;
  // The keys of all objects in the copy.
  Result<std::vector<std::string>> Keys(const Context& ctx) const;

  // Writes `object` into the copy, with the uid and creationTimestamp it has there or, for a new
  // one, new ones where it brings none. An object with another uid replaces the old one as DELETED
  // and ADDED. What changes nothing is no write.
  Status Adopt(const Context& ctx, const std::string& key, runtime::Object& object) const;
  // Removes the object at `key` if there is one.
  Status Remove(const Context& ctx, const std::string& key) const;

 private:
  void Complete(runtime::Object& object, const runtime::Object* current) const;

  const ReplicaOptions options_;
  storage::Interface& storage_;
};

}  // namespace apiserver::inline v0::registry
