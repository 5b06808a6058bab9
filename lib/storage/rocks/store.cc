#include "storage/rocks/store.h"

#include "base/status_macros.h"

namespace apiserver::v0::storage::rocks {

void RecentValues::Add(const std::vector<kv::Event>& events) {
  for (const kv::Event& event : events) {
    if (values_.empty()) first_ = event.kv.mod_revision;
    values_.push_back(event.kv.value);
    bytes_ += Size(event.kv.value);
  }
  // The newest stays whatever its size, so that first() is always right.
  while (values_.size() > 1 && (bytes_ > bytes_max_ || values_.size() > events_max_)) {
    bytes_ -= Size(values_.front());
    values_.pop_front();
    ++first_;
  }
}

kv::Bytes RecentValues::Find(Revision revision) const {
  if (revision < first_) return nullptr;
  const auto at = static_cast<std::size_t>(revision - first_);
  return at < values_.size() ? values_[at] : nullptr;
}

void DatabaseSlot::Set(std::unique_ptr<Database> database) {
  *closed_.Lock() = false;
  *open_.Lock() = std::shared_ptr<Database>(database.release(), [this](Database* last) {
    delete last;
    // Notified under the lock: the waiter may destroy the slot as soon as it sees this.
    auto closed = closed_.Lock();
    *closed = true;
    closed_.NotifyAll();
  });
}

void DatabaseSlot::Close() {
  std::shared_ptr<Database> taken;
  taken.swap(*open_.Lock());
  taken.reset();
  auto closed = closed_.Lock();
  closed.Wait([&closed] { return *closed; });
}

Result<std::shared_ptr<Database>> Store::Reading() const {
  auto open = database.Get();
  if (open != nullptr) return open;
  return Status(Reason::kServiceUnavailable,
                "the store is being opened anew after an error of its disk");
}

Result<std::unique_ptr<Database>> Store::OpenDatabase() {
  return Database::Open(options, env, [this] {
    const std::function<void()> tell = *on_failure.Lock();
    if (tell) tell();
  });
}

Result<kv::Bytes> LoadValue(const Store& store, std::string_view key, Revision revision) {
  if (auto value = store.recent.Lock()->Find(revision)) return value;
  ASSIGN_OR_RETURN(const auto database, store.Reading());
  ASSIGN_OR_RETURN(kv::KeyValue version, database->Version(key, revision));
  if (version.value == nullptr) return NewCorruptError("a live key is deleted on disk");
  return std::move(version.value);
}

}  // namespace apiserver::v0::storage::rocks
