#include "client/reflector.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace apiserver::v0::client {

using runtime::ObjectPtr;

void Reflector::Stop() {
  // Set first, so that calls that fail by the cancellation are not taken for failures.
  if (!stopped_.HasBeenNotified()) stopped_.Notify();
  ctx_.Cancel(Status(Reason::kTimeout, "the informer was stopped"));
  thread_.Join();
}

void Reflector::Run() {
  while (!Stopped()) {
    const Status failure = have_list_ ? Watch() : Sync();
    if (Stopped() || failure.ok()) continue;
    Log(*options_.log, LogLevel::kWarning, "informer: starting over",
        {{"resource", options_.target.resource.group_resource().ToString()},
         {"error", failure.ToString()}});
    (void)stopped_.WaitFor(wait_);  // Stopped() tells whether it was stopped.
    wait_ = std::min(wait_ * 2, options_.backoff_max);
  }
}

ObjectPtr Reflector::Kept(const ObjectPtr& object) const {
  return options_.transform ? options_.transform(object) : object;
}

Status Reflector::Sync() {
  if (!watch_list_) return ListAll();
  Status status = WatchList();
  // A server without watch-list refuses the parameters.
  if (status.reason() == Reason::kInvalid || status.reason() == Reason::kBadRequest) {
    watch_list_ = false;
    return ListAll();
  }
  return status;
}

meta::ListOptions Reflector::Selection() const {
  meta::ListOptions options;
  options.label_selector = options_.label_selector;
  options.field_selector = options_.field_selector;
  return options;
}

meta::ListOptions Reflector::WatchOptions() const {
  meta::ListOptions options = Selection();
  options.allow_watch_bookmarks = true;
  // A random span, so that watches that began together do not all end together.
  const std::int64_t least = options_.watch_timeout.count();
  options.timeout_seconds =
      least +
      static_cast<std::int64_t>(options_.random->Below(static_cast<std::uint64_t>(least) + 1));
  return options;
}

Status Reflector::ListAll() {
  meta::ListOptions options = Selection();
  // Any state will do at first; after "expired" it must be a new one.
  if (!expired_) options.resource_version.assign(1, '0');
  options.limit = options_.page_objects_max;
  ObjectMap objects;
  std::string resource_version;
  while (true) {
    Result<runtime::List> page = client_.List(ctx_, options_.target, options);
    if (!page.ok()) return Expire(page.status());
    for (const ObjectPtr& object : page->items) {
      objects.insert_or_assign(KeyOf(*object), Kept(object));
    }
    resource_version = page->resource_version;
    if (page->continue_token.empty()) break;
    options.continue_token = page->continue_token;
    // The continue token has the revision, and excludes another one.
    options.resource_version.clear();
  }
  Adopt(std::move(objects), std::move(resource_version));
  return Status::Ok();
}

Status Reflector::WatchList() {
  meta::ListOptions options = WatchOptions();
  options.send_initial_events = true;
  options.resource_version_match = meta::ResourceVersionMatch::kNotOlderThan;
  ASSIGN_OR_RETURN(const auto stream, client_.Watch(ctx_, options_.target, options));
  ObjectMap objects;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<watch::Event> event, stream->Next(ctx_));
    if (!event) return Status(Reason::kServiceUnavailable, "the watch ended before the list");
    if (event->type == watch::EventType::kError) return Expire(event->error);
    if (event->type == watch::EventType::kBookmark) {
      if (!event->initial_events_end) continue;
      Adopt(std::move(objects), event->resource_version);
      return Follow(*stream);
    }
    // The initial objects and changes may be mixed.
    if (event->type == watch::EventType::kDeleted) {
      objects.erase(KeyOf(*event->object));
    } else {
      objects.insert_or_assign(KeyOf(*event->object), Kept(event->object));
    }
  }
}

Status Reflector::Watch() {
  meta::ListOptions options = WatchOptions();
  options.resource_version = LastResourceVersion();
  Result<std::unique_ptr<WatchStream>> stream = client_.Watch(ctx_, options_.target, options);
  if (!stream.ok()) return Expire(stream.status());
  return Follow(**stream);
}

Status Reflector::Follow(WatchStream& stream) {
  bool alive = false;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<watch::Event> event, stream.Next(ctx_));
    if (!event) {
      // A watch that ends at once, time and again, must not become a busy loop.
      if (alive) return Status::Ok();
      return Status(Reason::kServiceUnavailable, "the watch ended without an event");
    }
    if (event->type == watch::EventType::kError) return Expire(event->error);
    alive = true;
    wait_ = options_.backoff;
    if (event->type == watch::EventType::kDeleted) {
      sink_.Remove(Kept(event->object));
    } else if (event->type != watch::EventType::kBookmark) {
      sink_.Put(Kept(event->object));
    }
    *resource_version_.Lock() = event->resource_version;
  }
}

void Reflector::Adopt(ObjectMap objects, std::string resource_version) {
  sink_.Replace(std::move(objects));
  *resource_version_.Lock() = std::move(resource_version);
  have_list_ = true;
  expired_ = false;
  wait_ = options_.backoff;
  if (!synced_.HasBeenNotified()) synced_.Notify();
}

Status Reflector::Expire(Status error) {
  // 410: the server no longer has the revision.
  if (error.code() != 410) return error;
  have_list_ = false;
  if (std::exchange(expired_, true)) return error;
  return Status::Ok();
}

}  // namespace apiserver::v0::client
