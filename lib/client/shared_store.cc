#include "client/shared_store.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::client {

using runtime::ObjectPtr;

namespace {

Status IndexTaken(const std::string& name) {
  return Status(Reason::kAlreadyExists, "the informer has an index \"" + name + "\" already");
}
Status NoIndex(std::string_view name) {
  return Status(Reason::kNotFound, "the informer has no index \"" + std::string(name) + "\"");
}

}  // namespace

void SharedStore::AddToIndex(Index& index, const ObjectKey& key, const ObjectPtr& object) {
  for (std::string& value : index.function(object)) index.keys[std::move(value)].insert(key);
}

void SharedStore::RemoveFromIndex(Index& index, const ObjectKey& key, const ObjectPtr& object) {
  for (const std::string& value : index.function(object)) {
    const auto found = index.keys.find(value);
    if (found == index.keys.end()) continue;
    found->second.erase(key);
    if (found->second.empty()) index.keys.erase(found);
  }
}

void SharedStore::Change(State& state, const ObjectKey& key, const ObjectPtr& now,
                         const ObjectPtr& gone) {
  const auto found = state.objects.find(key);
  const ObjectPtr before = found == state.objects.end() ? nullptr : found->second;
  if (before == nullptr && now == nullptr) return;
  for (auto& [name, index] : state.indexes) {
    if (before) RemoveFromIndex(index, key, before);
    if (now) AddToIndex(index, key, now);
  }
  if (now == nullptr) {
    state.objects.erase(found);
  } else {
    state.objects.insert_or_assign(key, now);
  }
  for (const auto& listener : state.listeners) listener->Add({key, before, now, gone});
}

void SharedStore::Put(const ObjectPtr& object) {
  const auto state = state_.Lock();
  Change(*state, KeyOf(*object), object);
}

void SharedStore::Remove(const ObjectPtr& object) {
  const auto state = state_.Lock();
  Change(*state, KeyOf(*object), nullptr, object);
}

void SharedStore::Replace(ObjectMap objects) {
  const auto state = state_.Lock();
  std::vector<std::pair<ObjectKey, ObjectPtr>> gone;
  for (const auto& [key, object] : state->objects) {
    const auto now = objects.find(key);
    // Another uid: deleted and created again between two lists.
    if (now == objects.end() || now->second->uid() != object->uid()) gone.emplace_back(key, object);
  }
  for (const auto& [key, object] : gone) Change(*state, key, nullptr, object);
  for (const auto& [key, object] : objects) {
    const auto before = state->objects.find(key);
    const bool same = before != state->objects.end() &&
                      before->second->resource_version() == object->resource_version();
    if (!same) Change(*state, key, object);
  }
  if (std::exchange(state->replaced, true)) return;
  for (const auto& listener : state->listeners) listener->AddSyncMark();
}

ObjectPtr SharedStore::Get(std::string_view namespace_, std::string_view name) const {
  const auto state = state_.Lock();
  const auto found = state->objects.find({std::string(namespace_), std::string(name)});
  return found == state->objects.end() ? nullptr : found->second;
}

std::vector<ObjectPtr> SharedStore::List() const {
  std::vector<ObjectPtr> list;
  const auto state = state_.Lock();
  list.reserve(state->objects.size());
  for (const auto& [key, object] : state->objects) list.push_back(object);
  return list;
}

// The objects are ordered by namespace.
std::vector<ObjectPtr> SharedStore::ListNamespace(std::string_view namespace_) const {
  std::vector<ObjectPtr> list;
  const auto state = state_.Lock();
  for (auto at = state->objects.lower_bound({std::string(namespace_), ""});
       at != state->objects.end() && at->first.first == namespace_; ++at) {
    list.push_back(at->second);
  }
  return list;
}

Status SharedStore::AddIndex(const std::string& name, IndexFunction function) {
  const auto state = state_.Lock();
  if (name == kNamespaceIndex) return IndexTaken(name);
  const auto [at, added] = state->indexes.try_emplace(name);
  if (!added) return IndexTaken(name);
  at->second.function = std::move(function);
  for (const auto& [key, object] : state->objects) AddToIndex(at->second, key, object);
  return {};
}

Result<std::vector<ObjectPtr>> SharedStore::ByIndex(std::string_view name,
                                                    std::string_view value) const {
  if (name == kNamespaceIndex) return ListNamespace(value);
  std::vector<ObjectPtr> list;
  const auto state = state_.Lock();
  const auto index = state->indexes.find(name);
  if (index == state->indexes.end()) return NoIndex(name);
  const auto found = index->second.keys.find(value);
  if (found == index->second.keys.end()) return list;
  for (const ObjectKey& key : found->second) {
    if (const auto at = state->objects.find(key); at != state->objects.end()) {
      list.push_back(at->second);
    }
  }
  return list;
}

Result<std::vector<std::string>> SharedStore::IndexValues(std::string_view name) const {
  std::vector<std::string> values;
  const auto state = state_.Lock();
  if (name == kNamespaceIndex) {
    for (const auto& [key, object] : state->objects) {
      if (values.empty() || values.back() != key.first) values.push_back(key.first);
    }
    return values;
  }
  const auto index = state->indexes.find(name);
  if (index == state->indexes.end()) return NoIndex(name);
  for (const auto& [value, keys] : index->second.keys) values.push_back(value);
  return values;
}

std::shared_ptr<Listener> SharedStore::AddListener(InformerHandler handler,
                                                   std::chrono::milliseconds resync_period) {
  auto listener = std::make_shared<Listener>(std::move(handler), resync_period);
  const auto state = state_.Lock();
  if (state->stopped) return nullptr;
  for (const auto& [key, object] : state->objects) listener->Add({key, nullptr, object, nullptr});
  if (state->replaced) listener->AddSyncMark();
  // The listener's thread is joined before the store and the listener go.
  listener->Start([this, at = listener.get()] { Resync(*at); });
  state->listeners.push_back(listener);
  return listener;
}

void SharedStore::RemoveListener(const std::shared_ptr<Listener>& listener) {
  {
    const auto state = state_.Lock();
    std::erase(state->listeners, listener);
    if (listener->OnOwnThread()) state->leaving.push_back(listener);
  }
  listener->Stop();
  if (!listener->OnOwnThread()) listener->AwaitEnd();
}

void SharedStore::Stop() {
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    const auto state = state_.Lock();
    state->stopped = true;
    listeners.swap(state->listeners);
    listeners.insert(listeners.end(), state->leaving.begin(), state->leaving.end());
    state->leaving.clear();
  }
  for (const auto& listener : listeners) listener->Stop();
  for (const auto& listener : listeners) listener->AwaitEnd();
}

void SharedStore::Resync(Listener& listener) const {
  const auto state = state_.Lock();
  for (const auto& [key, object] : state->objects) listener.Add({key, object, object, nullptr});
}

}  // namespace apiserver::v0::client
