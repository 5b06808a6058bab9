#include "client/mirror.h"

namespace apiserver::v0::client {

using runtime::ObjectPtr;

// The lock is given up before handlers are called: they may read the mirror.
void Mirror::Put(const ObjectPtr& object) {
  ObjectPtr before = object;
  before.swap((*objects_.Lock())[KeyOf(*object)]);
  // `object` has been moved into the map; `before` is the value that it replaced.
  if (before == nullptr) {
    TellAdd(object);
  } else {
    TellUpdate(before, object);
  }
}

void Mirror::Remove(const ObjectPtr& object) {
  if (objects_.Lock()->erase(KeyOf(*object)) > 0) TellDelete(object);
}

// Tells the differences of two lists as if they were events; what happened in between is not known.
void Mirror::Replace(ObjectMap objects) {
  const ObjectMap now = objects;
  const ObjectMap before = std::exchange(*objects_.Lock(), std::move(objects));
  for (const auto& [key, object] : before) {
    if (!now.contains(key)) TellDelete(object);
  }
  for (const auto& [key, object] : now) {
    const auto old = before.find(key);
    if (old == before.end()) {
      TellAdd(object);
    } else if (old->second->uid() != object->uid()) {
      // Deleted and created again between two lists.
      TellDelete(old->second);
      TellAdd(object);
    } else if (old->second->resource_version() != object->resource_version()) {
      TellUpdate(old->second, object);
    }
  }
}

ObjectPtr Mirror::Get(std::string_view namespace_, std::string_view name) const {
  const auto objects = objects_.Lock();
  const auto found = objects->find({std::string(namespace_), std::string(name)});
  return found == objects->end() ? nullptr : found->second;
}

std::vector<ObjectPtr> Mirror::List() const {
  std::vector<ObjectPtr> list;
  const auto objects = objects_.Lock();
  for (const auto& [key, object] : *objects) list.push_back(object);
  return list;
}

void Mirror::TellAdd(const ObjectPtr& object) const {
  for (const InformerHandler& handler : handlers_) {
    if (handler.on_add) handler.on_add(object);
  }
}

void Mirror::TellUpdate(const ObjectPtr& before, const ObjectPtr& now) const {
  for (const InformerHandler& handler : handlers_) {
    if (handler.on_update) handler.on_update(before, now);
  }
}

void Mirror::TellDelete(const ObjectPtr& object) const {
  for (const InformerHandler& handler : handlers_) {
    if (handler.on_delete) handler.on_delete(object);
  }
}

}  // namespace apiserver::v0::client
