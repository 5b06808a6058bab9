#include "storage/rocks/recovery.h"

#include <rocksdb/write_batch.h>

#include <algorithm>

#include "base/status_macros.h"
#include "storage/rocks/reader.h"

namespace apiserver::v0::storage::rocks {
namespace {

// The versions that are read between two updates of the progress.
constexpr std::uint64_t kVersionsPerUpdate = 1024;

Status CheckFormat(const Options& options, Database& database) {
  ASSIGN_OR_RETURN(const std::uint64_t format, database.Number(kFormatKey, 0));
  if (format == kFormat) return Status::Ok();
  if (format != 0) {
    return Status(Reason::kInternalError,
                  "the store in " + options.path + " has format " + std::to_string(format) +
                      "; this version reads formats up to " + std::to_string(kFormat));
  }
  if (!database.fresh()) return NewCorruptError("it does not say its format");
  rocksdb::WriteBatch batch;
  (void)batch.Put(database.meta(), SliceOf(kFormatKey), EncodeNumber(kFormat));
  return database.Write(batch, /*sync=*/true);
}

// Returns the revisions of the first and the last change; the store's first revision if there is
// none.
Status ReadLogEnds(const Database& database, Revision& oldest, Revision& newest) {
  auto it = database.Iterate(database.log());
  it->SeekToFirst();
  if (it->Valid()) {
    const auto first = DecodeNumber(View(it->key()));
    it->SeekToLast();
    const auto last = it->Valid() ? DecodeNumber(View(it->key())) : std::nullopt;
    if (!first || !last) return NewCorruptError("a change without a revision");
    oldest = static_cast<Revision>(*first);
    newest = static_cast<Revision>(*last);
  }
  return it->status().ok() ? Status::Ok() : FromRocks(it->status(), "read the log");
}

Result<kv::LeaseTable> ReadLeases(const Database& database, Clock::Monotonic now) {
  kv::LeaseTable leases;
  auto it = database.Iterate(database.meta());
  for (it->Seek(SliceOf(kLeasePrefix)); it->Valid() && it->key().starts_with(SliceOf(kLeasePrefix));
       it->Next()) {
    const auto id = DecodeNumber(View(it->key()).substr(kLeasePrefix.size()));
    const auto ttl = DecodeNumber(View(it->value()));
    if (!id || !ttl) return NewCorruptError("a lease cannot be read");
    // Leases get their whole time again: how long the server was down is not known.
    leases.Add(static_cast<kv::LeaseId>(*id), std::chrono::seconds(*ttl), now);
  }
  if (!it->status().ok()) return FromRocks(it->status(), "read the leases");
  ASSIGN_OR_RETURN(const std::uint64_t last, database.Number(kLastLeaseKey, 0));
  leases.Reserve(static_cast<kv::LeaseId>(last));
  return leases;
}

// Builds the index of live keys: the newest version of each key is the live one.
Status ReadData(const Database& database, ProgressReporter& opening, State& state,
                kv::LeaseTable& leases, Revision& newest) {
  std::uint64_t read = 0;
  std::string key_before;
  Revision kept = 0;
  auto it = database.Iterate(database.data());
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    std::string_view value = View(it->value());
    const auto head = TakeVersionHead(value);
    auto parts = DecodeDataKey(View(it->key()));
    if (!parts || !head) return NewCorruptError("a version cannot be read");
    if (++read % kVersionsPerUpdate == 0) opening.Update(read, 0);
    newest = std::max(newest, parts->revision);
    if (parts->revision > state.compacted) ++kept;
    // Versions of a key come newest first, so this one is history.
    if (SameKey(View(it->key()), key_before)) {
      state.history_bytes += value.size();
      continue;
    }
    key_before = it->key().ToString();
    if (head->deleted) continue;
    leases.Move(parts->key, 0, head->lease);
    auto* live = LiveKey::New(parts->key);
    live->create_revision = head->create_revision;
    live->mod_revision = parts->revision;
    live->lease = head->lease;
    live->bytes = value.size();
    state.bytes += value.size();
    state.live.Put(LiveRef(live));
  }
  if (!it->status().ok()) return FromRocks(it->status(), "read the keys");
  opening.Update(read, 0);
  // Every revision is one version, and none is trimmed from the last compaction on.
  const Revision made = newest - std::max<Revision>(state.compacted, 1);
  if (kept == made) return Status::Ok();
  return NewCorruptError("of the last " + std::to_string(made) + " revisions only " +
                         std::to_string(kept) + " are there");
}

}  // namespace

ProgressReporter::Job OpeningJob(const Options& options) {
  return {.what = "opening", .subject = options.path, .unit = "versions"};
}

Result<Recovered> Recover(const Options& options, Database& database, ProgressReporter& opening) {
  RETURN_IF_ERROR(CheckFormat(options, database));
  Recovered found;
  ASSIGN_OR_RETURN(found.leases, ReadLeases(database, options.clock.Now()));
  State& state = found.state;
  ASSIGN_OR_RETURN(const std::uint64_t compacted, database.Number(kCompactedKey, 0));
  state.compacted = static_cast<Revision>(compacted);
  Revision newest_change = state.revision;
  found.oldest_change = state.revision;
  RETURN_IF_ERROR(ReadLogEnds(database, found.oldest_change, newest_change));
  Revision newest_version = state.revision;
  RETURN_IF_ERROR(ReadData(database, opening, state, found.leases, newest_version));
  // Both are written in one batch, and the last change is never trimmed.
  if (newest_version != newest_change || state.compacted > newest_change) {
    return NewCorruptError("the last change is revision " + std::to_string(newest_change) +
                           ", the last version is of revision " + std::to_string(newest_version));
  }
  state.revision = newest_change;
  return found;
}

Result<std::vector<kv::Event>> ReadChanges(const Database& database, Revision from) {
  std::vector<kv::Event> events;
  auto it = database.Iterate(database.log());
  for (it->Seek(EncodeNumber(static_cast<std::uint64_t>(from))); it->Valid(); it->Next()) {
    const auto revision = DecodeNumber(View(it->key()));
    const auto record = DecodeLogRecord(View(it->value()));
    if (!revision || !record) return NewCorruptError("a change cannot be read");
    ASSIGN_OR_RETURN(kv::Event event,
                     ReadEvent(database, static_cast<Revision>(*revision), *record));
    events.push_back(std::move(event));
  }
  if (!it->status().ok()) return FromRocks(it->status(), "read the log");
  return events;
}

}  // namespace apiserver::v0::storage::rocks
