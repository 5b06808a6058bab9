#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiextensions/control/controller.h"
#include "apiextensions/control/facts.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/convert.h"
#include "apiserver/server/handler.h"
#include "apiserver/server/route_source.h"

namespace apiserver::inline v0::apiextensions {

// Makes the converter between the versions of a definition's objects from the definition. Called on
// a thread that may block.
using NewConverter = std::function<Result<std::shared_ptr<const runtime::VersionConverter>>(
    const runtime::Value& definition)>;

// The Workshop is what all entries make their stores and routes with. Outlives them.
struct Workshop {
  server::Handler* handler = nullptr;
  registry::StorageConfig storage;
  Executor* pool = nullptr;
  NewConverter new_converter = nullptr;  // Null, or it returns null: fields that a version does not
                                         // know are dropped, as with strategy None.
  // Shared by all definitions, most of whose schemas repeat each other's.
  Guarded<runtime::SchemaPool> schemas;
};

// A definition while it is served as it is: its kind, storage and routes, made when the first
// request comes. Another spec, or other names, make another entry. Any thread.
class Entry final : public std::enable_shared_from_this<Entry> {
 public:
  // `before`: the entry that this one replaces, whose cached objects it takes over; may be null.
  Entry(FactsPtr facts, std::shared_ptr<Workshop> workshop, Entry* before);
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry();

  FactsPtr facts() const { return *facts_.Lock(); }
  // Takes over a change that leaves the objects' form as it is. False: it needs a new entry.
  bool TakeOver(const FactsPtr& facts);
  // Returns the route of a version. Null: the version is not served.
  std::shared_ptr<server::Route> RouteOf(std::string_view version);
  // Ends the watches. `successor`: serves the requests that have found this one. Null: they are
  // answered 404.
  void End(const std::shared_ptr<Entry>& successor);
  // Deletes the objects. Blocks.
  Emptied DeleteObjects(const Context& ctx);

 private:
  class VersionRoute;
  // Holds what the versions share.
  struct Built {
    runtime::KindOptions options;
    runtime::KindPtr kind;  // Its hub is the storage version.
    // The fields that can be selected by, by version.
    std::map<std::string, std::vector<std::string>> selectable;
    std::shared_ptr<storage::Interface> storage;  // Null: not opened yet.
  };

  // Returns the kind and storage, made by the first call. Blocks.
  Status Build(Built& built) const;
  Result<runtime::KindOptions> KindOptionsOf(Built& built) const;
  // Makes a store of the objects in a version.
  Result<std::shared_ptr<registry::Store>> NewStore(const Built& built, std::string_view version,
                                                    const runtime::KindPtr& kind);
  // Makes the route of a version. Blocks.
  Result<std::shared_ptr<server::Route>> NewRoute(std::string_view version);

  const std::shared_ptr<Workshop> workshop_;
  Guarded<FactsPtr> facts_;
  Guarded<Built> built_;  // Held while it is made, on threads that may wait.
  // The storage that has the objects in memory: that of the entry before, until this entry opens
  // its own. Null: none has been opened.
  mutable Guarded<std::shared_ptr<storage::Interface>> cached_;
  std::vector<std::unique_ptr<VersionRoute>> routes_;  // Of the versions served.
};

}  // namespace apiserver::inline v0::apiextensions
