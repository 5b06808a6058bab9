#include "storage/memory/tail.h"

#include <algorithm>
#include <string>
#include <utility>

#include "storage/kv/errors.h"

namespace apiserver::v0::storage::memory {
namespace {

// Limits the events of one batch. They share their values with the log, so a batch costs its keys.
constexpr std::size_t kBatchEventsMax = 256;

class LogTail final : public kv::Tail {
 public:
  LogTail(std::shared_ptr<ChangeLog> log, std::string_view prefix, kv::Revision from)
      : log_(std::move(log)),
        prefix_(prefix),
        from_(from),
        cursor_(log_->NewCursor(prefix_, from)) {}

  State Next(kv::EventBatch& batch, const Waker& waker) override {
    batch.events.clear();
    batch.complete_up_to = 0;
    if (!status_.ok()) return State::kEnd;
    const auto read = cursor_->Next(kBatchEventsMax, waker, [&batch](const Change& change) {
      batch.events.push_back(EventOf(change));
    });
    batch.complete_up_to = read.complete_up_to;
    switch (read.state) {
      case ChangeLog::Cursor::State::kEvents:
        return State::kEvents;
      case ChangeLog::Cursor::State::kWait:
        return State::kWait;
      case ChangeLog::Cursor::State::kTrimmed:
        compacted_ = log_->floor();
        status_ = kv::NewCompactedError(std::max(from_, cursor_->next_revision()), compacted_);
        return State::kEnd;
      case ChangeLog::Cursor::State::kClosed:
        status_ = kv::NewStoppedError();
        return State::kEnd;
    }
    return State::kEnd;
  }
  Status status() const override { return status_; }
  kv::Revision compacted_revision() const override { return compacted_; }

 private:
  std::shared_ptr<ChangeLog> log_;
  const std::string prefix_;
  kv::Revision from_;
  std::unique_ptr<ChangeLog::Cursor> cursor_;
  Status status_;
  kv::Revision compacted_ = 0;
};

}  // namespace

std::unique_ptr<kv::Tail> NewTail(std::shared_ptr<ChangeLog> log, std::string_view prefix,
                                  kv::Revision from) {
  return std::make_unique<LogTail>(std::move(log), prefix, from);
}

}  // namespace apiserver::v0::storage::memory
