#include "storage/rocks/reader.h"

#include <utility>

#include "base/status_macros.h"
#include "storage/kv/key_range.h"

namespace apiserver::v0::storage::rocks {
namespace {

// More missing values than this are read in one pass over the keys between them.
constexpr std::size_t kSinglyMax = 16;
// The versions to step over before a seek is cheaper.
constexpr int kStepsMax = 8;

void SeekForward(rocksdb::Iterator& it, const std::string& target) {
  for (int step = 0; step < kStepsMax; ++step) {
    if (!it.Valid() || it.key().compare(target) >= 0) return;
    it.Next();
  }
  if (it.Valid() && it.key().compare(target) < 0) it.Seek(target);
}

Status ReadInOnePass(const Database& database, std::vector<kv::KeyValue*>& missing) {
  auto it = database.Iterate(database.data());
  it->Seek(DataKey(missing.front()->key, missing.front()->mod_revision));
  for (kv::KeyValue* kv : missing) {
    const std::string target = DataKey(kv->key, kv->mod_revision);
    SeekForward(*it, target);
    if (!it->status().ok()) return FromRocks(it->status(), "read the store");
    if (!it->Valid() || it->key() != rocksdb::Slice(target)) {
      return Status(Reason::kNotFound, "no such version");
    }
    ASSIGN_OR_RETURN(kv::KeyValue version, DecodeVersion(View(it->value()), kv->mod_revision));
    kv->value = std::move(version.value);
  }
  return Status::Ok();
}

Status FillValues(const Store& store, bool may_block, std::vector<kv::KeyValue>& kvs) {
  std::vector<kv::KeyValue*> missing;
  {
    // Recent values are in memory and need no disk, so that a loop can answer with them.
    auto recent = store.recent.Lock();
    for (kv::KeyValue& kv : kvs) {
      kv.value = recent->Find(kv.mod_revision);
      if (kv.value == nullptr) missing.push_back(&kv);
    }
  }
  if (missing.empty()) return Status::Ok();
  if (!may_block) return Status(Reason::kWouldBlock, "the values are on disk");
  ASSIGN_OR_RETURN(const auto database, store.Reading());
  if (missing.size() > kSinglyMax) return ReadInOnePass(*database, missing);
  for (kv::KeyValue* kv : missing) {
    ASSIGN_OR_RETURN(kv::KeyValue version, database->Version(kv->key, kv->mod_revision));
    kv->value = std::move(version.value);
  }
  return Status::Ok();
}

}  // namespace

Status ReadLive(const Store& store, const LiveTree& live, const kv::RangeRequest& request,
                bool may_block, kv::RangeResponse& response) {
  const kv::KeyRange range(request);
  const std::size_t end = range.unbounded ? live.size() : live.Rank(range.end);
  // Ranks give the count without walking the range.
  const std::size_t begin = live.Rank(range.begin);
  response.count = end > begin ? end - begin : 0;
  if (request.count_only) return Status::Ok();
  response.more = request.limit > 0 && request.limit < response.count;
  const std::size_t wanted = response.more ? request.limit : response.count;
  response.kvs.reserve(wanted);
  auto it = live.LowerBound(range.begin);
  for (; response.kvs.size() < wanted; it.Next()) {
    response.kvs.push_back(it.value()->WithValue(nullptr));
  }
  return request.keys_only ? Status::Ok() : FillValues(store, may_block, response.kvs);
}

Result<kv::Event> ReadEvent(const Database& database, Revision revision, const LogRecord& record) {
  kv::Event event;
  ASSIGN_OR_RETURN(event.kv, database.Version(record.key, revision));
  if (record.previous != 0) {
    ASSIGN_OR_RETURN(event.previous, database.Version(record.key, record.previous));
  }
  event.is_create = record.type == LogRecord::Type::kCreate;
  if (record.type == LogRecord::Type::kDelete) event.type = kv::Event::Type::kDelete;
  return event;
}

Status ReadHistory(const Store& store, const kv::RangeRequest& request,
                   kv::RangeResponse& response) {
  const kv::KeyRange range(request);
  const std::string bound = DataBound(range.end);
  const rocksdb::Slice upper(bound);
  ASSIGN_OR_RETURN(const auto database, store.Reading());
  auto it = database->Iterate(database->data(), range.unbounded ? nullptr : &upper);
  it->Seek(DataBound(range.begin));
  while (it->Valid()) {
    auto parts = DecodeDataKey(View(it->key()));
    if (!parts) return NewCorruptError("a version cannot be read");
    if (parts->revision > request.at_revision) {
      // Seeks this key's version as of then; or past it, if it has none.
      SeekForward(*it, DataKey(parts->key, request.at_revision));
      continue;
    }
    ASSIGN_OR_RETURN(kv::KeyValue version, DecodeVersion(View(it->value()), parts->revision));
    if (version.value != nullptr) {
      // A key past the limit still counts: the client is told how many remain.
      ++response.count;
      const bool full = request.limit > 0 && response.kvs.size() >= request.limit;
      if (!request.count_only && !full) {
        version.key = parts->key;
        if (request.keys_only) version.value = nullptr;
        response.kvs.push_back(std::move(version));
      }
    }
    // Skips the older versions of the key: its revision 0 sorts behind all of them.
    SeekForward(*it, DataKey(parts->key, 0));
  }
  if (!it->status().ok()) return FromRocks(it->status(), "read the store");
  response.more = !request.count_only && response.kvs.size() < response.count;
  return Status::Ok();
}

}  // namespace apiserver::v0::storage::rocks
