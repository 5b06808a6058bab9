#pragma once

#include <rocksdb/db.h>

#include <memory>

#include "apiserver/base/sync.h"
#include "faults/history.h"
#include "faults/writers.h"

namespace apiserver::inline v0::faults {

// A store as one would write it over RocksDB without much thought: what the harness is compared to.
class BareStore {
 public:
  // Null: it does not open.
  static std::unique_ptr<BareStore> Open(rocksdb::Env& env, const std::string& path, bool sync);

  Write Writer();
  Result<Contents> Read();

 private:
  Result<storage::kv::TxnResponse> Txn(const storage::kv::TxnRequest& request);

  bool sync_ = true;
  Guarded<std::unique_ptr<rocksdb::DB>> db_;
};

}  // namespace apiserver::inline v0::faults
