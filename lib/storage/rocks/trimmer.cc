#include "storage/rocks/trimmer.h"

#include "base/status_macros.h"

namespace apiserver::v0::storage::rocks {
namespace {

constexpr std::size_t kReadAtOnce = 512;

}  // namespace

Status Trimmer::Refill(const Database& database, Revision compacted) {
  const std::string end = EncodeNumber(static_cast<std::uint64_t>(compacted));
  const rocksdb::Slice upper(end);
  auto it = database.Iterate(database.log(), &upper);
  it->Seek(EncodeNumber(static_cast<std::uint64_t>(next_)));
  for (; it->Valid() && read_.size() < kReadAtOnce; it->Next()) {
    const auto revision = DecodeNumber(View(it->key()));
    auto record = DecodeLogRecord(View(it->value()));
    if (!revision || !record) return NewCorruptError("a change cannot be read");
    read_.push_back({static_cast<Revision>(*revision), *std::move(record)});
  }
  if (!it->status().ok()) return FromRocks(it->status(), "read the log");
  if (read_.empty()) next_ = compacted;
  return Status::Ok();
}

Status Trimmer::Add(rocksdb::WriteBatch& batch, Revision compacted, std::size_t count,
                    std::size_t& freed_bytes) {
  const auto database = store_.database.Get();
  while (count > 0 && Pending(compacted)) {
    if (read_.empty()) RETURN_IF_ERROR(Refill(*database, compacted));
    for (; count > 0 && !read_.empty(); --count, read_.pop_front()) {
      const auto& [revision, record] = read_.front();
      // Building a batch in memory cannot fail.
      if (record.previous != 0) {
        (void)batch.Delete(database->data(), DataKey(record.key, record.previous));
        freed_bytes += record.previous_bytes;
      }
      if (record.type == LogRecord::Type::kDelete) {
        (void)batch.Delete(database->data(), DataKey(record.key, revision));
      }
      (void)batch.Delete(database->log(), EncodeNumber(static_cast<std::uint64_t>(revision)));
      next_ = revision + 1;
    }
  }
  return Status::Ok();
}

}  // namespace apiserver::v0::storage::rocks
