#include "storage/rocks/tail.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "storage/kv/errors.h"
#include "storage/rocks/reader.h"

namespace apiserver::v0::storage::rocks {
namespace {

// Limits the events that one Next() takes from memory.
constexpr std::size_t kEventsMax = 256;
// Limit the events that it takes from disk, and the changes it looks at for them: about a
// millisecond.
constexpr std::size_t kDiskEventsMax = 64;
constexpr std::size_t kDiskChangesMax = 1024;

Status NewGapError(Revision revision) {
  return NewCorruptError("the change of revision " + std::to_string(revision) + " is missing");
}

class StoreTail final : public kv::Tail {
 public:
  StoreTail(std::shared_ptr<Store> store, std::string_view prefix, Revision from)
      : store_(std::move(store)),
        prefix_(prefix),
        next_(from),
        cursor_(store_->log->NewCursor(prefix_, from)) {}

  State Next(kv::EventBatch& batch, const Waker& waker) override {
    batch.events.clear();
    batch.complete_up_to = 0;
    if (!status_.ok()) return State::kEnd;
    const auto read = cursor_->Next(kEventsMax, waker, [&batch](const Change& change) {
      batch.events.push_back(change.event());
    });
    batch.complete_up_to = read.complete_up_to;
    switch (read.state) {
      case ChangeLog::Cursor::State::kEvents:
        next_ = std::max(next_, read.complete_up_to + 1);
        return State::kEvents;
      case ChangeLog::Cursor::State::kWait:
        return State::kWait;
      case ChangeLog::Cursor::State::kClosed:
        return End(kv::NewStoppedError());
      case ChangeLog::Cursor::State::kTrimmed:
        return NextFromDisk(batch);
    }
    return State::kEnd;
  }
  Status status() const override { return status_; }
  Revision compacted_revision() const override { return compacted_; }

 private:
  State End(Status why) {
    status_ = std::move(why);
    return State::kEnd;
  }
  bool Compacted() {
    compacted_ = store_->state.Lock()->compacted;
    return next_ < compacted_;
  }

  // Called if the memory log does not reach back to this tail's place.
  State NextFromDisk(kv::EventBatch& batch) {
    auto pass = store_->gate.Enter();
    if (!pass) return End(kv::NewStoppedError());
    next_ = std::max(next_, cursor_->next_revision());
    if (Compacted()) return End(kv::NewCompactedError(next_, compacted_));
    const Status read = ReadDisk(batch);
    // Changes compacted during the read may have been read in part.
    if (Compacted()) {
      batch.events.clear();
      return End(kv::NewCompactedError(next_, compacted_));
    }
    if (!read.ok()) return End(read);
    next_ = batch.complete_up_to + 1;
    cursor_ = store_->log->NewCursor(prefix_, next_);
    return State::kEvents;
  }

  Status ReadDisk(kv::EventBatch& batch) {
    const Revision last = store_->state.Lock()->revision;
    ASSIGN_OR_RETURN(const auto open, store_->Reading());
    const Database& database = *open;
    // Changes that are durable but not yet shown are left out.
    const std::string end = EncodeNumber(static_cast<std::uint64_t>(last) + 1);
    const rocksdb::Slice upper(end);
    auto it = database.Iterate(database.log(), &upper);
    it->Seek(EncodeNumber(static_cast<std::uint64_t>(next_)));
    std::size_t changes = 0;
    // The first revision is not a change.
    Revision done = std::max<Revision>(next_ - 1, 1);
    for (; it->Valid(); it->Next()) {
      if (changes++ == kDiskChangesMax || batch.events.size() == kDiskEventsMax) break;
      const auto revision = DecodeNumber(View(it->key()));
      const auto record = DecodeLogRecord(View(it->value()));
      if (!revision || !record) return NewCorruptError("a change cannot be read");
      // A compaction that takes changes away meanwhile ends this tail anyway.
      if (static_cast<Revision>(*revision) != done + 1) return NewGapError(done + 1);
      done = static_cast<Revision>(*revision);
      if (!record->key.starts_with(prefix_)) continue;
      auto event = ReadEvent(database, done, *record);
      if (event.status().reason() == Reason::kNotFound) return NewGapError(done);
      if (!event.ok()) return event.status();
      batch.events.push_back(*std::move(event));
    }
    if (!it->status().ok()) return FromRocks(it->status(), "read the log");
    if (!it->Valid() && done != last) return NewGapError(done + 1);
    batch.complete_up_to = done;
    return Status::Ok();
  }

  std::shared_ptr<Store> store_;
  const std::string prefix_;
  Revision next_;  // The first revision not delivered; the cursor may have passed some of it.
  std::unique_ptr<ChangeLog::Cursor> cursor_;
  Status status_;
  Revision compacted_ = 0;
};

}  // namespace

std::unique_ptr<kv::Tail> NewTail(std::shared_ptr<Store> store, std::string_view prefix,
                                  Revision from) {
  return std::make_unique<StoreTail>(std::move(store), prefix, from);
}

}  // namespace apiserver::v0::storage::rocks
