#include "faults/bare.h"

#include <rocksdb/write_batch.h>

#include <utility>

namespace apiserver::inline v0::faults {
namespace {

constexpr char kRevisionKey[] = "#revision";

Status FromRocks(const rocksdb::Status& status) {
  return Status(Reason::kInternalError, status.ToString());
}

Revision RevisionIn(const std::string& bytes) { return bytes.empty() ? 1 : std::stol(bytes); }

}  // namespace

std::unique_ptr<BareStore> BareStore::Open(rocksdb::Env& env, const std::string& path, bool sync) {
  rocksdb::Options options;
  options.env = &env;
  options.create_if_missing = true;
  options.write_buffer_size = 64 << 10;
  rocksdb::DB* db = nullptr;
  if (!rocksdb::DB::Open(options, path, &db).ok()) return nullptr;
  auto store = std::make_unique<BareStore>();
  store->sync_ = sync;
  store->db_.Lock()->reset(db);
  return store;
}

Write BareStore::Writer() {
  return [this](const storage::kv::TxnRequest& request) { return Txn(request); };
}

Result<storage::kv::TxnResponse> BareStore::Txn(const storage::kv::TxnRequest& request) {
  auto db = db_.Lock();
  storage::kv::TxnResponse response;
  std::string before;
  std::string last;
  rocksdb::Status status = (*db)->Get({}, request.key, &before);
  if (status.ok() || status.IsNotFound()) status = (*db)->Get({}, kRevisionKey, &last);
  if (!status.ok() && !status.IsNotFound()) return FromRocks(status);
  if (!before.empty()) response.kv.mod_revision = RevisionIn(before);
  if (response.kv.mod_revision != request.expected_mod_revision) return response;
  response.succeeded = true;
  response.revision = RevisionIn(last) + 1;
  const std::string revision = std::to_string(response.revision);
  rocksdb::WriteBatch batch;
  (void)batch.Put(kRevisionKey, revision);
  if (request.value == nullptr) {
    (void)batch.Delete(request.key);
  } else {
    (void)batch.Put(request.key, revision + "|" + *request.value);
  }
  rocksdb::WriteOptions options;
  options.sync = sync_;
  status = (*db)->Write(options, &batch);
  if (!status.ok()) return FromRocks(status);
  return response;
}

Result<Contents> BareStore::Read() {
  auto db = db_.Lock();
  Contents contents;
  contents.has_log = false;
  const std::unique_ptr<rocksdb::Iterator> it((*db)->NewIterator({}));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const std::string key = it->key().ToString();
    const std::string value = it->value().ToString();
    if (key == kRevisionKey) {
      contents.revision = RevisionIn(value);
    } else {
      contents.state[key] = value.substr(value.find('|') + 1);
    }
  }
  if (!it->status().ok()) return FromRocks(it->status());
  return contents;
}

}  // namespace apiserver::inline v0::faults
