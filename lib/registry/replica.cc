#include "registry/replica.h"

#include <optional>

#include "apiserver/meta/time.h"
#include "apiserver/meta/validation.h"
#include "apiserver/runtime/settle.h"
#include "apiserver/storage/memory/engine.h"
#include "base/status_macros.h"

namespace apiserver::v0::registry {

// Revisions start at the time in microseconds, so that they grow over restarts: clients keep
// resourceVersions.
std::unique_ptr<storage::kv::Engine> NewReplicaEngine(const Clock& clock,
                                                      std::chrono::seconds window,
                                                      std::size_t events_max) {
  const auto now = clock.WallNow().time_since_epoch();
  return storage::memory::NewEngine(
      {.clock = clock,
       .history = {.window = window, .events_max = events_max},
       .first_revision = std::chrono::duration_cast<std::chrono::microseconds>(now).count()});
}

Result<std::string> Replica::KeyOf(const runtime::Object& object) const {
  const auto wrong = [this, &object](std::string_view what) {
    return Status(Reason::kInternalError, options_.word + " object " + field::Quote(object.name()) +
                                              " " + std::string(what));
  };
  if (object.name().empty()) return wrong("has no name");
  if (!meta::IsPathSegmentName(object.name()).empty()) return wrong("has a name no path can have");
  if (!options_.kind->namespaced()) {
    if (!object.namespace_().empty()) return wrong("has a namespace");
    return std::string("/").append(object.name());
  }
  if (!meta::IsDNS1123Label(object.namespace_()).empty()) return wrong("has no good namespace");
  return std::string("/").append(object.namespace_()).append("/").append(object.name());
}

// Refuses the whole list for one bad object: half of a list would look like deletions.
Result<Replica::Found> Replica::ByKey(Objects objects) const {
  Found found;
  for (auto& object : objects) {
    if (object == nullptr || object->kind_ptr() != options_.kind) {
      return Status(Reason::kInternalError,
                    options_.word + " object is none of kind " + options_.kind->kind());
    }
    ASSIGN_OR_RETURN(const std::string key, KeyOf(*object));
    object->Erase("metadata", "resourceVersion");
    if (!found.emplace(key, std::move(object)).second) {
      return Status(Reason::kInternalError, options_.word + " two objects at " + field::Quote(key));
    }
  }
  return found;
}

// All keys of the copy, to find those that the list no longer has.
Result<std::vector<std::string>> Replica::Keys(const Context& ctx) const {
  ASSIGN_OR_RETURN(const runtime::List all, storage_.GetList(ctx, "/", {}));
  std::vector<std::string> keys;
  keys.reserve(all.items.size());
  for (const runtime::ObjectPtr& item : all.items) {
    ASSIGN_OR_RETURN(keys.emplace_back(), KeyOf(*item));
  }
  return keys;
}

// Members of metadata that a source need not keep stay those of the copy.
void Replica::Complete(runtime::Object& object, const runtime::Object* current) const {
  if (current != nullptr) {
    for (const std::string& member : options_.kept_metadata) {
      const runtime::Value kept = current->metadata()[member];
      if (!kept.is_null() && object.metadata()[member].is_null()) {
        object.Edit("metadata", member) = kept;
      }
    }
  }
  if (object.uid().empty()) object.Edit("metadata", "uid") = NewUuid(*options_.random);
  if (object.metadata()["creationTimestamp"].is_null()) {
    object.Edit("metadata", "creationTimestamp") = meta::Timestamp(*options_.clock);
  }
}

// Equal objects are not written, so a poll without changes makes no events.
Status Replica::Adopt(const Context& ctx, const std::string& key, runtime::Object& object) const {
  object.Erase("metadata", "resourceVersion");
  bool another = false;
  const auto replace = [&](const runtime::ObjectPtr& current) -> Result<storage::Update> {
    another = current != nullptr && !object.uid().empty() && object.uid() != current->uid();
    if (another) return Status(Reason::kConflict, "another object");
    auto adopted = object.Clone();
    Complete(*adopted, current.get());
    RETURN_IF_ERROR(runtime::Settle(*adopted));
    return storage::Update{.object = std::move(adopted), .ttl = std::nullopt};
  };
  storage::UpdateOptions options;
  options.ignore_not_found = true;
  auto written = storage_.GuaranteedUpdate(ctx, key, options, replace);
  if (another) {
    // Watchers must see DELETED and ADDED: an object with another uid is a new object.
    RETURN_IF_ERROR(Remove(ctx, key));
    written = storage_.GuaranteedUpdate(ctx, key, options, replace);
  }
  return written.status();
}

Status Replica::Remove(const Context& ctx, const std::string& key) const {
  const Status removed = storage_.Delete(ctx, key, {}, nullptr).status();
  // The copy is then as it should be, whichever call removed the object.
  return removed.reason() == Reason::kNotFound ? Status() : removed;
}

}  // namespace apiserver::v0::registry
